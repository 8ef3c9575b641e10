"""Two cores write all of an output that lies beside the arena, and copy it."""

import pytest

from mpconnxr.blocks import block
from tests.host.program.test_cores import step
from tools.program.call import INPUT, OUTPUT, Call, Loop, Part, Place, StepCalls
from tools.program.output_copies import copies, is_written
from tools.program.touched import Bytes, merged, touched


def dots(first, channels):
    """Return a call that writes these channels of two positions, 10 channels each, at byte 200."""
    words = block(
        "qdot",
        w_start=0,
        table_start=0,
        columns=4,
        positions=2,
        channels=channels,
        out_start=first,
        out_position_stride=10,
        out_channel_stride=1,
        w_zero_point=0,
        out_zero_point=0,
        low=0,
        high=0,
        x_start=0,
        x_position_stride=0,
        has_sums=0,
        is_table_in_x=0,
        scratch_start=0,
    )
    x, out = Place("arena", 50, "B", 100, INPUT), Place("arena", 200, "B", 20, OUTPUT)
    return Call(Loop("qdot", "qdots8"), (x, x, out, Part(0, 0, len(words))), {0: words})


def test_copied_outputs_are_complete():
    """A loop may write a range; its elements are what it writes."""
    assert is_written([dots(0, 7), dots(7, 3)], 200, 20)
    assert not is_written([dots(0, 7), dots(7, 2)], 200, 20)
    assert not is_written([dots(0, 7), dots(8, 2)], 200, 20)
    assert not is_written(step((50, 200, 20)), 200, 20)


@pytest.mark.parametrize(
    ("offset", "nbytes", "name"), [(8, 20, "copy32"), (8, 22, "copy8"), (9, 1, "copy8")]
)
def test_copies_cover_the_whole_output(offset, nbytes, name):
    """The copies of both cores count together, in words if aligned."""
    calls = [call for half in copies(StepCalls("0"), 200, offset, nbytes) for call in half]
    assert {call.loop.name for call in calls} == {name}
    results = [touched(call) for call in calls]
    reads = merged(r for each in results for r in each.reads)
    writes = merged(r for each in results for r in each.writes)
    assert reads == [Bytes("arena", 200, 200 + nbytes)]
    assert writes == [Bytes("arena", offset, offset + nbytes)]


def test_blocks_of_the_step_keep_their_numbers():
    calls = step((0, 100, 10))
    [[call], _] = copies(StepCalls("0", calls), 200, 8, 20)
    assert list(call.words) == [1] and call.arguments[3] == Part(1, 0, len(call.words[1]))
