"""The layers of a small convolutional network in numpy, each with its gradient, and Adam.

x, y: float32 (images, channels, height, width), or (images, features) where noted.
"""

from __future__ import annotations

import numpy as np


class Conv3x3:
    """y = w * x + b with one pixel of zeros around x, so that y has the size of x."""

    def __init__(self, rng, n_in, n_out):
        scale = np.sqrt(2 / (9 * n_in))
        self.w = (rng.standard_normal((n_out, n_in, 3, 3)) * scale).astype(np.float32)
        self.b = np.zeros(n_out, np.float32)

    def forward(self, x):
        self.shape = x.shape
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        n, c, h, w = x.shape
        # im2col: one row a pixel, so that the convolution is a product of matrices
        self.rows = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, c * 9)
        y = self.rows @ self.w.reshape(len(self.b), -1).T + self.b
        return y.reshape(n, h, w, -1).transpose(0, 3, 1, 2)

    def backward(self, dy):
        n, c, h, w = self.shape
        dy = dy.transpose(0, 2, 3, 1).reshape(n * h * w, -1)
        self.dw = (dy.T @ self.rows).reshape(self.w.shape)
        self.db = dy.sum(0)
        d_rows = (dy @ self.w.reshape(len(self.b), -1)).reshape(n, h, w, c, 3, 3)
        dx = np.zeros((n, c, h + 2, w + 2), np.float32)
        for i in range(3):
            for j in range(3):
                dx[:, :, i : i + h, j : j + w] += d_rows[..., i, j].transpose(0, 3, 1, 2)
        return dx[:, :, 1:-1, 1:-1]


class Relu:
    def forward(self, x):
        self.positive = x > 0
        return x * self.positive

    def backward(self, dy):
        return dy * self.positive


class MaxPool2x2:
    """The largest of each 2 x 2 pixels; its gradient goes to the pixels that are as large."""

    def forward(self, x):
        n, c, h, w = x.shape
        blocks = x.reshape(n, c, h // 2, 2, w // 2, 2)
        y = blocks.max((3, 5))
        largest = blocks == y[:, :, :, None, :, None]
        self.share = largest / largest.sum((3, 5), keepdims=True, dtype=np.float32)
        return y

    def backward(self, dy):
        n, c, h, w = dy.shape
        return (self.share * dy[:, :, :, None, :, None]).reshape(n, c, 2 * h, 2 * w)


class Flatten:
    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, dy):
        return dy.reshape(self.shape)


class Gemm:
    """y = x w^T + b; x (images, n_in), y (images, n_out)."""

    def __init__(self, rng, n_in, n_out):
        self.w = (rng.standard_normal((n_out, n_in)) * np.sqrt(2 / n_in)).astype(np.float32)
        self.b = np.zeros(n_out, np.float32)

    def forward(self, x):
        self.x = x
        return x @ self.w.T + self.b

    def backward(self, dy):
        self.dw, self.db = dy.T @ self.x, dy.sum(0)
        return dy @ self.w


def forward(layers, x):
    """The logits (images, classes)."""
    for layer in layers:
        x = layer.forward(x)
    return x


def backward(layers, logits, labels):
    """Leaves the gradient of the mean cross entropy in each layer's dw and db."""
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    p[np.arange(len(labels)), labels] -= 1
    d = p / len(labels)
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
