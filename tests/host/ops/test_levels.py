"""QuantizeLinear and its inverse by search and table: exact, without floats, safe."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.against_ort import Node, compare
from tools.converter.convert import convert
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
BYTES = (np.int8, np.uint8)
SCALES = (1.0, 0.1, 1 / 255, 0.02352941, 3e-39, 7.3e29)


def values(scale, zero, dtype):
    """Return random floats, ties between two integers with their neighbours, special floats."""
    rng = np.random.default_rng(4)
    info = np.iinfo(dtype)
    scale = np.float32(scale)
    with np.errstate(over="ignore"):
        middles = (np.arange(info.min - 1, info.max + 2) - zero + 0.5).astype(np.float32) * scale
        near = [np.nextafter(middles, np.float32(end)) for end in (-np.inf, np.inf)]
        spread = rng.standard_normal(500).astype(np.float32) * (100 * scale)
    special = np.float32([0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 3.4e38, -3.4e38])
    return np.concatenate([middles, *near, spread, special])


@on_targets
@pytest.mark.parametrize("dtype", BYTES)
def test_integers_agree_with_onnxruntime(target, dtype):
    info, nodes = np.iinfo(dtype), []
    for scale in SCALES:
        for zero in (info.min, 3, info.max):
            inputs = [values(scale, zero, dtype), np.float32(scale), dtype(zero)]
            nodes.append(Node("QuantizeLinear", inputs, fixed=(1, 2), dtypes=(dtype,)))
    compare(target, nodes)


@on_targets
@pytest.mark.parametrize("dtype", BYTES)
def test_floats_agree_with_onnxruntime(target, dtype):
    x = np.arange(256).astype(np.uint8).view(dtype)
    inputs = [[x, np.float32(s), dtype(z)] for s in SCALES for z in (0, 7, 100)]
    compare(target, [Node("DequantizeLinear", i, fixed=(1, 2)) for i in inputs], rtol=0, atol=0)


@on_targets
def test_nan_becomes_the_zero_point(target):
    x = np.float32([np.nan, -np.nan, 5])
    node = Node("QuantizeLinear", [x, np.float32(1), np.int8(-9)], fixed=(1, 2), dtypes=(np.int8,))
    compare(target, [node], [[np.int8([-9, -9, -4])]])


def there_and_back(scale=0.02):
    nodes = [
        ("QuantizeLinear", "x scale zero", "q", {}),
        ("DequantizeLinear", "q scale zero", "y", {}),
    ]
    constants = {"scale": np.float32(scale), "zero": np.uint8(120)}
    return small.model(nodes, [small.value("x", [60])], [small.value("y", [60])], **constants)


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_a_run_allocates_nothing(target):
    model, x = there_and_back(), small.floats(60)
    converted = convert(model)
    assert [s.kernel for s in converted.graph.steps] == ["levels", "dequantize"]
    files = {"model.bin": converted.data, "x.bin": x.tobytes()}
    allocated, kept, output = small.run(target, small.SCRIPTS / "allocation.py", files).split()
    assert (allocated, kept) == ("0", "0")
    y = np.frombuffer(bytes.fromhex(output), np.float32)
    np.testing.assert_array_equal(y, small.expected(model, x)[0])


@pytest.mark.slow
@on_targets
def test_damaged_models_do_no_harm(target):
    """A scale without levels on the board has data that may be anything."""
    for scale, may_be_anything in ((0.02, False), (3e-39, True)):
        for mode, amount in (("words", "1"), ("several", "200")):
            report = small.damage(target, small.binary(there_and_back(scale)), mode, amount)
            assert report.ok and report.refused, report
            assert report.ran or not may_be_anything, report
