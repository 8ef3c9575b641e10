"""Run on the board: print what a sensor's generator yields, one line for each sample or block."""

import binascii
import time
from array import array


def stream(rows, most, most_ms):
    """Print `MS a b c` for a sample, `MS #TYPE BASE64` for a block, MS since the start.

    Args:
        rows: the generator.
        most: lines after which to end; 0: never.
        most_ms: milliseconds after which to end; 0: never.
    """
    start, code = time.ticks_ms(), ""
    for row in rows:
        ms = time.ticks_diff(time.ticks_ms(), start)
        if most_ms and ms > most_ms:
            return
        if isinstance(row, array):
            code = code or repr(row[:0])[7]  # MicroPython's arrays lack `typecode`
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
