"""Code that runs on the board, sent by others.py and origin.py: list its models, read from them.

For a model in two slots only the active one counts: the other may have an older format, for the
code before this one.
"""

import binascii
import os
import struct

MAGIC, REFERENCE = b"MPCONNXR", b"XIPFLASH"
HEADER_NBYTES = 64
MAX_NAMES_NBYTES = 8192  # bytes of kernels' names
XIP = 0x10000000  # address of an RP2 board's flash


class Flash:
    """File-like view of an RP2 board's flash, to which a slot's file may refer."""

    def __init__(self, reference):
        import uctypes

        offset, nbytes = struct.unpack("<II", reference[8:])
        self._view = uctypes.bytearray_at(XIP + offset, nbytes)
        self._at = 0

    def seek(self, at):
        """Set the position."""
        self._at = at

    def read(self, n):
        """Return up to n bytes."""
        piece = bytes(self._view[self._at : self._at + n])
        self._at += n
        return piece

    def close(self):
        """Do nothing, as no file is open."""
        pass


def opened(path):
    """Open a model's file, or the flash to which it refers."""
    file = open(path, "rb")  # noqa: SIM115 (the caller closes it)
    reference = file.read(17)
    file.seek(0)
    if len(reference) != 16 or not reference.startswith(REFERENCE):
        return file
    file.close()
    return Flash(reference)


def piece(path, at, nbytes):
    """Print bytes of a model in base64."""
    file = opened(path)
    file.seek(at)
    print(str(binascii.b2a_base64(file.read(nbytes)), "ascii"))
    file.close()


def models(folders):
    """Print (path, format version, kernels) of the active models in the folders and below."""
    walk(folders, show)


def programs(folders):
    """Print (path, digest) of all models in the folders and below, active or not."""
    walk(folders, show_digest)


def walk(folders, show):
    """Call a function with the path of each file in the folders and below."""
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
    """Print the properties in a file's header, if it is an active model."""
    if path.endswith((".py", ".mpy", ".new")) or is_inactive(path):
        return
    try:
        file = opened(path)
    except OSError:  # no code can load it
        return
    about = described(file)
    file.close()
    if about:
        print((path,) + about)


def show_digest(path):
    """Print the digest in a model's header."""
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
    """Return (format version, kernels) of a model; None for other files."""
    head = file.read(HEADER_NBYTES)
    if head[:8] != MAGIC or len(head) < HEADER_NBYTES:
        return None
    version, kind = struct.unpack_from("<HH", head, 8)
    chunks, names_nbytes = struct.unpack_from("<II", head, 56)
    file.seek(HEADER_NBYTES + 32 * chunks)
    names = file.read(min(names_nbytes, MAX_NAMES_NBYTES)).split(b"\0")[:-1]
    return None if kind else (version, names)


def is_inactive(path):
    """Return True if a file is a slot that its pointer does not name."""
    at = path.rfind(".")
    slot = path[at - 1 : at]
    if at < 2 or path[at - 2] != "." or slot not in ("a", "b"):
        return False
    try:
        with open(path[: at - 2] + ".active") as f:
            return f.read(1) not in ("", slot)
    except OSError:
        return False
