"""The lists of kernels that can and cannot be recorded are exact, by the fuzzer's seeds.

A kernel that starts or stops to be recordable changes one of them.
"""

from importlib import import_module

import numpy as np
import pytest
from onnx import TensorProto

from mpconnxr.tensor import name_of
from tests.fuzz import seeds
from tests.host.device import small
from tests.host.program import programs
from tests.host.program.test_models import check
from tools import store
from tools.program import record
from tools.program.call import INLINE, CannotRecord

# No file with them is a program.
NEVER = {
    # a run decides what is called, or how often
    "branch",
    "expect",
    "loop",
    "place",  # what a loop's round writes
    # a run decides the shapes of what they give
    "given",
    "image_decoder",
    "measure",
    "non_max_suppression",
    "nonzero",
    "numbers",
    "same",
    "shape",
    "slice_extent",
    "unique",
    # strings and maps are Python's objects, which lie outside of the arena
    "dict_vectorizer",
    "label_encoder",  # also of numbers, by a dict
    "string_format",
    "string_gather",
    "string_join",
    "string_match",
    "string_normalizer",
    "string_parse",
    "string_pick",
    "string_reshape",
    "string_select",
    "string_split",
    "string_tokenize",
    "tfidf",  # also of numbers
    "zip_map",
    # their numbers go on from run to run
    "dropout",
    "random",
}
_NUMPY = {"float32": "f4", "int32": "i4", "int64": "i8", "uint32": "u4", "uint64": "u8"}
# Some uses of them are, some are not.
SOMETIMES = {
    # in floats: dtypes, options and activations that the loops in integers do not take, and
    # lengths that a run decides
    "dynamic_lstm",
    "gru",
    "lstm",
    "rnn",
}


def has_form(family, form):
    """Return True if a board with a Cortex-M0+ has the form."""
    if form == "plain":
        return True
    return form in ("thumb", "viper") and form in store.loops().modules(family)


def recorded(data):
    """Return (steps, None), or (None, the kernel that prevents a recording)."""
    try:
        return record.record(data, has_form).steps, None
    except CannotRecord as e:
        return None, e.kernel


@pytest.mark.slow
def test_the_lists_of_kernels_are_exact():
    files = {seed.name: seed for some in seeds.collection().values() for seed in some}
    can, cannot = set(), set()
    for seed in files.values():
        steps, reason = recorded(seed.data)
        if steps is None:
            cannot.add(reason)
        else:
            can.update(seed.kernels)
    assert set(seeds.kernels()) - can == NEVER
    assert cannot & can == SOMETIMES


def sample(recording):
    """Return an input of each kind: integers are small, so that most are good as indices."""
    draw, made = np.random.default_rng(1), []
    for _, _, nbytes, dtype, *_ in recording.interface[: recording.n_inputs]:
        kind = np.dtype(_NUMPY.get(name_of(dtype), "u1"))
        n = nbytes // kind.itemsize
        result = draw.standard_normal(n) if kind.kind == "f" else draw.integers(0, 2, n)
        made.append(result.astype(kind))
    return made


@pytest.mark.slow
@pytest.mark.parametrize("target", ("unix32",), indirect=True)
def test_programs_of_all_kernels_run(target):
    """They give what the kernels give, or refuse it likewise."""
    models = {}
    for kernel, [seed, *_] in seeds.collection().items():
        if kernel not in NEVER:
            try:
                recording = programs.recorded(seed.data, target)
            except CannotRecord:
                continue
            if "float64" not in [name_of(border[3]) for border in recording.interface]:
                models[kernel] = seed.data, [sample(recording)]
    assert set(check(target, models, False)) == set(models)
    assert len(models) >= 48


def calls_of(nodes, inputs, outputs):
    steps, reason = recorded(small.binary(small.model(nodes, inputs, outputs), optimize=0))
    assert reason is None
    return [call for step in steps for call in step.calls]


def compiled(loop):
    """Return the function that a board compiles from a loop's source."""
    module = loop.family.removeprefix(INLINE)
    assert module != loop.family
    results = {}
    exec(loop.name, vars(import_module(f"mpconnxr.ops.{module}")), results)
    return results["loop"]


@pytest.mark.parametrize("in_floats", [True, False])
def test_a_recording_has_its_boards_loops(in_floats):
    def has(family, form):
        return form == "plain" or in_floats and form == "vfp"

    x, y = small.value("x", (4, 2)), small.value("y", (4, 3))
    w = np.eye(2, 3, dtype=np.float32)
    source = small.model([("Gemm", "x w", "y", {})], [x], [y], w=w)
    [step] = record.record(small.binary(source), has).steps
    [family] = {call.loop.family for call in step.calls}
    assert family == ("fpu_rows" if in_floats else "block_products")


def test_narrow_weights_need_kernels():
    """Reading streamed float16 weights makes float32 of them; programs have no call for that."""
    rng = np.random.default_rng(1)
    shapes = (("w", 64, 8), ("r", 64, 16))
    rows = {name: rng.standard_normal((1, *shape)) for name, *shape in shapes}
    rows = {name: v.astype(np.float16).astype(np.float32) for name, v in rows.items()}
    x, y = small.value("x", (2, 1, 8)), small.value("y", (2, 1, 1, 16))
    source = small.model([("LSTM", "x w r", "y", {"hidden_size": 16})], [x], [y], **rows)
    data = small.binary(source, weights="f16")
    for stream in (False, True):
        with pytest.raises(CannotRecord, match="unpacked"):
            record.record(data, has_form, stream)


def test_a_loop_of_an_expression_is_recorded_with_its_source():
    nodes = [("Asinh", "x", "y", {})]
    [call] = calls_of(nodes, [small.value("x", (3,))], [small.value("y", (3,))])
    x, _, out, p = call.arguments
    assert (x.n, out.n, call.words[p.block][:2]) == (3, 3, [0, 3])
    result = [0.0] * 3
    compiled(call.loop)([-1.0, 0.0, 1.0], [], result, call.words[p.block])
    assert [round(v, 6) for v in result] == [-0.881374, 0.0, 0.881374]


def test_casts_of_narrow_floats_need_nothing_but_their_source():
    inputs = [small.value("x", (2,), TensorProto.FLOAT16)]
    outputs = [small.value("y", (2,), TensorProto.BFLOAT16)]
    nodes = [("Cast", "x", "y", {"to": TensorProto.BFLOAT16})]
    [call] = calls_of(nodes, inputs, outputs)
    result = [0, 0]
    compiled(call.loop)([0x3C00, 0xC000], [], result, [0, 2])
    assert result == [0x3F80, 0xC000]


def test_constants_of_a_loop_are_a_table():
    nodes = [("Elu", "x", "y", {"alpha": 2.0})]
    [call] = calls_of(nodes, [small.value("x", (3,))], [small.value("y", (3,))])
    table = call.arguments[1]
    assert (table.code, len(table.contents)) == ("f", 12)
