"""Layers that the examples train have right gradients and equal their ONNX export."""

import numpy as np
import pytest

from examples import network
from tools.converter.reference.ort_session import open_session


@pytest.mark.parametrize("kernel, pads, block", [((3, 3), (1, 1), 2), ((2, 3), (0, 0), 3)])
def test_gradients_agree_with_finite_differences(kernel, pads, block):
    rng = np.random.default_rng(0)
    layers = [network.Conv(rng, 1, 2, kernel, pads), network.Relu(), network.MaxPool(block, block)]
    layers += [network.Conv(rng, 2, 2), network.Flatten()]
    x, labels = rng.random((4, 1, 8, 8)), np.array([0, 1, 2, 0])
    layers.append(network.Gemm(rng, network.forward(layers, x).shape[1], 3))
    learning = [layer for layer in layers if hasattr(layer, "w")]
    for layer in learning:
        layer.w, layer.b = layer.w.astype(np.float64), layer.b.astype(np.float64)

    def loss():
        logits = network.forward(layers, x)
        return np.mean(np.log(np.exp(logits).sum(1)) - logits[np.arange(4), labels])

    network.backward(layers, network.cross_entropy(network.forward(layers, x), labels))
    for layer in learning:
        for weights, gradient in ((layer.w, layer.dw), (layer.b, layer.db)):
            i = tuple(size - 1 for size in weights.shape)
            weights[i] += 1e-6
            above = loss()
            weights[i] -= 2e-6
            below = loss()
            weights[i] += 1e-6
            assert (above - below) / 2e-6 == pytest.approx(gradient[i], rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("shape", [(1, 3, 20), (1, 3, 9, 10)])
def test_onnx_computes_the_same_with_the_scale_folded(shape):
    rng = np.random.default_rng(1)
    h = 1 if len(shape) == 3 else 3
    layers = [network.Conv(rng, 3, 4, (h, 5), (0, 0)), network.Relu(), network.MaxPool(h, 2)]
    layers += [network.Flatten()]
    x = rng.standard_normal(shape).astype(np.float32)
    planes = x.reshape(1, 3, *shape[2:]) if len(shape) == 4 else x[:, :, None]
    mean, std = np.array([1, 2, 3]), np.array([0.5, 1, 2])
    scaled = (planes - mean.reshape(1, 3, 1, 1)) / std.reshape(1, 3, 1, 1)
    scaled = scaled.astype(np.float32)
    layers.append(network.Gemm(rng, network.forward(layers, scaled).shape[1], 4))
    expected = network.forward(layers, scaled)
    network.fold_scale(layers[0], mean, std)
    model = network.onnx_model(layers, "net", "x", shape, "y")
    session = open_session(model)
    np.testing.assert_allclose(session.run(None, {"x": x})[0], expected, rtol=1e-4, atol=1e-4)


def test_training_lowers_the_squared_error():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((64, 4)).astype(np.float32)
    layers = [network.Gemm(rng, 4, 4)]
    before = np.mean((network.forward(layers, x) - x) ** 2)
    network.train(layers, rng, x, x, epochs=100, rate=0.05, loss=network.squared_error)
    assert np.mean((network.forward(layers, x) - x) ** 2) < before / 10
