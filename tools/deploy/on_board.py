"""Runs on the board, sent over the REPL by device.py: digests, safe writing, verification."""

import binascii
import errno
import gc
import hashlib
import os
import sys


def describe():
    """Prints what the board is, as a tuple's text."""
    gc.collect()
    it = sys.implementation
    machine = getattr(it, "_machine", "")
    print((it.name, it.version[:3], machine, sys.platform, gc.mem_free(), os.getcwd()))


def digest(path):
    """(size, SHA-256 in hex) of a file, or None where there is none."""
    buffer = memoryview(bytearray(512))
    sha, size = hashlib.sha256(), 0
    try:
        with open(path, "rb") as f:
            while True:
                n = f.readinto(buffer)
                if not n:
                    break
                sha.update(buffer[:n])
                size += n
    except OSError:
        return None
    return size, str(binascii.hexlify(sha.digest()), "ascii")


def free_bytes(path):
    """Prints the free bytes of the file system that a folder is in."""
    s = os.statvfs(path)
    print(s[0] * s[3])


def begin(path):
    """Opens the temporary file from which `path` will be made, and makes the folders above it."""
    global out, temporary
    at = path.find("/", 1)
    while at > 0:
        try:
            os.mkdir(path[:at])
        except OSError as e:
            if e.errno != errno.EEXIST:
                raise
        at = path.find("/", at + 1)
    temporary = path + ".new"
    out = open(temporary, "wb")  # noqa: SIM115 (finish or abandon closes it)


def more(text):
    """Appends bytes given in base64."""
    out.write(binascii.a2b_base64(text))


def finish(path, wanted):
    """Puts the temporary file in place if its size and digest are the wanted ones."""
    out.close()
    found = digest(temporary)
    if found != wanted:
        os.remove(temporary)
        raise OSError(f"{path}: {found} was written instead of {wanted}")
    try:
        os.rename(temporary, path)
    except OSError:  # FAT does not rename onto a file that exists
        os.remove(path)
        os.rename(temporary, path)


def abandon():
    """Removes a temporary file that will not be finished."""
    out.close()
    os.remove(temporary)


def verify(folder, path):
    """Prints max_error, largest, ok (0 or 1) and seconds of the model's golden vectors."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    gc.collect()
    from mpconnxr import golden

    r = golden.verify(path)
    print(r.max_error, r.largest, int(r.ok), r.seconds)
