"""Choose the sensor that a command reads, and parse the samples that the board prints."""

from __future__ import annotations

import argparse
import base64
import binascii
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tools import arguments
from tools.deploy.errors import DeployError

if TYPE_CHECKING:
    import numpy as np

    from tools.deploy.device import Device

_PINS = Path(__file__).with_name("on_board_pins.py")
_RATE = 100  # Hz
# Type codes of arrays on 32-bit boards.
_TYPES = {"f": "float32", "d": "float64", "l": "int32", "L": "uint32"}


def add_sensor_options(parser: argparse.ArgumentParser) -> None:
    """Add --sensor, --call, --pin, --rate, --channels and --dtype."""
    add = parser.add_argument
    add("--sensor", type=Path, metavar="FILE.py", help="source with a generator of samples")
    add(
        "--call",
        default="samples()",
        metavar="CODE",
        help="the expression that makes the generator (default: samples())",
    )
    add("--pin", nargs="+", metavar="P", help="read analog pins instead, such as 26 27")
    add("--rate", type=_rate, default=_RATE, metavar="HZ", help=f"rate of the pins ({_RATE})")
    add("--channels", type=int, default=1, metavar="N", help="channels in blocks of samples (1)")
    add(
        "--dtype",
        type=_dtype,
        default="uint8",
        metavar="TYPE",
        help="dtype of samples in bytes (uint8)",
    )


def _rate(text):
    hz = arguments.count(text)
    if hz > 100_000:
        raise argparse.ArgumentTypeError("must be from 1 to 100,000 Hz")
    return hz


def _dtype(text):
    import numpy as np

    try:
        return np.dtype(text)
    except TypeError:
        raise argparse.ArgumentTypeError(f"{text}: expected a dtype, such as int16") from None


def problem(args: argparse.Namespace) -> str:
    """Return the fault of these options; "" if they are right."""
    if bool(args.sensor) == bool(args.pin):
        return "give either --sensor FILE.py or --pin P"
    if args.channels < 1:
        return "--channels N: N must be at least 1"
    return ""


def source_of(args: argparse.Namespace) -> str:
    """Return the code that defines the generator.

    Raises:
        DeployError: if the sensor's file cannot be read.
    """
    if args.pin:
        pins = [int(pin) if pin.isdigit() else pin for pin in args.pin]
        return f"{_PINS.read_text()}\nPINS = {pins!r}\nRATE = {args.rate}\n"
    try:
        return args.sensor.read_text()
    except OSError as e:
        raise DeployError(f"{args.sensor}: {e.strerror}") from None
    except UnicodeDecodeError:
        raise DeployError(f"{args.sensor} is not a text file") from None


def define_rows(device: Device, source: str, args: argparse.Namespace) -> None:
    """Run the sensor's code on a board, and define _rows(), which makes the generator.

    Raises:
        DeployError: if the code fails, or lacks the generator.
    """
    device.execute(source, of_user=True)
    device.execute(f"def _rows():\n return {args.call}", of_user=True)
    name = args.call.partition("(")[0].strip()
    if args.sensor and name.isidentifier():
        missing = device.execute(f"try:\n {name}\nexcept NameError:\n print('missing')")
        if missing.strip():
            raise DeployError(f"{args.sensor.name} has no generator {name}()")


@dataclass(frozen=True)
class SampleBlock:
    """Samples of one line.

    Attributes:
        ms: milliseconds since the start.
        rows: (samples, channels).
    """

    ms: int
    rows: np.ndarray


class Samples:
    """Parser of the board's lines. Each sample must have as many numbers as the first one."""

    def __init__(self, args: argparse.Namespace):
        self._channels, self._dtype = args.channels, args.dtype
        self._n_numbers = 0

    def of_line(self, line: str) -> SampleBlock:
        """Parse a line.

        Raises:
            DeployError: if it does not contain samples.
        """
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
        self._n_numbers = self._n_numbers or rows.shape[1]
        if rows.shape[1] != self._n_numbers:
            raise DeployError(
                f"the sensor yields samples of {self._n_numbers} and of {rows.shape[1]} numbers"
            )
        return SampleBlock(ms, rows)

    def _block(self, code, text):
        import numpy as np

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
    """Return one sample: int32 if all numbers are integers and fit, else float32."""
    import numpy as np

    fields = [_BOOLEANS.get(f, f) for f in fields]
    try:
        row = np.array([[int(f) for f in fields]], np.int64)
        return row.astype(np.int32) if (row == row.astype(np.int32)).all() else row
    except ValueError:
        return np.array([[float(f) for f in fields]], np.float32)
