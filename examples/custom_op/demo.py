"""Convert a model with custom operators and their kernels, and run it under MicroPython.

    python -m examples.custom_op.demo

It writes denoise.onnx, denoise.bin and signal.npy to build/custom_op.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx

from tools.converter import __main__ as converter
from tools.run import __main__ as run

from .network import ACME, network, noisy_signal

HERE = Path(__file__).parent
BUILD = HERE.parent.parent / "build" / "custom_op"
OPS = HERE / "ops"


def main() -> int:
    BUILD.mkdir(parents=True, exist_ok=True)
    model, binary, signal = (BUILD / n for n in ("denoise.onnx", "denoise.bin", "signal.npy"))
    onnx.save(network(), model)
    np.save(signal, noisy_signal())
    own = ["--ops", str(OPS)]
    status = converter.main([str(model), str(binary), *own, "--allow-domain", ACME])
    return status or run.main([str(binary), str(signal), *own, "--compare", str(model)])


if __name__ == "__main__":
    sys.exit(main())
