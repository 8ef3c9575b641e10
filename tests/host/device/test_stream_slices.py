"""Steps whose weights are larger than the window run in slices."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.device.test_stream import RUN
from tools.converter.convert import Options, convert
from tools.converter.errors import TooSmall
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)


SLICED = {
    "gemm of a row": ([("Gemm", "x w b", "y", {"transB": 1})], (1, 24), (1, 20), (20, 24)),
    "gemm of rows": ([("Gemm", "x w b", "y", {"transB": 1})], (3, 24), (3, 20), (20, 24)),
    "conv": (
        [("Conv", "x w b", "y", {"pads": [1, 1, 1, 1], "strides": [2, 2]})],
        (2, 3, 9, 8),
        (2, 10, 5, 4),
        (10, 3, 3, 3),
    ),
    "conv and max_pool": (
        [
            ("Conv", "x w b", "c", {"pads": [1, 1, 1, 1]}),
            ("MaxPool", "c", "y", {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ],
        (1, 3, 8, 8),
        (1, 10, 4, 4),
        (10, 3, 3, 3),
    ),
    "grouped conv and max_pool": (
        [
            ("Conv", "x w b", "c", {"pads": [1, 1, 1, 1], "group": 2}),
            ("MaxPool", "c", "y", {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ],
        (1, 4, 8, 8),
        (1, 10, 4, 4),
        (10, 2, 3, 3),
    ),
    "conv by groups": (
        [("Conv", "x w b", "y", {"group": 2, "dilations": [1, 2]})],
        (1, 4, 9, 8),
        (1, 10, 7, 4),
        (10, 2, 3, 3),
    ),
}


@every_target
@pytest.mark.parametrize("name", SLICED)
def test_a_step_larger_than_the_window_runs_in_slices(target, name):
    nodes, x_shape, y_shape, w_shape = SLICED[name]
    ends = [small.value("x", x_shape)], [small.value("y", y_shape)]
    proto = small.model(nodes, *ends, w=small.floats(*w_shape), b=small.floats(w_shape[0]))
    x = small.floats(*x_shape, seed=5)
    row = 4 * (int(np.prod(w_shape[1:])) + 1) + 1  # bias and exponent
    whole = convert(proto, Options(strip=True))
    converted = convert(proto, Options(strip=True, window=3 * row + 16))
    report = converted.report()
    assert report["window_bytes"] <= 3 * row + 16
    assert report["held_bytes"] <= 3  # exponents that two slices have in common
    assert len(converted.graph.steps) > 3 and report["macs"] == whole.report()["macs"]
    *printed, y = small.lines(target, RUN, m=converted.data, x=x.tobytes())
    assert printed == ["True", "[True, True]"] * 3 + ["True True"]
    whole_y = small.lines(target, RUN, m=whole.data, x=x.tobytes())[-1]
    assert y == whole_y
    got = np.frombuffer(bytes.fromhex(y), np.float32)
    np.testing.assert_allclose(got, small.expected(proto, x)[0].ravel(), rtol=1e-4, atol=1e-5)


def quantized(group=1):
    """Return a QLinearConv with as many channels as slices need."""
    shape = (12, 6 // group, 3, 3)
    rng = np.random.default_rng(3)
    return small.model(
        [("QLinearConv", "x xs xz w ws wz ys yz", "y", {"group": group, "pads": [1, 1, 0, 0]})],
        [small.value("x", (1, 6, 7, 8), small.TensorProto.UINT8)],
        [small.value("y", (1, 12, 6, 7), small.TensorProto.UINT8)],
        xs=np.float32(0.05),
        xz=np.uint8(128),
        w=rng.integers(-128, 128, shape).astype(np.int8),
        ws=rng.uniform(0.01, 0.02, 12).astype(np.float32),
        wz=np.zeros(12, np.int8),
        ys=np.float32(0.2),
        yz=np.uint8(120),
    )


@every_target
@pytest.mark.parametrize("group", [1, 3])
def test_a_byte_convolution_runs_in_slices(target, group):
    proto = quantized(group)
    x = np.random.default_rng(5).integers(0, 256, (1, 6, 7, 8)).astype(np.uint8)
    row = 8 + {1: 56, 3: 20}[group]  # of the channels' table, and 54 or 18 weights
    converted = convert(proto, Options(strip=True, window=4 * row))
    assert [step.kernel for step in converted.graph.steps] == ["qconv"] * 3
    *printed, y = small.lines(target, RUN, m=converted.data, x=x.tobytes())
    assert printed == ["True", "[True, True]"] * 3 + ["True True"]
    assert y == small.lines(target, RUN, m=small.binary(proto), x=x.tobytes())[-1]
    got = np.frombuffer(bytes.fromhex(y), np.uint8).astype(int)
    assert np.abs(got - small.expected(proto, x)[0].ravel()).max() <= 1  # see ops/_requantize


def test_a_too_small_window_names_the_bytes_needed():
    nodes, x_shape, y_shape, w_shape = SLICED["gemm of a row"]
    ends = [small.value("x", x_shape)], [small.value("y", y_shape)]
    proto = small.model(nodes, *ends, w=small.floats(*w_shape), b=small.floats(w_shape[0]))
    for window in range(1, 20):
        with pytest.raises(TooSmall) as caught:
            convert(proto, Options(strip=True, window=window, weights="int8"))
        assert caught.value.least > window


@pytest.mark.parametrize(("channels", "n_notes"), [(40, 0), (400, 1)])
def test_a_note_counts_the_steps_that_a_window_adds(channels, n_notes):
    ends = [small.value("x", (1, 24))], [small.value("y", (1, channels))]
    nodes = [("Gemm", "x w b", "y", {"transB": 1})]
    proto = small.model(nodes, *ends, w=small.floats(channels, 24), b=small.floats(channels))
    converted = convert(proto, Options(strip=True, window=500))
    results = [note for note in converted.notes if "--window 500 cuts 1 steps into" in note]
    assert len(results) == n_notes
    if results:
        assert f"into {len(converted.graph.steps)}, " in results[0]
