"""Trains the network in numpy; writes digits.onnx and digits_test.npz beside this file.

    python -m examples.digits.train

The data are scikit-learn's: 1,797 images of 8 x 8 pixels from 0 to 16, a quarter kept for the
test. The seeds are fixed: on one machine the same files come out each time.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import trange

from .network import Adam, Conv3x3, Flatten, Gemm, MaxPool2x2, Relu, backward, forward

HERE = Path(__file__).parent
WHITE = 16  # the largest pixel; the network sees pixels divided by it
EPOCHS, BATCH, RATE = 60, 32, 3e-3


def main() -> int:
    train_x, test_x, train_y, test_y = split()
    rng = np.random.default_rng(0)
    layers = [Conv3x3(rng, 1, 12), Relu(), MaxPool2x2(), Conv3x3(rng, 12, 32), Relu()]
    layers += [MaxPool2x2(), Flatten(), Gemm(rng, 128, 32), Relu(), Gemm(rng, 32, 10)]
    train(layers, rng, train_x, train_y)
    right = (forward(layers, scaled(test_x)).argmax(1) == test_y).sum()
    print(f"test accuracy: {right} of {len(test_y)}, {right / len(test_y):.1%}")
    onnx.save(onnx_model(layers), HERE / "digits.onnx")
    np.savez_compressed(HERE / "digits_test.npz", images=test_x, labels=test_y)
    return 0


def split():
    """Images uint8 (n, 8, 8) and labels uint8 (n,): train and test in turn."""
    digits = load_digits()
    images, labels = digits.images.astype(np.uint8), digits.target.astype(np.uint8)
    return train_test_split(images, labels, test_size=0.25, stratify=labels, random_state=0)


def scaled(images):
    """Pixels as the network takes them: float32 (n, 1, 8, 8) from 0 to 1."""
    return images[:, None].astype(np.float32) / WHITE


def train(layers, rng, images, labels):
    """Adam over shuffled batches, its rate falling to 0 as half a cosine."""
    adam = Adam(layers)
    for epoch in trange(EPOCHS, desc="train", unit="epoch", disable=not sys.stderr.isatty()):
        rate = RATE * (1 + np.cos(np.pi * epoch / EPOCHS)) / 2
        order = rng.permutation(len(images))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            logits = forward(layers, scaled(images[batch]))
            backward(layers, logits, labels[batch])
            adam.step(rate)


def onnx_model(layers) -> onnx.ModelProto:
    """The network as ONNX: image float32 (1, 1, 8, 8) -> logits float32 (1, 10)."""
    attributes = {
        "Conv": {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]},
        "MaxPool": {"kernel_shape": [2, 2], "strides": [2, 2]},
        "Gemm": {"transB": 1},
    }
    nodes, weights, value = [], [], "image"
    for i, layer in enumerate(layers):
        op = type(layer).__name__.removesuffix("3x3").removesuffix("2x2")
        names = [f"{op.lower()}{i}_{k}" for k in "wb"] if hasattr(layer, "w") else []
        for name, k in zip(names, "wb", strict=False):
            weights.append(numpy_helper.from_array(getattr(layer, k), name))
        out = "logits" if i == len(layers) - 1 else f"{op.lower()}{i}"
        nodes.append(helper.make_node(op, [value, *names], [out], out, **attributes.get(op, {})))
        value = out
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, (1, 1, 8, 8))
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, (1, 10))
    graph = helper.make_graph(nodes, "digits", [image], [logits], weights)
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="mpconnxr")
    onnx.checker.check_model(model, full_check=True)
    return model


if __name__ == "__main__":
    sys.exit(main())
