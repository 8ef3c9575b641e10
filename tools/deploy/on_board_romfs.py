"""Code that runs on the board, sent by romfs.py: write the first ROMFS partition.

The partition is a block device on some ports (rp2, esp32), memory with calls to change it on
others (stm32).
"""

import binascii
import hashlib

try:
    from vfs import rom_ioctl, umount
except ImportError:
    rom_ioctl = umount = None

UNIT = 256  # bytes: smallest unit of programming
rom = rom_ioctl(2, 0) if rom_ioctl else -1
is_device = hasattr(rom, "ioctl")


def partition():
    """Print the bytes of the partition and of a block; zeros without a partition."""
    if isinstance(rom, int):
        print((0, 0))
    elif is_device:
        print((rom.ioctl(4, 0) * rom.ioctl(5, 0), rom.ioctl(5, 0)))
    else:
        print((len(rom), 4096))


def image_digest(nbytes):
    """Print the SHA-256 of the first bytes of the partition."""
    sha = hashlib.sha256(memoryview(rom)[:nbytes]).digest()
    print(str(binascii.hexlify(sha), "ascii"))


def erase(nbytes):
    """Unmount the ROMFS and invalidate it; erase the blocks for an image if it is memory."""
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
    """Write bytes, given in base64; a block is erased before its first bytes are written."""
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
    """Complete the writing."""
    if not is_device:
        rom_ioctl(5, 0)
