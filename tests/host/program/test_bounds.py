"""No kernel emits a call that leaves its buffers, whatever the file.

The declarations of the loops decide: see tools/program/bounds.
"""

from dataclasses import replace

import pytest

from mpconnxr.build import node
from tests.fuzz import modelfile, proofs, seeds
from tests.host import zoo
from tests.host.device import small
from tests.host.ops import test_block_vfp
from tests.host.program.test_cores import LONG
from tests.host.program.test_recorded_kernels import has_form
from tools.format import dtypes
from tools.program import build
from tools.program.bounds import proof
from tools.program.call import INPUT, CannotRecord, Place
from tools.program.record import record

IN_FPU = [
    name for name in test_block_vfp.MODELS if name not in ("a row", "three rows, many columns")
]
UINT8 = 2  # dtype
WEAK = ["clip", "move", "relu", "to_float", "trees", "wide_add"]


@pytest.fixture
def recording():
    return record(small.binary(small.relu((1, 600))), has_form)


def test_calls_of_a_model_are_proved(recording):
    result = proof(recording)
    assert result.proved and not result.others and not result.strays


@pytest.mark.parametrize("first, end", [(0, 601), (-1, 600)])
def test_a_call_beyond_its_tensors_is_found(recording, first, end):
    [call] = recording.steps[0].calls
    [words] = call.words.values()
    words[:2] = first, end
    assert [stray.kernel for stray in proof(recording).strays][:1] == ["relu"]


def test_a_write_to_an_input_is_found(recording):
    [call] = recording.steps[0].calls
    x, w, out, p = call.arguments
    call.arguments = x, w, replace(out, role=INPUT), p
    [stray] = proof(recording).strays
    assert str(stray) == "relu: relu.relu32: writes to out, which is an input"
    call.arguments = x, w, Place("file", 0, out.code, out.n), p
    assert len(proof(recording).strays) == 1


def test_a_parameter_beyond_its_range_is_found(recording):
    [call] = recording.steps[0].calls
    [words] = call.words.values()
    words[0], words[1] = -5, -5
    assert "beyond its range" in str(proof(recording).strays[0])


@pytest.mark.parametrize("kernel", WEAK)
def test_a_kernel_that_proves_nothing_is_found(monkeypatch, kernel):
    monkeypatch.setattr(node.Node, "require", lambda *_: None)
    files = [seed.data for seed in seeds.collection()[kernel]]
    assert proofs.campaign(files, 300, 1).finds


def recorded_for_fpu(data):
    """Return the recording for a board with an FPU, and the loops for it, or (None, [])."""
    try:
        result = record(data, lambda _, form: form in ("plain", "vfp"))
    except CannotRecord:
        return None, []
    calls = [call for step in result.steps for call in step.calls]
    return result, [call for call in calls if call.loop.family.startswith("fpu")]


@pytest.mark.parametrize("name", IN_FPU)
def test_calls_of_loops_for_an_fpu_are_proved(name):
    recording, calls = recorded_for_fpu(small.binary(test_block_vfp.MODELS[name]))
    result = proof(recording)
    assert calls and not result.others and not result.strays


@pytest.mark.parametrize("name", IN_FPU)
def test_loops_for_an_fpu_read_no_tensor_of_smaller_elements(name):
    file = modelfile.read(small.binary(test_block_vfp.MODELS[name]))
    for node_number, step in enumerate(file.nodes):
        for i in {*step.inputs, *step.outputs, *step.scratch}:
            if dtypes.ITEMSIZES[file.tensors[i].dtype] == 1:
                continue
            changed = file.copy()
            changed.tensors[i] = replace(changed.tensors[i], dtype=UINT8)
            recording, _ = recorded_for_fpu(changed.data())
            strays = proof(recording).strays if recording else []
            assert not strays, (node_number, i, str(strays[0]))


def test_flash_refuses_a_call_that_reads_out_of_bounds(monkeypatch):
    monkeypatch.setattr(build, "record", lambda *_: _beyond())
    with pytest.raises(build.DeployError, match="relu: relu.relu32: reads bytes 0 to 2403 of x"):
        build.build(small.binary(small.relu((1, 600))), build.Machine.for_arch("armv6m"), False)


def _beyond():
    result = record(small.binary(small.relu((1, 600))), has_form)
    [words] = result.steps[0].calls[0].words.values()
    words[1] = 601
    return result


@pytest.mark.slow
def test_calls_of_damaged_files_are_proved_or_refused():
    files = {s.name: s.data for some in seeds.collection().values() for s in some}
    result = proofs.campaign(list(files.values()), 200_000 if LONG else 7000, 4)
    assert not result.finds, [why for _, _, why in result.finds]
    assert result.recorded > result.files / 10 and result.calls > 10_000


@zoo.needs_zoo
@pytest.mark.slow
def test_calls_of_the_collection_are_proved():
    n = 0
    for name in zoo.models():
        try:
            result = proof(record(zoo.converted(name).data, has_form))
        except CannotRecord:
            continue
        assert not result.strays, (name, str(result.strays[0]))
        n += result.proved
    assert n > 10_000
