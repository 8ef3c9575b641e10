"""Runs on RP2 boards, sent over the REPL by xip.py with mpconnxr/io/xip.py before it: flash that
no file system has. What is of that module comes as an argument.
"""

import binascii
import hashlib
import struct

MARKER = 0x7188EBF2  # before the table of what the firmware says of itself, in its first 1 KB
BINARY_END = 0x68F465DE  # in that table: where the firmware ends
XIP = 0x10000000


def gap(words):
    """Prints where in the flash the firmware ends, and where the next user of it begins."""
    import rp2
    import uctypes
    import vfs

    begin = words(rp2.Flash())[1]
    rom = vfs.rom_ioctl(2, 0) if hasattr(vfs, "rom_ioctl") else -1
    if not isinstance(rom, int):
        begin = min(begin, uctypes.addressof(rom) - XIP)
    print((firmware_end(), begin))


def firmware_end():
    """Offset of the first byte behind the firmware. Raises OSError if it does not say so."""
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
    """Prints (path, offset, bytes) of those files that refer to such flash."""
    for path in paths:
        with open(path, "rb") as f:
            data = f.read(17)
        if len(data) == 16 and data.startswith(b"XIPFLASH"):
            print((path,) + struct.unpack("<II", data[8:]))


def held(view, offset, nbytes):
    """Prints the SHA-256 of a part of the flash."""
    print(str(binascii.hexlify(hashlib.sha256(view(offset, nbytes)).digest()), "ascii"))


def program(region, offset, text):
    """Erases a block of the flash and writes 4096 bytes, given in base64, to it."""
    data = binascii.a2b_base64(text)
    region(offset, len(data)).writeblocks(0, data)
