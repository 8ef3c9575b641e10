"""Einsum, DFT, STFT, Det, TopK, Trilu and others on MicroPython, against numpy and onnxruntime."""

import itertools

import numpy as np
import pytest

from tests.host.ops.against_ort import Node, compare
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
rng = np.random.default_rng(13)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


EQUATIONS = {
    "ij,jk": [(3, 4), (4, 2)],
    "ij,jk->ki": [(3, 4), (4, 2)],
    "...ij,...jk->...ik": [(2, 1, 3, 4), (5, 4, 2)],
    "bhqd,bhkd->bhqk": [(2, 3, 4, 5), (2, 3, 6, 5)],
    "ii": [(4, 4)],
    "ii->i": [(4, 4)],
    "...ii->...i": [(2, 3, 3)],
    "ijk->kj": [(2, 3, 4)],
    "i,j,k->kij": [(2,), (3,), (4,)],
    "ij,jk,kl->il": [(2, 3), (3, 4), (4, 2)],
    "ij,kl->": [(2, 3), (3, 4)],
    "b...,b...->b...": [(2, 3, 4), (2, 3, 4)],
    "iij,jk->ik": [(3, 3, 4), (4, 2)],
    "ab,ab->ab": [(3, 4), (3, 4)],
    " a b , b -> a ": [(3, 4), (4,)],
    "...a,...a->...": [(2, 5), (5,)],
    "a...,...": [(2, 3), (3,)],
}


@on_targets
def test_einsum_agrees(target):
    nodes, expected = [], []
    for equation, shapes in EQUATIONS.items():
        inputs = [floats(*s) for s in shapes]
        want = np.einsum(equation, *(x.astype(np.float64) for x in inputs)).astype(np.float32)
        for fixed in ((), (len(inputs) - 1,))[: len(inputs)]:
            nodes.append(Node("Einsum", inputs, {"equation": equation}, 12, fixed))
            expected.append([want])
    whole = rng.integers(-9, 9, (3, 4), np.int32)
    nodes.append(Node("Einsum", [whole, whole], {"equation": "ij,kj->ik"}, 12, (), (np.int32,)))
    expected.append([whole @ whole.T])
    compare(target, nodes, expected, rtol=1e-5, atol=1e-5)


