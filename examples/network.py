"""Layers of small networks in numpy with their gradients, Adam, and export to ONNX.

What the examples need of a training framework. x, y: float32 (samples, channels, height, width),
height 1 for signals; or (samples, features) where noted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tqdm import trange


class Conv:
    """y = w * x + b with `pads` zeros around x; (1, 1) keeps its size with a 3 x 3 kernel."""

    def __init__(self, rng, n_in, n_out, kernel=(3, 3), pads=(1, 1)):
        self.kernel, self.pads = kernel, pads
        shape = (n_out, n_in, *kernel)
        scale = np.sqrt(2 / np.prod(shape[1:]))
        self.w = (rng.standard_normal(shape) * scale).astype(np.float32)
        self.b = np.zeros(n_out, np.float32)

    def forward(self, x):
        self.shape = x.shape
        padded = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in self.pads)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, self.kernel, axis=(2, 3))
        n, _, h, w = windows.shape[:4]
        # im2col: one row per pixel makes the convolution a product of matrices
        self.rows = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, -1)
        y = self.rows @ self.w.reshape(len(self.b), -1).T + self.b
        return y.reshape(n, h, w, -1).transpose(0, 3, 1, 2)

    def backward(self, dy):
        n, c, h, w = self.shape
        oh, ow = dy.shape[2:]
        (kh, kw), (ph, pw) = self.kernel, self.pads
        dy = dy.transpose(0, 2, 3, 1).reshape(n * oh * ow, -1)
        self.dw = (dy.T @ self.rows).reshape(self.w.shape)
        self.db = dy.sum(0)
        d_rows = (dy @ self.w.reshape(len(self.b), -1)).reshape(n, oh, ow, c, kh, kw)
        dx = np.zeros((n, c, h + 2 * ph, w + 2 * pw), np.float32)
        for i in range(kh):
            for j in range(kw):
                dx[:, :, i : i + oh, j : j + ow] += d_rows[..., i, j].transpose(0, 3, 1, 2)
        return dx[:, :, ph : ph + h, pw : pw + w]

    def node(self, rank):
        """Return (operator, attributes) in ONNX for so many spatial dims."""
        pads = self.pads[-rank:]
        return "Conv", {"kernel_shape": self.kernel[-rank:], "pads": [*pads, *pads]}


class Relu:
    def forward(self, x):
        self.positive = x > 0
        return x * self.positive

    def backward(self, dy):
        return dy * self.positive

    def node(self, rank):
        return "Relu", {}


class MaxPool:
    """Maximum of each block of h x w pixels; the gradient goes to all pixels that equal it."""

    def __init__(self, h=2, w=2):
        self.block = (h, w)

    def forward(self, x):
        bh, bw = self.block
        n, c, h, w = x.shape
        self.shape = x.shape
        x = x[:, :, : h - h % bh, : w - w % bw]
        blocks = x.reshape(n, c, h // bh, bh, w // bw, bw)
        y = blocks.max((3, 5))
        largest = blocks == y[:, :, :, None, :, None]
        self.share = largest / largest.sum((3, 5), keepdims=True, dtype=np.float32)
        return y

    def backward(self, dy):
        n, c, h, w = dy.shape
        (bh, bw), dx = self.block, np.zeros(self.shape, np.float32)
        dx[:, :, : h * bh, : w * bw] = (self.share * dy[:, :, :, None, :, None]).reshape(
            n, c, h * bh, w * bw
        )
        return dx

    def node(self, rank):
        return "MaxPool", {"kernel_shape": self.block[-rank:], "strides": self.block[-rank:]}


class Flatten:
    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, dy):
        return dy.reshape(self.shape)

    def node(self, rank):
        return "Flatten", {}


class Gemm:
    """y = x w^T + b; x (samples, n_in), y (samples, n_out)."""

    def __init__(self, rng, n_in, n_out):
        self.w = (rng.standard_normal((n_out, n_in)) * np.sqrt(2 / n_in)).astype(np.float32)
        self.b = np.zeros(n_out, np.float32)

    def forward(self, x):
        self.x = x
        return x @ self.w.T + self.b

    def backward(self, dy):
        self.dw, self.db = dy.T @ self.x, dy.sum(0)
        return dy @ self.w

    def node(self, rank):
        return "Gemm", {"transB": 1}


def forward(layers, x):
    """Return the output of the last layer."""
    for layer in layers:
        x = layer.forward(x)
    return x


def cross_entropy(logits, labels):
    """Return the gradient of the mean cross entropy with respect to the logits."""
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    p[np.arange(len(labels)), labels] -= 1
    return p / len(labels)


def squared_error(y, expected):
    """Return the gradient of the mean squared error with respect to y."""
    return 2 * (y - expected) / y.size


def backward(layers, d):
    """Compute the gradients dw and db of each layer, from d, that of the last output."""
    for layer in reversed(layers):
        d = layer.backward(d)


class Adam:
    """Adam (Kingma and Ba, 2015) over the layers that have weights."""

    def __init__(self, layers):
        self.slots = [(m, k) for m in layers if hasattr(m, "w") for k in "wb"]
        self.moments = [[np.zeros_like(getattr(m, k)) for _ in "mv"] for m, k in self.slots]
        self.t = 0

    def step(self, rate, decay=(0.9, 0.999)):
        self.t += 1
        for (layer, k), (m, v) in zip(self.slots, self.moments, strict=True):
            g = getattr(layer, "d" + k)
            m += (1 - decay[0]) * (g - m)
            v += (1 - decay[1]) * (g * g - v)
            m_hat, v_hat = m / (1 - decay[0] ** self.t), v / (1 - decay[1] ** self.t)
            getattr(layer, k)[...] -= rate * m_hat / (np.sqrt(v_hat) + 1e-8)


def train(
    layers,
    rng,
    x: np.ndarray,
    expected: np.ndarray,
    epochs: int,
    batch: int = 32,
    rate: float = 3e-3,
    loss: Callable = cross_entropy,
) -> None:
    """Train with Adam over shuffled batches; the rate decays to 0 along half a cosine."""
    adam = Adam(layers)
    for epoch in trange(epochs, desc="train", unit="epoch", disable=not sys.stderr.isatty()):
        now = rate * (1 + np.cos(np.pi * epoch / epochs)) / 2
        order = rng.permutation(len(x))
        for first in range(0, len(order), batch):
            some = order[first : first + batch]
            backward(layers, loss(forward(layers, x[some]), expected[some]))
            adam.step(now)


def fold_scale(layer, mean, std) -> None:
    """Let the first layer take x directly, after training with (x - mean) / std.

    mean and std are numbers, or one for each input channel or feature; x must not be padded with
    zeros.
    """
    n_in = layer.w.shape[1]
    tail = [1] * (layer.w.ndim - 2)
    mean, std = (np.broadcast_to(v, n_in).reshape(1, n_in, *tail) for v in (mean, std))
    layer.w = (layer.w / std).astype(np.float32)
    layer.b = (layer.b - (layer.w * mean).reshape(len(layer.b), -1).sum(1)).astype(np.float32)


def onnx_model(layers, name: str, x: str, shape: tuple[int, ...], y: str) -> onnx.ModelProto:
    """Return the network as ONNX: x float32 of this shape -> y float32 (1, n of the last layer).

    A shape (1, channels, length) makes the convolutions one-dimensional.
    """
    rank = max(1, len(shape) - 2)
    nodes, weights, value = [], [], x
    for i, layer in enumerate(layers):
        op, attributes = layer.node(rank)
        names = [f"{op.lower()}{i}_{k}" for k in "wb"] if hasattr(layer, "w") else []
        for label, k in zip(names, "wb", strict=False):
            array = getattr(layer, k)
            if array.ndim == 4:
                array = array.reshape(*array.shape[:2], *layer.kernel[-rank:])
            weights.append(numpy_helper.from_array(array, label))
        out = y if i == len(layers) - 1 else f"{op.lower()}{i}"
        nodes.append(helper.make_node(op, [value, *names], [out], out, **attributes))
        value = out
    n_out = [len(layer.b) for layer in layers if hasattr(layer, "b")][-1]
    infos = [
        helper.make_tensor_value_info(*of)
        for of in ((x, TensorProto.FLOAT, shape), (y, TensorProto.FLOAT, (1, n_out)))
    ]
    graph = helper.make_graph(nodes, name, infos[:1], infos[1:], weights)
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="mpconnxr")
    onnx.checker.check_model(model, full_check=True)
    return model
