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


def save(model, name, argv, samples):
    """model: a ModelProto; samples: inputs to try it with, a row each."""
    folder = folder_of(argv)
    onnx.save(model, folder / f"{name}.onnx")
    tell(folder, name, samples)


def tell(folder, name, samples):
    """Keeps samples beside the model and prints the next command."""
    np.save(folder / f"{name}.npy", samples)
    path = folder / name
    print(f"mpconnxr convert {path}.onnx {path}.bin")
