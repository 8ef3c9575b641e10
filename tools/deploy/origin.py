"""Check that a model may go to a board: its signature, and that it is not an older release.

The checks raise DeployError, which names the option that accepts the model all the same.
"""

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
    """Check that the owner of a public key signed a model; without a key accept any."""
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
    """Refuse a model that is an earlier release than the one of the same name on the board.

    Args:
        device: the board.
        model: the model to deploy.
        slots: the slots of its name.
        args: options; --older allows it.

    Raises:
        DeployError: if its counter is lower.
    """
    there = slots.path if slots.by_hand else slots.active and slots.file(slots.active)
    if not there or args.older:
        return
    new, old = counter_of(model.data), _counter_there(device, there)
    if new < old:
        raise DeployError(
            f"{model.name} has the counter {new}, the board's model {old}: it is an older "
            "release. --older accepts it"
        )


def check_older(device: Device, slots: Slots, slot: str, args: argparse.Namespace) -> None:
    """Refuse to roll back to an earlier release than the active one.

    Args:
        device: the board.
        slots: the model's slots.
        slot: the slot to roll back to.
        args: options; --older allows it.

    Raises:
        DeployError: if its counter is lower.
    """
    if args.older:
        return
    new, old = (_counter_there(device, slots.file(s)) for s in (slot, slots.active))
    if new < old:
        raise DeployError(
            f"{slots.file(slot)} has the counter {new}, the active model {old}: it is an older "
            "release. --older accepts it"
        )


def counter_of(data: bytes) -> int:
    """Return the counter of a model's seal; 0 without a seal, or for another format version."""
    from tools import seal

    try:
        sealed = seal.seal_of(data)
    except ConvertError:
        return 0
    return sealed.counter if sealed else 0


def _counter_there(device, path):
    """Return the counter of a model on the board; transfer only its tables and its end."""
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
    """Return nbytes bytes of a model on the board, from offset `start` on."""
    received = b""
    while len(received) < nbytes:
        n = min(_PIECE, nbytes - len(received))
        text = device.execute(f"piece({path!r}, {start + len(received)}, {n})")
        try:
            data = base64.b64decode(text.strip(), validate=True)
        except ValueError:
            raise answers.unexpected(text, "bytes in base64") from None
        if not data:
            break
        received += data
    return received
