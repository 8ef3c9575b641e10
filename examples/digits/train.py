"""Train the network in numpy; write digits.onnx and digits_test.npz beside this file.

    python -m examples.digits.train

The data are scikit-learn's: 1,797 images of 8 x 8 pixels from 0 to 16, a quarter of them for the
test. The seeds are fixed: on one computer the results repeat.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from ..network import Conv, Flatten, Gemm, MaxPool, Relu, forward, onnx_model, train

HERE = Path(__file__).parent
WHITE = 16  # the largest pixel; the network sees pixels divided by it
EPOCHS = 60


def main() -> int:
    train_x, test_x, train_y, test_y = split()
    rng = np.random.default_rng(0)
    layers = [Conv(rng, 1, 12), Relu(), MaxPool(), Conv(rng, 12, 32), Relu()]
    layers += [MaxPool(), Flatten(), Gemm(rng, 128, 32), Relu(), Gemm(rng, 32, 10)]
    train(layers, rng, scaled(train_x), train_y, EPOCHS)
    right = (forward(layers, scaled(test_x)).argmax(1) == test_y).sum()
    print(f"test accuracy: {right} of {len(test_y)}, {right / len(test_y):.1%}")
    model = onnx_model(layers, "digits", "image", (1, 1, 8, 8), "logits")
    onnx.save(model, HERE / "digits.onnx")
    np.savez_compressed(HERE / "digits_test.npz", images=test_x, labels=test_y)
    return 0


def split():
    """Return images uint8 (n, 8, 8) for training and test, then labels uint8 (n,) of both."""
    digits = load_digits()
    images, labels = digits.images.astype(np.uint8), digits.target.astype(np.uint8)
    return train_test_split(images, labels, test_size=0.25, stratify=labels, random_state=0)


def scaled(images):
    """Return pixels as the network takes them: float32 (n, 1, 8, 8) from 0 to 1."""
    return images[:, None].astype(np.float32) / WHITE


if __name__ == "__main__":
    sys.exit(main())
