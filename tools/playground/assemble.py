"""Assemble the page and all that it needs in a folder that any web server can serve."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from tools import romfs
from tools.converter.convert import Options, convert
from tools.deploy.modules import built_package
from tools.errors import UsageError
from tools.micropython import get_target

PAGE = Path(__file__).parents[2] / "docs" / "playground"
EXAMPLE = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"
IMAGE = "mpconnxr.romfs"  # marks a folder as written by assemble()
_SHOWN, _BRIGHTEST = 0, 16  # index of the example's picture, and its white
_SESSION = "session.py"  # runs in MicroPython, so it belongs into the image


def assemble(folder: Path) -> Path:
    """Write the page into a folder and return it.

    Args:
        folder: new, empty, or written by this function before.

    Raises:
        UsageError: if the folder has other files.
        TargetError: if MicroPython cannot be installed.
        OSError: if a file cannot be written.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / IMAGE).is_file():
        raise UsageError(f"{folder} has other files: give an empty or a new folder")
    micropython = get_target("webassembly").build()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / IMAGE).write_bytes(image())
    for path in [*PAGE.iterdir(), micropython, micropython.with_suffix(".wasm")]:
        if path.is_file() and path.name != _SESSION:
            shutil.copyfile(path, folder / path.name)
    (folder / "digits.bin").write_bytes(example())
    return folder


def example() -> bytes:
    """Return the digits model with one picture as its test vector."""
    with np.load(EXAMPLE.with_name("digits_test.npz")) as data:
        picture = data["images"][_SHOWN].astype(np.float32) / _BRIGHTEST
    return convert(EXAMPLE, Options(golden=[picture[None, None]])).data


def image() -> bytes:
    """Return a ROMFS with the device package, its loops in plain form, and the page's session."""
    files = {_SESSION: (PAGE / _SESSION).read_bytes()}
    package = built_package()
    for path in package.paths():
        if package.loops.form_of(path) in (None, "plain"):
            files[package.place(path)] = path.read_bytes()
    return romfs.image_of(files)
