"""Bounds or fixed sizes with which a model needs more memory than any board has are refused."""

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel

LONG = 20_000


def attention(length):
    nodes = [("Attention", "x x x", "y", {"q_num_heads": 1, "kv_num_heads": 1})]
    ends = [small.value(name, (1, length, 8)) for name in "xy"]
    return small.model(nodes, ends[:1], ends[1:], 23)


def scores(length):
    nodes = [("Transpose", "x", "t", {"perm": [0, 2, 1]}), ("MatMul", "x t", "y", {})]
    return small.model(nodes, [small.value("x", (1, length, 8))], [small.value("y", None)])


def outer():
    ends = [small.value("x", ("T", 1)), small.value("z", (1, "U"))]
    return small.model([("Mul", "x z", "y", {})], ends, [small.value("y", ("T", "U"))])


def rows():
    nodes = [("Gather", "w x", "y", {})]
    table = np.ones((10, 4000), np.float32)
    ends = small.value("x", ("T",), TensorProto.INT32), small.value("y", ("T", 4000))
    return small.model(nodes, ends[:1], ends[1:], w=table)


def alive():
    """Return a model with sixty values of 20 MB that are alive at once."""
    nodes = [("Sin", f"v{i}", f"v{i + 1}", {}) for i in range(60)]
    nodes += [("Neg", "v60", "w60", {})]
    nodes += [("Add", f"w{i + 1} v{i + 1}", f"w{i}", {}) for i in range(59, -1, -1)]
    ends = [small.value(name, ("T", 8)) for name in ("v0", "w0")]
    return small.model(nodes, ends[:1], ends[1:])


def relu():
    return small.model([("Relu", "x", "y", {})], *[[small.value(n, ("T",))] for n in "xy"])


@pytest.mark.parametrize(
    ("model", "bounds", "nbytes"),
    [
        (attention("T"), {"T": LONG}, 4 * LONG**2),
        (scores("T"), {"T": LONG}, 4 * LONG**2),
        (outer(), {"T": 60_000, "U": 60_000}, 4 * 60_000**2),
        (rows(), {"T": 3_000_000}, 4 * 4000 * 3_000_000),
        (alive(), {"T": 650_000}, 61 * 32 * 650_000),
        (relu(), {"T": 3_000_000_000}, 12_000_000_000),
        (relu(), {"T": 10**24}, 4 * 10**24),
    ],
)
def test_bounds_beyond_the_memory_of_any_board_are_refused(model, bounds, nbytes):
    smaller = " or ".join(f"--bound {name}" for name in bounds)
    message = rf"of {nbytes:,} bytes is too large for any board \(a smaller {smaller} needs less\)"
    with pytest.raises(UnsupportedModel, match=message):
        convert(model, Options(bounds=bounds, check=False))


def test_sizes_beyond_the_memory_of_any_board_are_refused():
    with pytest.raises(UnsupportedModel, match="too large for any board .export the model for sm"):
        convert(scores(LONG), Options(check=False))


@pytest.mark.parametrize(("factor", "message"), [(3 * 10**8, "28 bits"), (10**12, "32 bits")])
def test_sizes_beyond_the_integers_of_the_file_are_refused(factor, message):
    nodes = [("Shape", "x", "s", {"end": 1}), ("Mul", "s k", "y", {})]
    ends = small.value("x", ("T", 8)), small.value("y", (1,), TensorProto.INT64)
    model = small.model(nodes, ends[:1], ends[1:], k=np.int64([factor]))
    with pytest.raises(UnsupportedModel, match=f"exceeds {message} .--dim instead of --bound"):
        convert(model, Options(bounds={"T": 3}, check=False))
