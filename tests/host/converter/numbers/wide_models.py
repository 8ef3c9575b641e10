"""Models for the tests of how wide values may be in block floating point.

    python -m tests.host.converter.numbers.wide_models autoencoder.onnx

writes the autoencoder, for example for tools.bench.
"""

from __future__ import annotations

import sys

import numpy as np
import onnx

from tests.host.device import small

CHANNELS = (1, 8, 16)
SIZE = 28


def autoencoder(gain: float = 1.0, dark: float = 10.0, seed: int = 1) -> onnx.ModelProto:
    """Return an autoencoder: Conv and Relu twice, ConvTranspose twice, Sigmoid.

    `gain` multiplies all weights. `dark` is subtracted before the Sigmoid, whose result
    onnxruntime rounds to a multiple of 2**-24.
    """
    rng = np.random.default_rng(seed)
    nodes, constants, value = [], {}, "x"

    def add(kind, name, shape, n_sums, biases, **attrs):
        nonlocal value
        w = gain * rng.standard_normal(shape) * np.sqrt(2 / n_sums)
        constants.update({f"{name}.w": np.float32(w), f"{name}.b": np.float32(biases)})
        nodes.append((kind, f"{value} {name}.w {name}.b", f"{name}.y", {"name": name, **attrs}))
        value = f"{name}.y"

    def activate(kind):
        nonlocal value
        nodes.append((kind, value, f"{value}.a", {}))
        value += ".a"

    layers = list(zip(CHANNELS, CHANNELS[1:], strict=False))
    for i, (c, m) in enumerate(layers):
        biases = 0.1 * rng.standard_normal(m)
        attrs = {"pads": [1, 1, 1, 1], "strides": [2, 2]}
        add("Conv", f"encode{i}", (m, c, 3, 3), 9 * c, biases, **attrs)
        activate("Relu")
    for i, (c, m) in reversed(list(enumerate(layers))):
        biases = 0.1 * rng.standard_normal(c) - (0 if i else dark)
        add("ConvTranspose", f"decode{i}", (m, c, 2, 2), m, biases, strides=[2, 2])
        activate("Relu" if i else "Sigmoid")
    shape = (1, CHANNELS[0], SIZE, SIZE)
    return small.model(nodes, [small.value("x", shape)], [small.value(value, shape)], **constants)


def features(kind: str = "Conv") -> tuple[onnx.ModelProto, np.ndarray]:
    """Return a Conv, ConvTranspose, Gemm or MatMul, and an input of channels from 1e-3 to 1e6.

    All channels count equally in the result.
    """
    rng = np.random.default_rng(2)
    sizes = np.array([1e6, 1.0, 1e-3, 1e2])
    x = rng.standard_normal((1, 4, 6, 6)) * sizes[:, None, None]
    w = rng.standard_normal((5, 4, 3, 3)) / sizes[:, None, None]
    shape = (1, 5, 4, 4)
    if kind == "ConvTranspose":
        w, shape = w.swapaxes(0, 1), (1, 5, 8, 8)
    elif kind in ("Gemm", "MatMul"):
        x = rng.standard_normal((3, 4)) * sizes
        w, shape = rng.standard_normal((4, 5)) / sizes[:, None], (3, 5)
    inputs = [small.value("x", x.shape)]
    nodes = [(kind, "x w", "t", {"name": "mixed"}), ("Relu", "t", "y", {})]
    model = small.model(nodes, inputs, [small.value("y", shape)], w=np.float32(w))
    return model, np.float32(x)


def spikes() -> tuple[onnx.ModelProto, np.ndarray]:
    """Return a model of the logarithm of a convolution, and its input, an image.

    A few elements of the image are 1e7: most sums do not include them.
    """
    rng = np.random.default_rng(3)
    x = rng.uniform(0.5, 2, (1, 1, 12, 12))
    x[0, 0, 5, 5:7] = 1e7
    w = rng.uniform(0.1, 1, (2, 1, 3, 3))
    nodes = [("Conv", "x w", "t", {"name": "spiked"}), ("Log", "t", "y", {})]
    inputs, outputs = [small.value("x", x.shape)], [small.value("y", (1, 2, 10, 10))]
    return small.model(nodes, inputs, outputs, w=np.float32(w)), np.float32(x)


if __name__ == "__main__":
    onnx.save(autoencoder(), sys.argv[1])
