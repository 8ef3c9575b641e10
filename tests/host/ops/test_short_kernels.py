"""--float fast16 gives the exact bits of its arithmetic, near onnxruntime's numbers."""

import functools
from fractions import Fraction

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.against_ort import Node
from tests.host.ops.block_reference import exponent_of, rounded
from tests.host.ops.test_block_kernels import (
    NODES,
    conv,
    converted,
    floats,
    on_targets,
    outputs_of,
    product_model,
)
from tools.converter.convert import Options, convert
from tools.converter.numbers import ranges
from tools.converter.ops import gemm
from tools.micropython import UNIX_TARGETS, get_target

BOUND = 1e-3  # of the largest output
BITS = {2: 15, 16: 15, 17: 14, 64: 14, 65: 13, 300: 12, 1100: 11}  # by length of a row


def is_short(converted):
    return [s.inputs[1].dtype == 12 for s in converted.graph.steps if s.kernel.startswith("block")]


def whole(value):
    """Return the nearest integer, ties away from zero."""
    size = int(abs(value) + Fraction(1, 2))
    return -size if value < 0 else size


def product(x, mantissas, exponent, bias, bits):
    """Return the board's exact result for a row of x and a row of weights.

    Mantissas of some bits count in units of 2**(exponent - 149).
    """
    x_exponent = exponent_of(x) + 24 - bits
    x_unit = Fraction(2) ** (x_exponent - 149)
    total = sum(
        whole(Fraction(float(a)) / x_unit) * int(m) for a, m in zip(x, mantissas, strict=True)
    )
    assert abs(total) < 1 << 30
    unit = Fraction(2) ** (x_exponent + exponent - 298)
    bias = Fraction(float(bias))
    larger = max(0, exponent_of([bias]) - 2 - x_exponent - exponent + 144) if bias else 0
    total = total >> min(larger, 31)
    unit *= 1 << larger
    return rounded((total + whole(bias / unit)) * unit)


def rows(k, kind, rng):
    values = rng.standard_normal(k)
    wide = 2.0 ** rng.integers(-20, 20, k)
    scales = {"even": 1.0, "tiny": 1e-41, "huge": 8e37, "wide": wide, "zero": 0.0}
    return (values * scales[kind]).astype(np.float32)


@functools.cache
def vectors():
    """Return [(model, inputs, wanted)] with biases of any size.

    Rows have lengths around those at which mantissas become shorter.
    """
    rng = np.random.default_rng(3)
    kinds, m, result = ("even", "tiny", "huge", "wide", "zero"), 12, []
    for k, bits in BITS.items():
        w = np.stack([rows(k, kind, rng) for kind in ("even", "wide", "even") * 4])
        w *= np.float32(10) ** rng.integers(-30, 10, (m, 1))
        bias = (rng.standard_normal(m) * 10.0 ** rng.integers(-36, 12, m)).astype(np.float32)
        x = np.stack([rows(k, kind, rng) for kind in kinds])
        node = Node("Gemm", [x, w, bias], {"transB": 1}, fixed=(1, 2))
        model = convert(node.model([(len(kinds), m)]), Options(strip=True, float="fast16"))
        constants = model.graph.steps[0].inputs[1:]
        held = constants[0].data.view(np.uint16).reshape(m, -1)[:, :k].astype(int) - (1 << 14)
        weights = list(zip(held, constants[1].data.tolist(), bias, strict=True))
        expected = np.float32([[product(a, *row, bits) for row in weights] for a in x])
        result.append((model, [x], expected.ravel()))
    return result


@on_targets
def test_a_row_has_the_exact_bits(target, monkeypatch):
    monkeypatch.setattr(ranges, "lossy", lambda *_: ranges.NONE)  # nothing is too wide
    monkeypatch.setattr(gemm, "_are_features", lambda *_: False)  # nor to be scaled first
    models, inputs, expected = zip(*vectors(), strict=True)
    for got, values in zip(outputs_of(target, models, inputs), expected, strict=True):
        assert np.array_equal(got, values)


@on_targets
def test_results_are_near_onnxruntime_with_the_same_bits(target, ready_target):
    models = [converted(node, float="fast16") for node in NODES]
    # A run packs weights with a bias that it gives: these stay as they are.
    are_known = [len(node.fixed) == len(node.inputs) - 1 for node in NODES]
    assert sum(any(is_short(conversion)) for conversion in models) == sum(are_known)
    values = [node.values() for node in NODES]
    result = outputs_of(target, models, values)
    for node, got in zip(NODES, result, strict=True):
        [expected] = node.expected()
        assert np.abs(got - expected.ravel()).max() <= BOUND * np.abs(expected).max(), node
    for one, other in zip(result, outputs_of(ready_target("unix"), models, values), strict=True):
        assert np.array_equal(one.view(np.int32), other.view(np.int32))


