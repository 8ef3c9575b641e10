"""Code that runs on RP2 boards: access flash that no file system uses.

xip.py sends it after mpconnxr/io/xip.py, whose functions are passed as arguments.
"""

import binascii
import hashlib
import struct

MARKER = 0x7188EBF2  # precedes the binary info header, in the first 1 KB
BINARY_END = 0x68F465DE  # id of the entry with the end of the firmware
XIP = 0x10000000


def gap(words):
    """Print where in the flash the firmware ends, and where its next user begins."""
    import rp2
    import uctypes
    import vfs

    begin = words(rp2.Flash())[1]
    rom = vfs.rom_ioctl(2, 0) if hasattr(vfs, "rom_ioctl") else -1
    if not isinstance(rom, int):
        begin = min(begin, uctypes.addressof(rom) - XIP)
    print((firmware_end(), begin))


def firmware_end():
    """Return the offset of the first byte behind the firmware.

    Raises:
        OSError: if the firmware does not declare it.
    """
    from machine import mem32

    for address in range(XIP, XIP + 1024, 4):
        if mem32[address] == MARKER:
            entry, end = mem32[address + 4], mem32[address + 8]
            while entry < end:
                if mem32[mem32[entry] + 4] == BINARY_END:
                    return mem32[mem32[entry] + 8] - XIP
                entry += 4
    raise OSError("the firmware does not say where it ends")


def references(paths):
    """Print (path, offset, bytes) of the files that refer to models in raw flash."""
    for path in paths:
        with open(path, "rb") as f:
            data = f.read(17)
        if len(data) == 16 and data.startswith(b"XIPFLASH"):
            print((path,) + struct.unpack("<II", data[8:]))


def held(view, offset, nbytes):
    """Print the SHA-256 of a part of the flash."""
    print(str(binascii.hexlify(hashlib.sha256(view(offset, nbytes)).digest()), "ascii"))


def program(region, offset, text):
    """Erase a block of the flash and write its 4096 bytes.

    Args:
        region: function of an offset and a size; returns a block device for this part of flash.
        offset: start of the block.
        text: the bytes in base64.
    """
    data = binascii.a2b_base64(text)
    region(offset, len(data)).writeblocks(0, data)
