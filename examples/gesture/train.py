"""Train the network in numpy on simulated readings; write gesture.onnx beside this file.

    python -m examples.gesture.train

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
EPOCHS, N_TRAIN, N_TEST = 25, 2500, 500


def main() -> int:
    rng = np.random.default_rng(0)
    layers = [Conv(rng, 3, 8, (1, 5), (0, 0)), Relu(), MaxPool(1, 2)]
    layers += [Conv(rng, 8, 16, (1, 5), (0, 0)), Relu(), MaxPool(1, 4)]
    layers += [Flatten(), Gemm(rng, 96, len(data.LABELS))]
    x, labels = data.windows(N_TRAIN, seed=0)
    train(layers, rng, planes(x) / data.COUNTS, labels, EPOCHS)
    fold_scale(layers[0], 0, data.COUNTS)  # a board passes raw counts
    x, labels = data.windows(N_TEST, seed=1)
    right = (forward(layers, planes(x)).argmax(1) == labels).sum()
    print(f"test accuracy: {right} of {N_TEST}, {right / N_TEST:.1%}")
    onnx.save(onnx_model(layers, "gesture", "counts", (1, 3, data.N), "logits"), model_path())
    return 0


def model_path() -> Path:
    return HERE / "gesture.onnx"


def planes(x: np.ndarray) -> np.ndarray:
    """Return windows (n, 64, 3) as the network takes them: float32 (n, 3, 1, 64)."""
    return x.transpose(0, 2, 1)[:, :, None].astype(np.float32)


if __name__ == "__main__":
    sys.exit(main())
