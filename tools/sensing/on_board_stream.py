"""Runs on the board: prints what a sensor's generator yields, a line a sample."""

import binascii
import time
from array import array


def stream(rows, most, most_ms):
    """`MS a b c` for a sample, `MS #TYPE BASE64` for a block; MS: milliseconds since the start.

    most, most_ms: when to end, 0 for never.
    """
    start, code = time.ticks_ms(), ""
    for row in rows:
        ms = time.ticks_diff(time.ticks_ms(), start)
        if most_ms and ms > most_ms:
            return
        if isinstance(row, array):
            code = code or repr(row[:0])[7]  # the type code, which an array does not tell
            print(ms, "#" + code, block(row))
        elif isinstance(row, (bytes, bytearray, memoryview)):
            print(ms, "#", block(row))
        elif isinstance(row, (list, tuple)):
            print(ms, *row)
        else:
            print(ms, row)
        most -= 1
        if not most:
            return


def block(data):
    """Return bytes as base64."""
    return str(binascii.b2a_base64(data), "ascii").strip()
