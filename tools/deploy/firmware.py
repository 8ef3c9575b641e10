"""Install MicroPython on a board: copy a .uf2 to its boot drive, or write a .bin with esptool.

Functions raise DeployError if a file does not suit the board, or cannot be written.
"""

from __future__ import annotations

import importlib.util
import string
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from .device import Device
from .errors import DeployError
from .reach import find_port
from .reporter import Reporter

_UF2_BLOCK = struct.Struct("<8I")
_UF2_MAGIC = (0x0A324655, 0x9E5D5157)
# Board-ID in a boot drive's INFO_UF2.TXT by the family of a .uf2.
_FAMILIES = {
    0xE48BFF56: "RPI-RP2",  # RP2040
    0xE48BFF59: "RP2350",  # ARM
    0xE48BFF5A: "RP2350",  # RISC-V
}
# Where esptool has to write an image, by the chip that its header names: the ESP32 and ESP32-S2
# look for their bootloader at 0x1000, later ones at the start of the flash.
_ESP_IMAGE = 0xE9
_ESP_OFFSETS = {0: 0x1000, 2: 0x1000, 5: 0, 9: 0, 12: 0, 13: 0, 16: 0}
_DRIVE_SECONDS = 15  # for a boot drive to appear or disappear


def install(path: Path, port: str, reporter: Reporter) -> None:
    """Write a firmware, a .uf2 or .bin, to a board. `port` is as for find_port."""
    try:
        data = path.read_bytes()
    except OSError as e:
        raise DeployError(f"{path}: {e.strerror}") from None
    if path.suffix == ".uf2":
        _copy_uf2(path.name, data, port, reporter)
    elif path.suffix == ".bin":
        _run_esptool(path, data, port, reporter)
    else:
        raise DeployError(f"{path}: a .uf2 or a .bin is needed")


def _copy_uf2(name, data, port, reporter):
    board_id = uf2_board(name, data)
    drive = _drive(port)
    drive_id = _board_id(drive)
    if not drive_id.startswith(board_id):
        raise DeployError(f"{name} is for {board_id}, the drive {drive} is a {drive_id}")
    reporter.line("firmware", f"{name}, {len(data):,} bytes, to {drive}")
    try:
        (drive / name).write_bytes(data)
    except OSError as e:
        if drive.exists():  # else the board restarted, which closed the file
            raise DeployError(f"{drive}: {e.strerror}") from None
    if not _waited(lambda: not drive.exists()):
        raise DeployError(f"{drive} is still there: the board did not take {name}")


def uf2_board(name: str, data: bytes) -> str:
    """Return the Board-ID that a .uf2 is made for."""
    blocks = [data[at : at + 512] for at in range(0, len(data), 512)]
    heads = [_UF2_BLOCK.unpack_from(block) for block in blocks if len(block) == 512]
    whole = len(heads) == len(blocks) > 0 and all(head[:2] == _UF2_MAGIC for head in heads)
    if not whole or any(head[6] > len(blocks) for head in heads):
        raise DeployError(f"{name} is not a complete .uf2")
    boards = {_FAMILIES[head[7]] for head in heads if head[7] in _FAMILIES}
    if len(boards) != 1:
        raise DeployError(f"{name} is not for an RP2040 or RP2350")
    return boards.pop()


def _drive(port):
    """Return the only boot drive; without one, reset the board into its bootloader first.

    Raises:
        DeployError: if no drive appears, or if there are several.
    """
    drives = list(_drives())
    if not drives:
        with Device(find_port(port)) as device:
            device.start("import machine; machine.bootloader()")
        if not _waited(lambda: any(_drives())):
            raise DeployError("no boot drive: hold BOOTSEL while you plug the board in")
        drives = list(_drives())
    if len(drives) > 1:
        raise DeployError(f"several boot drives: {', '.join(map(str, drives))}; unplug others")
    return drives[0]


def _drives() -> Iterator[Path]:
    return (root for root in mounts() if (root / "INFO_UF2.TXT").is_file())


def mounts() -> Iterator[Path]:
    """Yield the places where Linux, macOS and Windows mount removable drives."""
    for pattern in ("media/*", "media/*/*", "run/media/*/*", "Volumes/*"):
        yield from Path("/").glob(pattern)
    if sys.platform == "win32":
        yield from (Path(f"{letter}:/") for letter in string.ascii_uppercase)


def _board_id(drive):
    for line in (drive / "INFO_UF2.TXT").read_text(errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key == "Board-ID":
            return value.strip()
    raise DeployError(f"{drive}: INFO_UF2.TXT names no board")


def _waited(condition) -> bool:
    until = time.monotonic() + _DRIVE_SECONDS
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.2)
    return True


def esp_offset(name: str, data: bytes) -> int:
    """Return the flash offset at which esptool writes an ESP32's image."""
    chip = struct.unpack_from("<H", data, 12)[0] if len(data) > 24 else -1
    if not data or data[0] != _ESP_IMAGE or chip not in _ESP_OFFSETS:
        raise DeployError(f"{name} is not firmware for a known ESP32: use esptool itself")
    return _ESP_OFFSETS[chip]


def _run_esptool(path, data, port, reporter):
    offset = esp_offset(path.name, data)
    if not importlib.util.find_spec("esptool"):
        raise DeployError("esptool is needed: pip install esptool")
    reporter.line("firmware", f"{path.name}, {len(data):,} bytes, at {offset:#x}")
    options = ["--port", find_port(port), "write-flash", hex(offset), str(path)]
    if subprocess.run([sys.executable, "-P", "-m", "esptool", *options], check=False).returncode:
        raise DeployError(f"esptool did not write {path.name}: see above")
