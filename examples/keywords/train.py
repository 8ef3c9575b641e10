"""Train the network in numpy on synthesised words; write keywords.onnx beside this file.

    python -m examples.keywords.train

The features are computed by numpy (features.py); a board computes them in integers
(mpconnxr.io.audio). The seeds are fixed: on one computer the results repeat.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx

from ..network import Conv, Flatten, Gemm, MaxPool, Relu, fold_scale, forward, onnx_model, train
from . import data, features

HERE = Path(__file__).parent
EPOCHS, N_TRAIN, N_TEST = 16, 2500, 300


def main() -> int:
    rng = np.random.default_rng(0)
    layers = [Conv(rng, 1, 8, (3, 3), (0, 0)), Relu(), MaxPool()]
    layers += [Conv(rng, 8, 16), Relu(), MaxPool(3, 3)]
    layers += [Flatten(), Gemm(rng, 336, len(data.LABELS))]
    x, labels = of_clips(N_TRAIN, seed=0)
    mean, std = x.mean(), x.std()
    train(layers, rng, (x - mean) / std, labels, EPOCHS)
    fold_scale(layers[0], mean, std)  # a board passes raw logarithms
    x, labels = of_clips(N_TEST, seed=1)
    right = (forward(layers, x).argmax(1) == labels).sum()
    print(f"test accuracy: {right} of {N_TEST}, {right / N_TEST:.1%}")
    shape = (1, 1, features.FRAMES, features.BANDS)
    onnx.save(onnx_model(layers, "keywords", "log_mel", shape, "logits"), HERE / "keywords.onnx")
    return 0


def of_clips(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-mel spectra of n clips, and their classes."""
    clips, labels = data.clips(n, seed)
    return features.of_clips(clips), labels


if __name__ == "__main__":
    sys.exit(main())
