"""Runs on the board, sent over the REPL by romfs.py: the first ROMFS partition.

It is a block device on some ports (rp2, esp32), memory with calls to change it on others (stm32).
"""

import binascii
import hashlib

try:
    from vfs import rom_ioctl, umount
except ImportError:
    rom_ioctl = umount = None

UNIT = 256  # bytes: what is programmed is a multiple
rom = rom_ioctl(2, 0) if rom_ioctl else -1
is_device = hasattr(rom, "ioctl")


def partition():
    """Prints its bytes, and those of a block; zeros if there is none."""
    if isinstance(rom, int):
        print((0, 0))
    elif is_device:
        print((rom.ioctl(4, 0) * rom.ioctl(5, 0), rom.ioctl(5, 0)))
    else:
        print((len(rom), 4096))


def image_digest(nbytes):
    """Prints the SHA-256 of its first bytes."""
    found = hashlib.sha256(memoryview(rom)[:nbytes]).digest()
    print(str(binascii.hexlify(found), "ascii"))


def erase(nbytes):
    """From here on there is no ROMFS; of memory all blocks are erased."""
    try:  # noqa: SIM105 (there is no contextlib)
        umount("/rom")
    except OSError:
        pass
    if is_device:
        rom.ioctl(6, 0)
        return
    unit = rom_ioctl(6, 0)
    if unit <= 0:
        rom_ioctl(3, 0, nbytes)
        return
    for at in range(0, nbytes, unit):
        rom_ioctl(3, 0, at, unit)


def program(at, text):
    """Writes bytes given in base64; they begin in order within a block, which is erased first."""
    data = binascii.a2b_base64(text)
    data += b"\xff" * (-len(data) % UNIT)
    if is_device:
        block, within = divmod(at, rom.ioctl(5, 0))
        if not within:
            rom.ioctl(6, block)
        rom.writeblocks(block, data, within)
    else:
        rom_ioctl(4, 0, at, data)


def finish():
    """Ends the writing."""
    if not is_device:
        rom_ioctl(5, 0)