def dft(x, axis=-2, length=None, opset=20, **attrs):
    """Return a node and its expected output for x (..., 1 or 2)."""
    d = x.astype(np.float64)
    d = d[..., 0] if x.shape[-1] == 1 else d[..., 0] + 1j * d[..., 1]
    at = axis % x.ndim - x.ndim + 1
    if attrs.get("onesided") and attrs.get("inverse"):
        y = np.fft.irfft(d, length, at)[..., None]
    else:
        y = (np.fft.ifft if attrs.get("inverse") else np.fft.fft)(d, length, at)
        if attrs.get("onesided"):
            y = np.take(y, np.arange(y.shape[at] // 2 + 1), at)
        y = np.stack([y.real, y.imag], -1)
    n = None if length is None else np.array(length)
    inputs = [x, n] if opset < 20 else [x, n, np.array(axis)]
    if opset < 20:
        attrs["axis"] = axis
    fixed = tuple(i for i in range(1, len(inputs)) if inputs[i] is not None)
    return Node("DFT", inputs, attrs, opset, fixed), [y.astype(np.float32)]


@on_targets
def test_dft_agrees(target):
    lengths = (1, 2, 3, 4, 6, 15, 16, 24, 33, 64)
    cases = [dft(floats(2, n, p)) for n, p in itertools.product(lengths, (1, 2))]
    cases += [dft(floats(1, n, 2, 2), 1, inverse=1) for n in (5, 8, 12)]
    cases += [dft(floats(2, n, 1), onesided=1) for n in (5, 8)]
    cases += [dft(floats(2, n // 2 + 1, 2), 1, n, inverse=1, onesided=1) for n in (5, 8, 12)]
    cases += [dft(floats(1, 6, 3, 2), 1, n) for n in (4, 9)]
    cases += [dft(floats(1, 6, 4, 1), 2, n, 17) for n in (None, 5)]
    nodes, expected = zip(*cases, strict=True)
    compare(target, list(nodes), list(expected), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("target", ["unix"], indirect=True)
def test_dft_of_float64_agrees(target):
    nodes, expected = [], []
    for length, inverse in itertools.product((5, 12, 16), (0, 1)):
        x = rng.standard_normal((2, length, 2))
        node, _ = dft(x, 1, inverse=inverse)
        y = (np.fft.ifft if inverse else np.fft.fft)(x[..., 0] + 1j * x[..., 1])
        nodes.append(Node("DFT", node.inputs, node.attrs, 20, node.fixed, (np.float64,)))
        expected.append([np.stack([y.real, y.imag], -1)])
    compare(target, nodes, expected, rtol=1e-13, atol=1e-13)


LINES = {
    "noise": lambda n: rng.standard_normal(n),
    "tone": lambda n: 3e4 * np.sin(np.arange(n) * 10 * np.pi / n),
    "decay": lambda n: np.exp(-np.arange(n) / 5),
    "one": lambda n: np.eye(1, n, n // 3)[0],
    "tiny": lambda n: rng.standard_normal(n) * 1e-39,
}


@on_targets
@pytest.mark.parametrize("length", [256, 400, 441, 512])
def test_dft_is_as_exact_as_float32_allows(target, length):
    """It is within 2**-22 of the line's largest number, as a transform in float32 is."""
    lines = [made(length).astype(np.float32)[None, :, None] for made in LINES.values()]
    cases = [dft(x, 1) for x in lines]
    cases += [dft(np.stack([x[0], x[0, ::-1]], -1).reshape(1, -1, 2), inverse=1) for x in lines]
    for node, [expected] in cases:
        most = np.abs(expected).max()
        compare(target, [node], [[expected]], rtol=0, atol=most * 2.0**-22 + 1e-45)


@on_targets
def test_dft_of_numbers_that_are_not_finite(target):
    """A line with inf or NaN gives NaN, other lines do not; a sum that overflows gives inf."""
    x = floats(4, 8, 1)
    x[1, 3], x[2, 7] = np.nan, np.inf
    x[3] = 3e38
    node, [expected] = dft(np.where(x < 1e38, x, 0))
    expected[1:3] = np.nan
    expected[3, 0, 0] = np.inf
    compare(target, [Node("DFT", [x, *node.inputs[1:]], {}, 20, (2,))], [[expected]], 2e-5, 2e-5)


@on_targets
def test_stft_agrees(target):
    signal, window = floats(2, 40, 1), np.hanning(8).astype(np.float32)
    step, length = np.array(5), np.array(8)
    nodes = [
        Node("STFT", [signal, step, window, length], {}, 17, (1, 2, 3)),
        Node("STFT", [signal, step, window], {}, 17, (1,)),
        Node("STFT", [signal, step, None, length], {"onesided": 0}, 17, (1, 3)),
    ]
    frames = np.lib.stride_tricks.sliding_window_view(signal[..., 0], 8, 1)[:, ::5]
    frames = frames.astype(np.float64)
    one_sided = np.fft.rfft(frames * window.astype(np.float64))
    results = (one_sided, one_sided, np.fft.fft(frames))
    expected = [[np.stack([y.real, y.imag], -1).astype(np.float32)] for y in results]
    compare(target, nodes, expected, rtol=2e-5, atol=2e-5)


@on_targets
def test_det_agrees(target):
    x = floats(2, 3, 5, 5)
    x[0, 0, 0] = 0
    x[0, 1, :, 0] = [0, 1, 0, 2, 0]
    want = np.linalg.det(x.astype(np.float64)).astype(np.float32)
    compare(target, [Node("Det", [x], {}, 11)], [[want]], rtol=1e-4, atol=1e-5)


@on_targets
def test_top_k_of_equal_items(target):
    nodes = []
    for dtype, largest, axis in itertools.product(
        (np.float32, np.int32, np.int64), (0, 1), (0, 1)
    ):
        x = rng.integers(-3, 4, (6, 5, 2)).astype(dtype)
        for k in (1, 4):
            attrs = {"axis": axis, "largest": largest}
            outs = (dtype, np.int64)
            nodes.append(Node("TopK", [x, np.array([k])], attrs, 11, (1,), outs))
    nodes.append(Node("TopK", [floats(3, 4), np.array([0])], {}, 11, (1,), (np.float32, np.int64)))
    compare(target, nodes)


@on_targets
def test_trilu_has_constant_and_computed_k(target):
    nodes = []
    for dtype, upper, k in itertools.product(
        (np.float32, np.int64), (0, 1), (-9, -1, 0, 2, 2**62)
    ):
        x = rng.integers(1, 9, (2, 4, 5)).astype(dtype)
        for fixed in ((), (1,)):
            nodes.append(Node("Trilu", [x, np.array(k)], {"upper": upper}, 14, fixed, (dtype,)))
    expected = []
    for n in nodes:
        cut = np.triu if n.attrs["upper"] else np.tril
        expected.append([cut(n.inputs[0], int(np.clip(n.inputs[1], -9, 9)))])
    compare(target, nodes, expected)


@on_targets
def test_reverse_sequence_agrees(target):
    x = floats(4, 3, 2)
    nodes = [
        Node("ReverseSequence", [x, np.array([4, 1, 3])], {}, 10),
        Node(
            "ReverseSequence", [x, np.array([3, 1, 2, 2])], {"batch_axis": 0, "time_axis": 1}, 10
        ),
        Node("ReverseSequence", [x, np.array([4, 1, 3])], {}, 10, (1,)),
    ]
    compare(target, nodes)
