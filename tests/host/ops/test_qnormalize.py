"""LayerNormalization of quantized bytes: kernel qnormalize against float64 and onnxruntime.

Before rounding, results are within 2**-13 steps of the real ones: elements that are not next to a
tie between two integers must be equal.
"""

import numpy as np
import pytest

import mpconnxr
from mpconnxr.errors import ModelError
from tests.fuzz import modelfile
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

TARGETS = ["unix", "unix32", "unix-plain", "mps2-an385", "mps2-an385-v6m", "virt-rv32"]
F = np.float32
NEAR = 2.0**-13  # steps
IDENTICAL = 0.999  # next to onnxruntime's float32
ROWS = [(3, 8), (20, 32), (2, 5, 7), (17, 1), (4, 64), (1, 768), (2, 129), (5, 2)]

on_targets = pytest.mark.parametrize("target", TARGETS, indirect=True)


def rows_of(rng, shape, dtype):
    """Return rows of all kinds of deviations: one step, none, and a single element."""
    x = rng.normal(0, np.exp2(rng.uniform(-2, 7, (*shape[:-1], 1))), shape)
    x += rng.uniform(-60, 60, (*shape[:-1], 1))
    rows = x.reshape(-1, shape[-1])
    rows[0] = np.rint(rows[0, 0])
    rows[-1] = np.rint(rows[-1, 0])
    rows[-1, 0] += 1
    info = np.iinfo(dtype)
    shift = 128 if dtype == U8 else 0
    return np.clip(np.rint(x) + shift, info.min, info.max).astype(dtype)


def normalized(rng, shape, dtype):
    """Return (model, its input, its result before rounding)."""
    n, zero = shape[-1], 128 if dtype == U8 else 0
    x, x_scale = rows_of(rng, shape, dtype), F(np.exp2(rng.uniform(-8, 1)))
    scale, bias = (v.astype(F) for v in (rng.normal(1, 0.5, n), rng.normal(0, 0.3, n)))
    y_scale, y_zero = F(rng.uniform(0.01, 0.05)), zero + int(rng.integers(-50, 50))
    x_zero, y_zero = dtype(zero + 3), dtype(y_zero)
    epsilon = float(F(rng.choice([1e-5, 1e-3, 1e-12])))
    wide = x.astype(np.float64) - np.float64(x_zero)
    centred = wide - wide.mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True) + epsilon / float(x_scale) ** 2
    real = centred / np.sqrt(variance) * scale.astype(np.float64) + bias
    net = Net()
    result = net.dq(net.input(shape, dtype), x_scale, x_zero, dtype)
    factors = [net.constant(v) for v in (scale, bias)]
    result = net.op("LayerNormalization", result, *factors, epsilon=epsilon)
    result = net.model(net.q(result, y_scale, y_zero, dtype))
    return result, x, real / float(y_scale) + int(y_zero)


@on_targets
def test_rows_are_near_float64(target):
    rng = np.random.default_rng(51)
    made = [normalized(rng, shape, t) for shape in ROWS for t in (U8, S8)]
    models, xs, real = zip(*made, strict=True)
    result = on_device(target, models, [[x] for x in xs])
    for model, [got], want in zip(models, result, real, strict=True):
        assert kernels(model) == ["qnormalize"]
        info = np.iinfo(got.dtype)
        least, most = (np.clip(np.rint(want + d), info.min, info.max) for d in (-NEAR, NEAR))
        assert ((least <= got) & (got <= most)).all(), got.shape


def kernels(model):
    return [step.kernel for step in convert(model, Options(strip=True)).graph.steps]


def between(norm, shape=(2, 24, 32), dtype=S8, opset=17):
    net = Net(opset)
    zero = 128 if dtype == U8 else 0
    x = net.dq(net.input(shape, dtype), 0.03, 7 + zero, dtype)
    scale = net.constant(net.rng.normal(1, 0.2, shape[-1]))
    bias = net.constant(net.rng.normal(0, 0.2, shape[-1]))
    return net, net.q(norm(net, x, scale, bias), 0.021, zero - 9, dtype)


def as_one(net, x, scale, bias):
    return net.op("LayerNormalization", x, scale, bias)


def without_bias(net, x, scale, bias):
    return net.op("LayerNormalization", x, net.dq(net.constant(scale_bytes(net), S8), 0.01))


def scale_bytes(net):
    return net.rng.integers(50, 127, 32)


NETS = {
    "s8": between(as_one),
    "u8": between(as_one, dtype=U8),
    "without bias": between(without_bias),
    "all rows": between(as_one, (1, 300, 16)),
}


@pytest.mark.parametrize("name", NETS)
def test_norms_become_integer_operators(name):
    net, y = NETS[name]
    assert operators(rewritten(net.model(y))) == ["QLinearLayerNormalization"]


@pytest.mark.parametrize("target", ["unix", "unix32", "unix-plain"], indirect=True)
def test_norms_agree_with_onnxruntime(target):
    models = [net.model(y) for net, y in NETS.values()]
    inputs = [net.values() for net, _ in NETS.values()]
    result = on_device(target, models, inputs)
    for name, model, xs, [got] in zip(NETS, models, inputs, result, strict=True):
        [want] = by_onnxruntime(model, xs)
        apart = np.abs(got.astype(int) - want.astype(int))
        assert apart.max() <= 1 and (apart == 0).mean() >= IDENTICAL, (name, (apart > 0).sum())


# Of the parameters: the first of bits, and reciprocal, before, after.
_BITS, _RECIPROCAL, _BEFORE, _AFTER = range(6, 10)


@pytest.mark.parametrize("n", [1, 2, 3, 127, 128, 129, 768, 1000, 32767])
def test_means_are_exact_for_all_lengths(n):
    """A file must have the converter's words about n."""
    net = Net()
    x = net.dq(net.input((1, n)), 0.03)
    y = net.op("LayerNormalization", x, net.constant(np.ones(n)), net.constant(np.zeros(n)))
    mpconnxr.load(small.binary(net.model(net.q(y, 0.02))))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *[(_BITS, 4), (_BITS, 6), (_BITS, 40)],
        *[(_RECIPROCAL, 0), (_RECIPROCAL, 1), (_RECIPROCAL, 32769), (_RECIPROCAL, 131071)],
        *[(_BEFORE, 1), (_BEFORE, 20), (_AFTER, 1), (_AFTER, 19), (_AFTER, 31)],
    ],
)
def test_means_outside_of_a_row_are_refused(place, value):
    """With them sums overflow, and a board would shift a negative variance forever."""
    net, y = NETS["s8"]
    file = modelfile.read(small.binary(net.model(y)))
    [node] = [node for node in file.nodes if node.kernel == "qnormalize"]
    mpconnxr.load(file.data())
    node.params[place] = value
    with pytest.raises(ModelError, match="of n|of sums"):
        mpconnxr.load(file.data())