def test_weights_are_as_near_as_their_mantissas():
    """A row has the exponent that its largest weight, or the sum of their sizes, needs."""
    node = conv((1, 40, 8, 8), (6, 40, 3, 3), False)
    w = node.inputs[1].reshape(6, -1)
    held, exponents = (t.data for t in converted(node, float="fast16").graph.steps[0].inputs[1:])
    stands = (held.view(np.uint16).astype(float) - (1 << 14)) * 2.0 ** (exponents[:, None] - 149.0)
    columns = w.reshape(6, 40, 3, 3).transpose(0, 3, 1, 2).reshape(6, -1)
    assert np.abs(stands - columns).max() <= np.abs(w).max() / 2**11
    sums = np.abs(held.view(np.uint16).astype(int) - (1 << 14)).sum(1)
    assert ((sums << 11 < 1 << 30) & (sums << 11 > 1 << 28)).all()  # K = 360: 12 bits


@on_targets
def test_infinities_and_nan_are_right(target):
    nodes = [
        conv((2, 3, 9, 8), (4, 3, 3, 3), pads=[1, 1, 1, 1]),
        Node("Gemm", [floats(3, 7), floats(7, 9), floats(9)], fixed=(1, 2)),
    ]
    nodes[0].inputs[0][0, 1, 3, 3] = np.nan
    nodes[0].inputs[0][0, 2, 7, 7] = np.inf
    nodes[1].inputs[0][1, 2] = -np.inf
    models = [converted(node, float="fast16") for node in nodes]
    result = outputs_of(target, models, [node.values() for node in nodes])
    for node, got in zip(nodes, result, strict=True):
        expected = node.expected()[0].ravel()
        assert np.isnan(expected).any() or np.isinf(expected).any()
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=2e-3)


def test_other_nodes_stay_exact():
    """These are means, products of two computed values, exponents beyond a byte."""
    x = floats(2, 3, 9, 8)
    nodes = [
        Node("GlobalAveragePool", [x]),
        Node("MatMul", [floats(2, 3, 7), floats(2, 7, 9)]),
        Node("MatMul", [floats(3, 7), np.float32(1e37) * floats(7, 9)], fixed=(1,)),
    ]
    notes = []
    for node in nodes:
        conversion = converted(node, float="fast16")
        assert is_short(conversion) == [False], node
        notes += [note for note in conversion.notes if "fast16 is not for" in note]
    assert len(notes) == 2  # a mean is no product that the model has


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
@pytest.mark.parametrize("args", [(), ("sliced",)])
def test_a_run_allocates_nothing(target, args):
    converted = convert(product_model(), Options(keep_inputs=True, float="fast16"))
    x = small.floats(1, 2, 5, 6)
    files = {"model.bin": converted.data, "x.bin": x.tobytes()}
    printed = small.run(target, small.SCRIPTS / "allocation.py", files, args)
    allocated, kept, output = printed.split()
    assert kept == "0"
    assert allocated == "0" or not target.viper
    expected = small.expected(product_model(), x)[0].ravel()
    got = np.frombuffer(bytes.fromhex(output), np.float32)
    assert np.abs(got - expected).max() <= BOUND * np.abs(expected).max()


def test_results_are_off_by_no_more_than_the_page_says():
    """docs/float.md states the bound, from the errors of values and weights."""
    rng = np.random.default_rng(4)
    nodes = []
    for k in BITS:
        x, w = (rng.standard_normal((40, k)) * 10.0 ** rng.integers(-2, 2, (40, k)) for _ in "xw")
        values = [np.float32(x), np.float32(w)]
        nodes.append(Node("Gemm", values, {"transB": 1}, fixed=(1,)))
    models = [converted(node, float="fast16") for node in nodes]
    assert all(map(is_short, models))
    target = get_target("unix")
    target.build()
    result = outputs_of(target, models, [node.values() for node in nodes])
    for node, bits, got in zip(nodes, BITS.values(), result, strict=True):
        x, w = (np.float64(values) for values in node.inputs)
        of_x = np.abs(x).max(1)[:, None] * 2.0 ** (1 - bits)
        sizes = np.abs(w)
        of_w = np.maximum(sizes.max(1) * 2.0**-14, sizes.sum(1) * 2.0 ** (bits - 31) * 1.01)
        bound = of_x * sizes.sum(1) + np.abs(x).sum(1)[:, None] * of_w + x.shape[1] * of_x * of_w
        errors = np.abs(got.reshape(40, 40) - x @ w.T)
        assert (errors <= bound + 1e-7 * np.abs(x @ w.T)).all()
        assert (errors >= bound / 1000).any()
