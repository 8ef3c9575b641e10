"""TensorScatter writes rows into a buffer at indices that a run decides."""

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

_DTYPES = {"f": TensorProto.FLOAT, "i": TensorProto.INT8}


def converted(past, update, mode, axis):
    """Return a model that scatters update into past at indices that a run feeds."""
    dtype = _DTYPES[past.dtype.kind]
    node = ("TensorScatter", "past update at", "y", {"mode": mode, "axis": axis})
    infos = [small.value("past", past.shape, dtype), small.value("update", update.shape, dtype)]
    infos.append(small.value("at", (len(past),), TensorProto.INT64))
    proto = small.model([node], infos, [small.value("y", past.shape, dtype)])
    proto.opset_import[0].version, proto.ir_version = 24, 11
    return convert(proto, Options(strip=True))


def run(target, converted, *inputs):
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes() for x in inputs]])])
    return outcome


def scattered(past, update, at, axis):
    expected = np.moveaxis(past.copy(), axis, 1)
    rows = np.moveaxis(update, axis, 1)
    for b, first in enumerate(at):
        for i in range(rows.shape[1]):
            expected[b, (first + i) % expected.shape[1]] = rows[b, i]
    return np.moveaxis(expected, 1, axis)


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
@pytest.mark.parametrize("dtype", [np.float32, np.int8])
@pytest.mark.parametrize(("mode", "at"), [("linear", (0, 3)), ("circular", (4, 2))])
@pytest.mark.parametrize("axis", [1, 2])
def test_rows_are_written_at_the_index(target, mode, at, dtype, axis):
    rng = np.random.default_rng(3)
    past = np.moveaxis(rng.integers(-99, 99, (2, 5, 3, 4)), 1, axis).astype(dtype)
    update = np.moveaxis(rng.integers(-99, 99, (2, 2, 3, 4)), 1, axis).astype(dtype)
    conversion = converted(past, update, mode, axis)
    assert "cache" in [step.kernel for step in conversion.graph.steps]
    outcome = run(target, conversion, past, update, np.int64(at))
    assert not outcome.error, outcome.message
    result = np.frombuffer(outcome.runs[0].outputs[0], dtype).reshape(past.shape)
    np.testing.assert_array_equal(result, scattered(past, update, at, axis))


@pytest.mark.parametrize("at", [-1, 4, 1 << 40])
def test_rows_beyond_the_buffer_are_refused(ready_target, at):
    past, update = np.zeros((1, 5, 4), np.float32), np.ones((1, 2, 4), np.float32)
    conversion = converted(past, update, "linear", 1)
    outcome = run(ready_target("unix32"), conversion, past, update, np.int64([at]))
    assert outcome.error == "InputError"
