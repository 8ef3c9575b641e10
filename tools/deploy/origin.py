"""Whether a model may go to a board: who signed it, and that the one there is not newer."""

from __future__ import annotations

import argparse
import base64
import struct
from pathlib import Path

from tools.errors import ConvertError
from tools.format import layout

from . import answers
from .device import Device
from .errors import DeployError
from .model_file import ModelFile
from .slots import Slots

_CODE = (Path(__file__).parent / "on_board_models.py").read_text()
_PIECE = 1536  # bytes in one command
_SEAL_NBYTES = 132


def check_signature(model: ModelFile, key: Path | None) -> None:
    """Raises DeployError unless the owner of the key signed the model; no key takes all."""
    if key is None:
        return
    from tools import keys, seal

    try:
        seal.verify(model.data, keys.public_key(key))
    except OSError as e:
        raise DeployError(f"{key}: {e.strerror}") from None
    except ConvertError as e:
        raise DeployError(f"{model.name}: --key {key}: {e}") from None


def check_counter(
    device: Device, model: ModelFile, slots: Slots, args: argparse.Namespace
) -> None:
    """Raises DeployError if the board's model of that name has a higher counter."""
    there = slots.path if slots.by_hand else slots.active and slots.file(slots.active)
    if not there or args.older:
        return
    new, old = counter_of(model.data), _counter_there(device, there)
    if new < old:
        raise DeployError(
            f"{model.name} has the counter {new}, that on the board {old}: it is an older "
            "release. --older takes it all the same"
        )


def check_older(device: Device, slots: Slots, slot: str, args: argparse.Namespace) -> None:
    """As check_counter, for a slot to roll back to."""
    if args.older:
        return
    new, old = (_counter_there(device, slots.file(s)) for s in (slot, slots.active))
    if new < old:
        raise DeployError(
            f"{slots.file(slot)} has the counter {new}, the active model {old}: it is an older "
            "release. --older takes it all the same"
        )


def counter_of(data: bytes) -> int:
    """Of a model's seal; 0 where it has none, or another format than these tools read."""
    from tools import seal

    try:
        found = seal.seal_of(data)
    except ConvertError:
        return 0
    return found.counter if found else 0


def _counter_there(device, path):
    """That of a model on the board: of the file only the tables and the end are read."""
    device.execute(_CODE)
    head = _read(device, path, 0, layout.HEADER_NBYTES)
    if head[:8] != layout.MAGIC or len(head) < layout.HEADER_NBYTES:
        return 0
    _, version, _, _, nbytes, tables_nbytes, *_ = struct.unpack(layout.HEADER, head)
    if version != layout.VERSION or not len(head) + _SEAL_NBYTES <= nbytes < 1 << 30:
        return 0
    tables = _read(device, path, 0, min(tables_nbytes, nbytes - _SEAL_NBYTES))
    end = _read(device, path, nbytes - _SEAL_NBYTES, _SEAL_NBYTES)
    return counter_of(tables + bytes(nbytes - len(tables) - len(end)) + end)


def _read(device, path, start, nbytes):
    """Bytes of a model on the board."""
    found = b""
    while len(found) < nbytes:
        n = min(_PIECE, nbytes - len(found))
        text = device.execute(f"piece({path!r}, {start + len(found)}, {n})")
        try:
            data = base64.b64decode(text.strip(), validate=True)
        except ValueError:
            raise answers.unexpected(text, "bytes in base64") from None
        if not data:
            break
        found += data
    return found
