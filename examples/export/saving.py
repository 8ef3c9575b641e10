"""What the scripts share: where the model goes, and what to do with it."""

import argparse
from pathlib import Path

import numpy as np
import onnx


def folder_of(argv, about="where to write the model"):
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path, default=Path("."), help=about)
    folder = parser.parse_args(argv).folder
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def save(model, name, argv, samples, outputs):
    """model: a ModelProto; samples, outputs: see tell."""
    folder = folder_of(argv)
    onnx.save(model, folder / f"{name}.onnx")
    tell(folder, name, samples, outputs)


def tell(folder, name, samples, outputs):
    """Keeps samples beside the model and prints the next command.

    samples: inputs to try it with, a row each; outputs: what the trained model computes of the
    first row, an array for each output of the .onnx, with which the converter compares it.
    """
    path = folder / name
    np.save(f"{path}.npy", samples)
    np.save(f"{path}_x.npy", samples[:1])
    expected = [f"{path}_y.npy", *(f"{path}_y_{k}.npy" for k in range(1, len(outputs)))]
    for file, output in zip(expected, outputs, strict=True):
        np.save(file, output)
    given = f"--golden {path}_x.npy --expect {' '.join(expected)}"
    print(f"mpconnxr convert {path}.onnx {path}.bin {given}")
