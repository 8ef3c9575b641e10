"""Recognize files that are not what a command needs by their contents, and say what to do.

All commands that read a model.onnx or a model.bin call `check_onnx` or `check_bin` first.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from tools.errors import ConvertError

_HEAD = 64  # bytes at the start of a file by which most kinds are known
_PAGE = "docs/export.md"
_INFLATE = (15 | 32, -15)  # zlib's window: 32 accepts zlib and gzip


def check_onnx(path: Path) -> None:
    """Refuse a file of another kind where a model.onnx is needed.

    Raises:
        ConvertError: if the contents are those of another known kind.
    """
    problem = ""
    with contextlib.suppress(OSError):
        if path.is_dir():
            problem = _folder(path)
        elif path.is_file():
            with path.open("rb") as file:
                problem = "" if is_onnx(file) else _problem(file, path)
                if not problem and _is_bin(file):
                    problem = (
                        f"{path} is converted already: mpconnxr run, flash and inspect take it; "
                        "give the .onnx here"
                    )
    if problem:
        raise ConvertError(problem)


def check_bin(path: Path, data: bytes | None = None) -> None:
    """Refuse a file of another kind where a model.bin or a tensor's .bin is needed.

    Args:
        path: how messages name the file.
        data: its contents; None to read them.

    Raises:
        ConvertError: if it is not a converted file.
        OSError: if it cannot be read.
    """
    with path.open("rb") if data is None else io.BytesIO(data) as file:
        if _is_bin(file):
            return
        if is_onnx(file) or path.suffix == ".onnx":
            made = path.with_suffix(".bin")
            raise ConvertError(
                f"{path} is not converted yet: mpconnxr convert {_quoted(path)} makes {made.name}"
            )
        raise ConvertError(
            _problem(file, path)
            or f"{path} is not a model.bin, which mpconnxr convert makes of a model.onnx"
        )


def is_onnx(file: BinaryIO) -> bool:
    """Return True if a file starts like an ONNX model: its IR version, then another field."""
    return bool(re.match(rb"\x08[\x01-\x7f][\x12\x1a\x22\x28\x32\x3a\x42\x72]", _head(file)))


def _is_bin(file):
    from tools.format import layout  # which imports numpy

    return _head(file).startswith(layout.MAGIC)


def _head(file):
    file.seek(0)
    return file.read(_HEAD)


def _folder(path):
    if not (path / "saved_model.pb").is_file():
        return ""
    return (
        f"{path} is a TensorFlow SavedModel: make an .onnx of it with python -m tf2onnx.convert "
        f"--saved-model {_quoted(path)} --output {path.name}.onnx ({_PAGE})"
    )


def _problem(file, path):
    """Return what a file is and how an .onnx is made of it; "" if its kind is not known."""
    kind = next((kind for kind, is_kind in _KINDS.items() if is_kind(file, _head(file))), None)
    if not kind:
        return ""
    return _ADVICE[kind].format(path=path, file=_quoted(path), onnx=_quoted(f"{path.stem}.onnx"))


def _quoted(path):
    return shlex.quote(str(path))


def _is_zip_of(*patterns: str) -> Callable[[BinaryIO, bytes], bool]:
    """Return a test whether a file is a zip archive with a member of a name like each pattern."""

    def is_kind(file, head):
        if not head.startswith(b"PK\x03\x04"):
            return False
        try:
            with zipfile.ZipFile(file) as archive:
                names = archive.namelist()
        except (zipfile.BadZipFile, ValueError):
            return False
        return all(any(re.fullmatch(p, name) for name in names) for p in patterns)

    return is_kind


def _is_pickle(file, head):
    """Return True for a pickle from protocol 2, also if joblib has compressed it."""
    for window in _INFLATE:
        with contextlib.suppress(zlib.error):
            head = zlib.decompressobj(window).decompress(head, 16) or head
            break
    return bool(re.match(rb"\x80[\x02-\x05]", head))


def _is_safetensors(file, head):
    size = file.seek(0, io.SEEK_END)
    return head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= size - 8


def _starts(*heads: bytes) -> Callable[[BinaryIO, bytes], bool]:
    return lambda file, head: head.startswith(heads)


def _is_page(file, head):
    return head.lstrip().lower().startswith((b"<!doctype html", b"<html"))


# The first that holds; torch.save has written a zip since 1.6, and before a pickle of this number.
_KINDS = {
    "tflite": lambda file, head: head[4:8] == b"TFL3",
    "ort": lambda file, head: head[4:8] == b"ORTM",
    "keras": _is_zip_of(r"config\.json", r"model\.weights\.h5"),
    "h5": _starts(b"\x89HDF\r\n\x1a\n"),
    "program": _is_zip_of(r"(.*/)?models/[^/]*\.json"),
    "torchscript": _is_zip_of(r"(.*/)?data\.pkl", r"(.*/)?code/.*"),
    "torch": _is_zip_of(r"(.*/)?data\.pkl"),
    "old torch": _starts(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."),
    "npz": _is_zip_of(r".*\.npy"),
    "npy": _starts(b"\x93NUMPY"),
    "safetensors": _is_safetensors,
    "gguf": _starts(b"GGUF"),
    "lightgbm": _starts(b"tree\nversion="),
    "xgboost": _starts(b'{"learner"', b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner"),
    "catboost": _starts(b"CBM1"),
    "lfs": _starts(b"version https://git-lfs"),
    "page": _is_page,
    "pickle": _is_pickle,
}
_TORCH = (
    "make an .onnx in Python: torch.onnx.export(model, (x,), '{onnx}', dynamo=True)"
    + f" ({_PAGE})"
)
_KERAS = (
    "{path} is a Keras model: make an .onnx of it in Python: "
    "keras.models.load_model('{path}').export('{onnx}', format='onnx')" + f" ({_PAGE})"
)
_ADVICE = {
    "tflite": "{path} is a TensorFlow Lite model: make an .onnx of it with python -m "
    "tf2onnx.convert --tflite {file} --output {onnx}" + f" ({_PAGE})",
    "ort": "{path} is a model in onnxruntime's own format: give the .onnx that it was made of",
    "keras": _KERAS,
    "h5": _KERAS.replace("a Keras model", "HDF5, as Keras saves models"),
    "program": "{path} is a PyTorch program of torch.export.save: load it with "
    "torch.export.load('{path}'), and " + _TORCH.replace("model, (x,)", "program"),
    "torchscript": "{path} is a TorchScript model: "
    + _TORCH
    + " of the model that it was made of",
    "torch": "{path} is what torch.save writes, a model or its weights: load it, call eval() and "
    + _TORCH,
    "npz": "{path} has arrays of numpy, not a model",
    "npy": "{path} has an array of numpy, not a model",
    "safetensors": "{path} has weights without a model: load them into the model, and " + _TORCH,
    "gguf": "{path} is a language model in GGUF, which mpconnxr does not convert",
    "lightgbm": "{path} is a LightGBM model: make an .onnx of it in Python with "
    f"onnxmltools.convert_lightgbm ({_PAGE})",
    "xgboost": "{path} is an XGBoost model: make an .onnx of it in Python with "
    f"onnxmltools.convert_xgboost ({_PAGE})",
    "catboost": "{path} is a CatBoost model: make an .onnx of it in Python with "
    "model.save_model('{onnx}', format='onnx')" + f" ({_PAGE})",
    "lfs": "{path} is a pointer of Git LFS in place of the file: git lfs pull fetches it",
    "page": "{path} is a page of HTML, not a model: download the file itself",
    "pickle": "{path} is a Python pickle, as scikit-learn's models are saved: load it in Python, "
    "and make an .onnx with skl2onnx.to_onnx(model, x[:1])" + f" ({_PAGE})",
}
_ADVICE["old torch"] = _ADVICE["torch"]
