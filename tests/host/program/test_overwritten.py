"""The proof finds calls of a step that read an input where an earlier call has written."""

from dataclasses import replace

import pytest

from tests.fuzz import seeds
from tests.host.program import programs, test_recorded_kernels
from tests.host.program.test_cores import LONG, step
from tests.host.random_layers import layer
from tools.converter.convert import Options, convert
from tools.converter.ops import _qoverlap
from tools.converter.verify import calls
from tools.deploy.errors import DeployError
from tools.machine import Machine
from tools.program import build, cores, overwritten
from tools.program.bundle import has_form
from tools.program.call import INPUT, OUTPUT, UNKNOWN, CannotRecord
from tools.program.record import record


def copies(*calls_of, role=INPUT):
    """Return calls of a loop that copies input bytes: (first of x, first of out, how many)."""
    calls = step(*calls_of)
    for call in calls:
        x, w, out, p = call.arguments
        roles = replace(x, role=role), replace(w, role=INPUT), replace(out, role=OUTPUT)
        call.arguments = *roles, p
    return calls


@pytest.mark.parametrize(
    ("calls", "number"),
    [
        ([(0, 100, 10), (10, 110, 10)], None),
        ([(10, 5, 5), (15, 10, 5)], None),  # an output that follows behind its input
        ([(10, 5, 6), (15, 10, 5)], None),  # as far as it has been read
        ([(10, 6, 10), (15, 30, 1)], 1),
        ([(10, 12, 4)], None),  # the loop's own order
        ([(0, 100, 10), (0, 200, 10), (109, 300, 1), (0, 9, 1)], 2),
    ],
)
def test_a_read_behind_a_write_is_found(calls, number):
    fault = overwritten.first_fault(copies(*calls))
    assert (fault and fault.number) == number
    assert overwritten.is_proved(copies(*calls)) is (fault is None)


def test_reading_an_output_is_allowed():
    calls = [*copies((0, 100, 10)), *copies((100, 200, 10), role=OUTPUT)]
    assert overwritten.is_proved(calls)


def test_undeclared_calls_are_not_proved():
    calls = copies((0, 100, 10), (10, 110, 10))
    calls[0].words[0][1] = UNKNOWN
    assert not overwritten.is_proved(calls) and overwritten.first_fault(calls) is None
    assert not overwritten.is_proved(copies((0, 100, 10), role=""))


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
def test_pieces_that_read_their_own_writes_are_not_used(target, monkeypatch):
    """Their output is written beside the arena, and copied."""
    machine = programs.machine_of(target)
    data = convert(layer("conv", 16)[0], Options(strip=True)).data

    def copies():
        pair = cores.record_pair(data, lambda *form: has_form(machine, *form))
        calls = [c for core in pair.cores for s in core.steps for c in s.calls]
        return [call.loop.name for call in calls if call.loop.family == "move"]

    assert copies() == ["copy32", "copy32"]
    monkeypatch.setattr(cores, "_is_in_order", lambda *halves: True)
    assert copies() == []  # and gives other integers


def test_flash_refuses_a_wrong_plan(monkeypatch):
    machine = Machine.for_arch("armv6m")
    monkeypatch.setattr(_qoverlap, "behind", lambda *_: {0: 0})
    monkeypatch.setattr(calls, "check", lambda *_: [])  # convert would find it
    data = convert(layer("conv", 4)[0], Options(strip=True)).data
    with pytest.raises(DeployError, match=r"step 0 qconv: call \d+, patches\.patches, reads its"):
        build.build(data, machine, stream=False)


@pytest.mark.slow
def test_no_kernel_reads_an_overwritten_input():
    """Files are the fuzzer's seeds, which the tests of each kernel convert."""
    some = [results[: None if LONG else 3] for results in seeds.collection().values()]
    files = {seed.name: seed.data for results in some for seed in results}
    n_steps = 0
    for name, data in files.items():
        try:
            steps = record(data, test_recorded_kernels.has_form).steps
        except CannotRecord:
            continue
        for each in steps:
            n_steps += 1
            assert overwritten.first_fault(each.calls) is None, (name, each.kernel)
    assert n_steps > 150
