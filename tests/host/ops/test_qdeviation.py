"""Kernel qdeviation (rows over the root of their quantized variance) against onnxruntime."""

import numpy as np
import pytest

from tests.host.converter.rewrites.qdq_net import (
    S8,
    U8,
    Net,
    by_onnxruntime,
    on_device,
    operators,
    rewritten,
)
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.ops.deviation import deviation_words

TARGETS = ["unix", "unix32", "unix-plain", "mps2-an385", "mps2-an385-v6m", "virt-rv32"]
F = np.float32
IDENTICAL = 0.999  # next to onnxruntime's float32
ROWS = [(3, 8), (20, 32), (2, 5, 7), (4, 64), (1, 768), (2, 129), (5, 3)]

on_targets = pytest.mark.parametrize("target", TARGETS, indirect=True)


def norm(net, x, v_scale, dtype, power=None, between=True):
    """Return (x - mean) / sqrt(variance + epsilon), quantized between as quantizers do."""
    zero = 0 if dtype == U8 else -128
    d = net.op("Sub", x, net.op("ReduceMean", x, axes=[-1]))
    square = net.op("Mul", d, d) if power is None else net.op("Pow", d, net.constant(F(power)))
    variance = net.op("ReduceMean", square, axes=[-1])
    if between:
        variance = net.qdq(variance, v_scale, zero, dtype)
    total = net.op("Add", variance, net.constant(F(1e-5)))
    root = net.op("Sqrt", net.qdq(total, v_scale, zero, dtype) if between else total)
    if between:
        root = net.qdq(root, F(np.sqrt(255 * v_scale) / 255), zero, dtype)
    return net.op("Div", d, root)


def made(shape, dtype, seed=0, **options):
    """Return (model, input); no row's quantized variance is 0, so that no quotient is infinite."""
    net = Net(seed=seed)
    rng, zero = net.rng, 128 if dtype == U8 else 0
    x = rng.normal(0, np.exp2(rng.uniform(2, 5, (*shape[:-1], 1))), shape) + zero
    info = np.iinfo(dtype)
    x = np.clip(np.rint(x), info.min, info.max).astype(dtype)
    scale = F(rng.uniform(0.01, 0.05))
    largest = float(np.square((x - x.mean(-1, keepdims=True)) * scale).mean(-1).max())
    result = net.dq(net.input(shape, dtype), scale, dtype(zero + 3), dtype)
    y = norm(net, result, F(1.1 * largest / 255 + 1e-6), dtype, **options)
    return net.model(net.q(y, F(rng.uniform(0.01, 0.05)), dtype(zero - 5), dtype)), x


@on_targets
def test_rows_agree_with_onnxruntime(target):
    cases = [made(shape, t, i) for i, shape in enumerate(ROWS) for t in (U8, S8)]
    models, xs = zip(*cases, strict=True)
    result = on_device(target, models, [[x] for x in xs])
    same, n = 0, 0
    for model, x, [got] in zip(models, xs, result, strict=True):
        assert [s.kernel for s in convert(model, Options(strip=True)).graph.steps] == [
            "qdeviation"
        ]
        [want] = by_onnxruntime(model, [x])
        apart = np.abs(got.astype(int) - want)
        assert apart.max() <= 1
        same, n = same + np.count_nonzero(apart == 0), n + apart.size
    assert same >= IDENTICAL * n


@pytest.mark.parametrize("options", [{}, {"power": 2}])
@pytest.mark.parametrize("opset", [13, 17])
def test_the_parts_become_one_operator(options, opset):
    model, x = made((4, 12), S8, **options)
    model.opset_import[0].version = opset
    result = rewritten(model)
    assert operators(result) == ["QLinearDeviation"]
    np.testing.assert_array_equal(by_onnxruntime(result, [x]), by_onnxruntime(model, [x]))


@pytest.mark.parametrize("options", [{"power": 3}, {"between": False}])
def test_other_patterns_stay(options):
    assert "QLinearDeviation" not in operators(rewritten(made((4, 12), S8, **options)[0]))


def test_factors_are_exact():
    roots = F([0.5, 2, 0, np.nan, np.inf, 1e-9, 1e9])
    (bits, shift), words = deviation_words(8, (0.01, 0.02, 0.04), roots)
    assert bits / 2.0 ** (30 + shift) == pytest.approx(0.01**2 / 64 / 0.02)
    results = [(int(w) & 0x3FFFFF) / 2.0 ** (int(w) >> 24) for w in words]
    assert results[:2] == pytest.approx([0.5, 0.125], rel=1e-6)
    assert results[2] == results[3] == results[5] == (1 << 22) - 1 and results[4] == 0
    assert results[6] == pytest.approx(0, abs=2.0**-29)
    assert deviation_words(8, (100.0, 0.001, 0.04), roots) is None


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_damaged_models_do_no_harm(target):
    report = small.damage(target, small.binary(made((3, 5), U8)[0]), "several", "200")
    assert report.ok and report.refused and report.ran, report
