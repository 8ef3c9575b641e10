"""Train the network in numpy on drawn frames; write shapes.onnx beside this file.

    python -m examples.shapes.train

The seeds are fixed: on one computer the results repeat.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx

from ..network import Conv, Flatten, Gemm, MaxPool, Relu, fold_scale, forward, onnx_model, train
from . import data

HERE = Path(__file__).parent
EPOCHS, N_TRAIN, N_TEST = 14, 1600, 400


def main() -> int:
    rng = np.random.default_rng(0)
    layers = [Conv(rng, 1, 8, pads=(0, 0)), Relu(), MaxPool(), Conv(rng, 8, 16), Relu(), MaxPool()]
    layers += [Conv(rng, 16, 16), Relu(), MaxPool(), Flatten(), Gemm(rng, 144, len(data.LABELS))]
    x, labels = of_frames(N_TRAIN, seed=0)
    mean, std = x.mean(), x.std()
    train(layers, rng, (x - mean) / std, labels, EPOCHS, batch=16)
    fold_scale(layers[0], mean, std)
    x, labels = of_frames(N_TEST, seed=1)
    right = (forward(layers, x).argmax(1) == labels).sum()
    print(f"test accuracy: {right} of {N_TEST}, {right / N_TEST:.1%}")
    shape = (1, 1, data.SIDE, data.SIDE)
    onnx.save(onnx_model(layers, "shapes", "picture", shape, "logits"), HERE / "shapes.onnx")
    return 0


def of_frames(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures as the network takes them, and their classes."""
    frames, labels = data.frames(n, seed)
    return data.gray(frames), labels


if __name__ == "__main__":
    sys.exit(main())
