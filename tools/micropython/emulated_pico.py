"""A process that is a Raspberry Pi Pico: PyPI's rp2040py, with its USB serial port on ours.

    python -m tools.micropython.emulated_pico FIRMWARE.bin [--image ADDRESS=FILE] [--flash FILE]
        [--pty] [--cut-after N] [--journal FILE]

The serial port is this process's stdin and stdout; with --pty a pseudo-terminal, whose name is the
first line of the output. The process ends when stdin does. FILE is where the 2 MB of flash come
from, if it is there, and go to at the end; how often the board changed them is printed then. After
N changes its power is cut; the last one (a sector erased, a page programmed) is done by half then.
The journal gets each change: offset and size as 32-bit words, then what the flash holds there now.

Time on the board is that of a core at 125 MHz whose flash never lets it wait. It stands still
while the board has nothing to do but wait for its host.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import struct
import tty
from pathlib import Path
from typing import BinaryIO

from rp2040py.device.bootrom import BOOTROM_B1
from rp2040py.execute_batch import execute_batch
from rp2040py.memory_map import FLASH_START_ADDRESS
from rp2040py.rp2040 import RP2040
from rp2040py.usb.cdc import USBCDC
from rp2040py.utils.logging import ConsoleLogger, LogLevel

from .rp2040 import FLASH_BYTES

_TICK_BATCH = 64  # instructions between two looks at the clock, unless an alarm is due earlier
# Commands that change the flash, and how many bytes they do.
_CHANGED_BYTES = {0x02: 256, 0x20: 4096, 0xD8: 65536}


class PowerCut(Exception):
    """The flash was changed as often as it may be."""


class Pico:
    """The board. `stopped`, `rp2040` and `clock` are what execute_batch looks at.

    changes: of the flash so far; journal: a file that gets them, or None.
    """

    def __init__(self, firmware: bytes, host: int, cut_after: int = 0):
        """host: a file descriptor for what the board says."""
        self.stopped = False
        self.rp2040 = RP2040()
        self.clock = self.rp2040.clock
        self.changes = 0
        self.journal: BinaryIO | None = None
        self._host = host
        self._cut_after = cut_after
        self._greeting = b""
        self._online = False  # on the bus; what the host says before, it would not hear
        self._held: tuple[int, int] | None = None  # a question of the board not yet answered
        self.rp2040.logger = ConsoleLogger(LogLevel.ERROR)
        self.rp2040.load_bootrom(BOOTROM_B1)
        self._cdc = USBCDC(self.rp2040.usb_ctrl)
        self._cdc.on_serial_data = self._write_to_host
        self._cdc.on_device_connected = self._on_connected
        self._come_between()
        self.load(0, firmware)

    def _come_between(self) -> None:
        usb, ssi = self.rp2040.usb_ctrl, self.rp2040.ssi
        self._answer, usb.on_endpoint_read = usb.on_endpoint_read, self._on_endpoint_read
        # There is no public place where the emulator's flash is about to change.
        self._apply, ssi._apply_command = ssi._apply_command, self._on_flash_command
        self.rp2040.watchdog.on_watchdog_trigger = self._restart

    def load(self, offset: int, data: bytes) -> None:
        """Put bytes into the flash."""
        self.rp2040.flash[offset : offset + len(data)] = data

    def _restart(self) -> None:
        """What machine.reset() asks for."""
        self._held, self._online = None, False
        self.rp2040.enter_reset(from_watchdog=True)
        self.rp2040.leave_reset()

    def _on_endpoint_read(self, endpoint: int, size: int) -> None:
        """Lets the board wait for bytes: after an empty answer it would ask again at once."""
        if endpoint and self._cdc.tx_fifo.empty:
            self._held = endpoint, size
        else:
            self._answer(endpoint, size)

    def _write_to_host(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._host, data) :]

    def _on_flash_command(self) -> None:
        command = bytes(self.rp2040.ssi._tx_buffer)
        n = _CHANGED_BYTES.get(command[0]) if len(command) >= 4 else None
        if n is None:
            self._apply()
            return
        start = int.from_bytes(command[1:4], "big") & -n
        before = bytes(self.rp2040.flash[start : start + n])
        self._apply()
        self.changes += 1
        if self.journal:
            now = bytes(self.rp2040.flash[start : start + n])
            self.journal.write(struct.pack("<2I", start, n) + now)
        if self.changes == self._cut_after:
            self.load(start + n // 2, before[n // 2 :])
            raise PowerCut

    def prompt(self) -> None:
        """Types a new line once there is a line: what a board says before, it keeps until then."""
        self._greeting = b"\r"

    def _on_connected(self) -> None:
        self._online = True
        self._send(self._greeting)

    def run(self, host: int, life: int) -> None:
        """Runs with the file descriptor `host` for what the host says, until `life` is at its end.

        Raises PowerCut.
        """
        self.rp2040.core.pc = FLASH_START_ADDRESS
        while True:
            execute_batch(self, _TICK_BATCH)
            ready = select.select([host, life], [], [], self._patience())[0]
            if life in ready and life != host:
                return
            listens = self._online and not self._cdc.tx_fifo.full
            if host in ready and listens and not self._hear(host):
                return

    def _patience(self) -> float | None:
        """Seconds to wait for the host: for ever if nothing else can make the board go on."""
        idle = self.rp2040.core.waiting and not self.clock.has_scheduled_alarm
        return None if idle else 0

    def _hear(self, host: int) -> bool:
        """Takes what there is from the host, False at its end."""
        fifo = self._cdc.tx_fifo
        data = os.read(host, fifo.size - fifo.item_count)
        self._send(data)
        return bool(data)

    def _send(self, data: bytes) -> None:
        for byte in data:
            self._cdc.send_serial_byte(byte)
        if self._held:
            held, self._held = self._held, None
            self._answer(*held)


def parse_arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tools.micropython.emulated_pico")
    parser.add_argument("firmware", type=Path)
    parser.add_argument("--image", type=_placed, metavar="ADDRESS=FILE")
    parser.add_argument("--flash", type=Path, metavar="FILE")
    parser.add_argument("--pty", action="store_true")
    parser.add_argument("--cut-after", type=int, default=0, metavar="N")
    parser.add_argument("--journal", type=argparse.FileType("wb"), metavar="FILE")
    return parser.parse_args()


def _placed(text: str) -> tuple[int, Path]:
    address, _, name = text.partition("=")
    return int(address, 0) - FLASH_START_ADDRESS, Path(name)


def main() -> None:
    """Run the board until its host is gone."""
    args = parse_arguments()
    reader, writer = 0, 1
    if args.pty:
        reader, slave = os.openpty()
        writer = reader
        tty.setraw(slave)
        print(os.ttyname(slave), flush=True)
    pico = Pico(args.firmware.read_bytes(), writer, args.cut_after)
    if not args.pty:
        pico.prompt()
    if args.flash and args.flash.is_file():
        pico.load(0, args.flash.read_bytes())
    if args.image:
        offset, path = args.image
        pico.load(offset, path.read_bytes())
    pico.journal = args.journal
    with contextlib.suppress(PowerCut):
        pico.run(reader, 0)
    if args.journal:
        args.journal.close()
    if args.flash:
        args.flash.write_bytes(pico.rp2040.flash[:FLASH_BYTES])
    if args.pty:
        with contextlib.suppress(BrokenPipeError):  # whoever wanted to know is gone
            print(pico.changes, flush=True)


if __name__ == "__main__":
    main()
