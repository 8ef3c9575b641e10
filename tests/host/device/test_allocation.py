"""A run allocates nothing if no step computes with floats."""

import numpy as np
import pytest

from tests.host.device import small
from tools.converter.convert import convert
from tools.micropython import UNIX_TARGETS


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
@pytest.mark.parametrize("args", [(), ("sliced",)])
def test_a_run_allocates_nothing(target, args):
    model, x = small.moving(), small.floats(1, 3, 5, 6)
    converted = convert(model)
    assert {s.kernel for s in converted.graph.steps} == {"relu", "max_pool", "move"}
    files = {"model.bin": converted.data, "x.bin": x.tobytes()}
    printed = small.run(target, small.SCRIPTS / "allocation.py", files, args)
    allocated, kept, output = printed.split()
    assert kept == "0"
    # In the plain form the loops themselves are bytecode, with frames that the heap lends them.
    assert allocated == "0" or not target.viper
    # The same steps, so that this is a proof about steps which do their work.
    y = np.frombuffer(bytes.fromhex(output), np.float32)
    np.testing.assert_array_equal(y, small.expected(model, x)[0].ravel())


def test_allocations_are_detected(target):
    script = (small.SCRIPTS / "allocation.py").read_text()
    script = script.replace("    run()\n    n -= 1", "    run(); [n]\n    n -= 1")
    files = {"model.bin": small.binary(small.relu()), "x.bin": bytes(24)}
    with pytest.raises(AssertionError, match="MemoryError.*heap is locked"):
        small.run(target, script, files)
