"""Which sensor of a board a command reads, and the samples in what the board prints."""

from __future__ import annotations

import argparse
import base64
import binascii
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tools import arguments
from tools.deploy.errors import DeployError

_PINS = Path(__file__).with_name("on_board_pins.py")
_RATE = 100  # Hz
_TYPES = {"f": "float32", "d": "float64", "l": "int32", "L": "uint32"}  # as boards have them


def add_sensor_options(found: argparse.ArgumentParser) -> None:
    """--sensor, --call, --pin, --rate, --channels, --dtype."""
    add = found.add_argument
    add("--sensor", type=Path, metavar="FILE.py", help="MicroPython with a generator of samples")
    add(
        "--call",
        default="samples()",
        metavar="CODE",
        help="the expression that makes the generator (default: samples())",
    )
    add("--pin", nargs="+", metavar="P", help="analog pins instead, such as 26 27")
    add("--rate", type=_rate, default=_RATE, metavar="HZ", help=f"of the pins ({_RATE})")
    add("--channels", type=int, default=1, metavar="N", help="in blocks of samples (1)")
    add(
        "--dtype",
        type=np.dtype,
        default=np.dtype(np.uint8),
        metavar="TYPE",
        help="of blocks that are bytes (uint8)",
    )


def _rate(text):
    hz = arguments.count(text)
    if hz > 100_000:
        raise argparse.ArgumentTypeError("from 1 to 100,000 Hz")
    return hz


def problem(args: argparse.Namespace) -> str:
    """What is wrong with these options, "" for nothing."""
    if bool(args.sensor) == bool(args.pin):
        return "give either --sensor FILE.py or --pin P"
    if args.channels < 1:
        return "--channels N: N is at least 1"
    return ""


def source_of(args: argparse.Namespace) -> str:
    """The code that defines the generator. Raises DeployError."""
    if args.pin:
        pins = [int(pin) if pin.isdigit() else pin for pin in args.pin]
        return f"{_PINS.read_text()}\nPINS = {pins!r}\nRATE = {args.rate}\n"
    try:
        return args.sensor.read_text()
    except OSError as e:
        raise DeployError(f"{args.sensor}: {e.strerror}") from None
    except UnicodeDecodeError:
        raise DeployError(f"{args.sensor} is not a text file") from None


@dataclass(frozen=True)
class Heard:
    """Samples that came at once. ms: since the start; rows: (samples, channels)."""

    ms: int
    rows: np.ndarray


class Samples:
    """Reads the board's lines. Each sample has as many numbers as the first one."""

    def __init__(self, args: argparse.Namespace):
        self._channels, self._dtype = args.channels, args.dtype
        self._wanted = 0

    def of_line(self, line: str) -> Heard:
        """Raises DeployError for what is not samples."""
        fields = line.split()
        try:
            ms = int(fields[0])
            is_block = fields[1].startswith("#")
            rows = self._block(*fields[1:]) if is_block else _row(fields[1:])
        except (IndexError, ValueError, TypeError, binascii.Error) as e:
            reason = e if isinstance(e, ValueError) and "block" in str(e) else ""
            raise DeployError(
                str(reason) or f"the sensor yields something other than numbers: {line[:80]!r}"
            ) from None
        self._wanted = self._wanted or rows.shape[1]
        if rows.shape[1] != self._wanted:
            raise DeployError(
                f"the sensor yields samples of {self._wanted} and of {rows.shape[1]} numbers"
            )
        return Heard(ms, rows)

    def _block(self, code, text):
        data = base64.b64decode(text, validate=True)
        dtype = np.dtype(_TYPES.get(code[1:], code[1:])) if code[1:] else self._dtype
        row = dtype.itemsize * self._channels
        if len(data) % row:
            raise ValueError(
                f"a block of {len(data):,} bytes is not samples of {self._channels} channels "
                f"of {dtype}: see --channels and --dtype"
            )
        return np.frombuffer(data, dtype).reshape(-1, self._channels)


_BOOLEANS = {"True": "1", "False": "0"}


def _row(fields):
    """Integers as int32 where they fit, else float32."""
    fields = [_BOOLEANS.get(f, f) for f in fields]
    try:
        row = np.array([[int(f) for f in fields]], np.int64)
        return row.astype(np.int32) if (row == row.astype(np.int32)).all() else row
    except ValueError:
        return np.array([[float(f) for f in fields]], np.float32)
