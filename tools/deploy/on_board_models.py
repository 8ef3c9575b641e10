"""Runs on the board, sent over the REPL by others.py: which models there are, and what they need.

Of a model in two slots only the active one counts: the other may be of an older format, for the
code before this one.
"""

import binascii
import os
import struct

MAGIC, REFERENCE = b"MPCONNXR", b"XIPFLASH"
HEADER_NBYTES = 64
MOST_NAMES = 8192  # bytes
XIP = 0x10000000  # where the flash of an RP2 board begins in the processor's memory


class Flash:
    """Bytes of an RP2 board's flash, as a file: a slot may refer to them."""

    def __init__(self, reference):
        import uctypes

        offset, nbytes = struct.unpack("<II", reference[8:])
        self._view = uctypes.bytearray_at(XIP + offset, nbytes)
        self._at = 0

    def seek(self, at):
        """Goes to a position."""
        self._at = at

    def read(self, n):
        """Returns up to n bytes."""
        piece = bytes(self._view[self._at : self._at + n])
        self._at += n
        return piece

    def close(self):
        """Does nothing: there is no file."""
        pass


def opened(path):
    """A model's file, or what it refers to."""
    file = open(path, "rb")  # noqa: SIM115 (the caller closes it)
    reference = file.read(17)
    file.seek(0)
    if len(reference) != 16 or not reference.startswith(REFERENCE):
        return file
    file.close()
    return Flash(reference)


def piece(path, at, nbytes):
    """Prints bytes of a model in base64."""
    file = opened(path)
    file.seek(at)
    print(str(binascii.b2a_base64(file.read(nbytes)), "ascii"))
    file.close()


def models(folders):
    """Prints (path, format, kernels) of the models in the folders and below."""
    walk(folders, show)


def programs(folders):
    """Prints (path, digest) of each model there, whether it is in use or not."""
    walk(folders, show_digest)


def walk(folders, show):
    """Shows each file in the folders and below."""
    while folders:
        below = []
        for folder in folders:
            for e in list(os.ilistdir(folder)):
                path = folder.rstrip("/") + "/" + e[0]
                if not e[1] & 0x4000:
                    show(path)
                elif e[0] not in (".", ".."):
                    below.append(path)
        folders = below


def show(path):
    """Prints what a file's head says, if it is a model in use."""
    if path.endswith((".py", ".mpy", ".new")) or is_inactive(path):
        return
    try:
        file = opened(path)
    except OSError:  # what cannot be opened is loaded by no code
        return
    found = described(file)
    file.close()
    if found:
        print((path,) + found)


def show_digest(path):
    """Prints the digest that a file starts with."""
    if path.endswith((".py", ".mpy", ".new")):
        return
    try:
        file = opened(path)
    except OSError:
        return
    head = file.read(32)
    file.close()
    if head[:8] == MAGIC:
        print((path, head[24:]))


def described(file):
    """(format, kernels) of a model, None of anything else."""
    head = file.read(HEADER_NBYTES)
    if head[:8] != MAGIC or len(head) < HEADER_NBYTES:
        return None
    version, kind = struct.unpack_from("<HH", head, 8)
    chunks, names_nbytes = struct.unpack_from("<II", head, 56)
    file.seek(HEADER_NBYTES + 32 * chunks)
    names = file.read(min(names_nbytes, MOST_NAMES)).split(b"\0")[:-1]
    return None if kind else (version, names)


def is_inactive(path):
    """Whether this is a slot that its pointer does not name."""
    at = path.rfind(".")
    slot = path[at - 1 : at]
    if at < 2 or path[at - 2] != "." or slot not in ("a", "b"):
        return False
    try:
        with open(path[: at - 2] + ".active") as f:
            return f.read(1) not in ("", slot)
    except OSError:
        return False
