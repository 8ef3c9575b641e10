"""Read .onnx files and their external data: tensors in other files of the same folder.

onnx itself makes sure that no path or link leads out of the folder and that a tensor's data lie
inside its file. This module also refuses tensors that claim more than the disk holds.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import onnx
from onnx import TensorProto, external_data_helper

from tools import foreign, limits

from ..errors import ConvertError, text_of
from ..ir import ITEMSIZES, packed_bits
from ..protos import walk

_FREE_NBYTES = 64 << 20  # by which tensors may exceed the disk: some share their data


def read(path: Path) -> onnx.ModelProto:
    """Read a model without its external data.

    Raises:
        ConvertError: if the file cannot be read or is not an ONNX model.
    """
    limits.at(f"reading {path}")
    try:
        if not stat.S_ISREG(os.stat(path).st_mode) and not path.is_dir():
            raise ConvertError(f"{path} is not a file: save the model in one")
        foreign.check_onnx(path)
        return onnx.load(path, load_external_data=False)
    except OSError as e:
        raise ConvertError(text_of(e)) from None
    except ConvertError:
        raise
    except Exception as e:  # protobuf and onnx raise many kinds for a damaged file
        raise ConvertError(f"{path} cannot be read as an ONNX model: {e}") from None


def load(model: onnx.ModelProto, path: Path) -> None:
    """Read the external data of a model into it, in place.

    Raises:
        ConvertError: if a file of data is missing, damaged or does not fit.
    """
    limits.grow(path.stat().st_size)
    tensors = list(_tensors(model))
    if not tensors:
        return
    limits.at(f"reading the external data of {path}")
    try:
        _check_size(tensors, path)
        for tensor in tensors:
            _check(tensor)
            external_data_helper.load_external_data_for_tensor(tensor, str(path.parent))
            tensor.data_location = TensorProto.DEFAULT  # before 1.23, onnx leaves that to callers
            del tensor.external_data[:]
    except Exception as e:  # onnx raises several kinds
        missing = next((f for f in _files(tensors, path.parent) if not f.exists()), None)
        what = (
            f"data file {missing} is missing" if missing else f"data: {' '.join(str(e).split())}"
        )
        raise ConvertError(f"{path}: its external {what}") from e


def files_of(path: Path) -> list[Path]:
    """Return the files of external data of a model; none if the model cannot be read."""
    with suppress(ConvertError, OSError, UnicodeError):
        return list(_files(_tensors(read(path)), path.parent))
    return []


def _tensors(model) -> Iterator[TensorProto]:
    for message in walk(model):
        if isinstance(message, TensorProto) and external_data_helper.uses_external_data(message):
            yield message


def _files(tensors, folder) -> Iterator[Path]:
    locations = (e.value for t in tensors for e in t.external_data if e.key == "location")
    yield from (folder / location for location in dict.fromkeys(locations))


def _check_size(tensors, path):
    """Raise ValueError if tensors need more than the disk holds: a file may have holes."""
    stats = [f.stat() for f in _files(tensors, path.parent)]
    held = sum(min(s.st_size, getattr(s, "st_blocks", 1 << 53) * 512) for s in stats)
    required = sum(map(nbytes_of, tensors))
    if required > held + _FREE_NBYTES and required > 2 * held:
        raise ValueError(f"tensors of {required:,} bytes, but there are {held:,} on the disk")
    limits.grow(path.stat().st_size + held)


def _check(tensor):
    """Raise ValueError if the stated length of a tensor's data contradicts its shape."""
    lengths = [entry.value for entry in tensor.external_data if entry.key == "length"]
    if lengths and int(lengths[-1]) != nbytes_of(tensor):
        raise ValueError(
            f"{tensor.name} has length {lengths[-1]}, its shape {nbytes_of(tensor):,}"
        )


def nbytes_of(tensor: TensorProto) -> int:
    """Return the bytes of a tensor's data by its shape and dtype, packed if below 8 bits.

    Raises:
        ValueError: if shape or dtype is impossible.
    """
    if min(tensor.dims, default=0) < 0:
        raise ValueError(f"{tensor.name} has the shape {list(tensor.dims)}")
    try:
        bits = packed_bits(tensor.data_type) or 8 * ITEMSIZES[tensor.data_type]
    except KeyError:
        raise ValueError(f"{tensor.name} has no dtype") from None
    return -(-math.prod(tensor.dims) * bits // 8)
