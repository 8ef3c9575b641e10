"""Shared by the scripts of this folder: where the model goes, and the next command."""

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
    """Save a ModelProto and samples; see save_samples."""
    folder = folder_of(argv)
    onnx.save(model, folder / f"{name}.onnx")
    save_samples(folder, name, samples, outputs)


def save_samples(folder, name, samples, outputs):
    """Save samples beside the model and print the next command.

    Args:
        folder: of the model.
        name: of the model, without .onnx.
        samples: inputs to try it with, one per row.
        outputs: outputs of the trained model for the first row, one array per output of the .onnx,
            with which the converter compares its own.
    """
    path = folder / name
    np.save(f"{path}.npy", samples)
    np.save(f"{path}_x.npy", samples[:1])
    expected = [f"{path}_y.npy", *(f"{path}_y_{k}.npy" for k in range(1, len(outputs)))]
    for file, output in zip(expected, outputs, strict=True):
        np.save(file, output)
    options = f"--golden {path}_x.npy --expect {' '.join(expected)}"
    print(f"mpconnxr convert {path}.onnx {path}.bin {options}")
