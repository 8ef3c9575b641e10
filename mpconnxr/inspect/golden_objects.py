"""Strings and maps in golden vectors (docs/format.md), imported only for a model that has some."""

import json
import struct

from ..errors import ModelError
from ..io.objects import Strings

_INF = float("inf")


def nbytes(vectors, at):
    """Return the bytes of the value at an offset of the golden vectors. Raises ModelError."""
    n = struct.unpack_from("<I", vectors, at)[0] if at + 4 <= len(vectors) else 0
    if not n:
        raise ModelError("not a valid model file: golden vectors of another size")
    return 4 + n


def compare(t, vectors, at):
    """Return (largest absolute error, largest finite magnitude of the reference) of an output.

    Other strings, other keys or another number of them are an infinite error.
    """
    text = bytes(memoryview(vectors)[at + 4 : at + nbytes(vectors, at)])
    try:
        expected = json.loads(str(text, "utf-8"))
        if isinstance(t, Strings):
            return (0.0 if t.data == expected else _INF), 0.0
        return _maps(t.data if t.is_sequence else [t.data], expected)
    except (ValueError, TypeError, RuntimeError):  # no JSON, or not of these types
        raise ModelError("not a valid model file: a golden vector's strings or maps")


def _maps(maps, expected):
    """Return (largest absolute error, largest magnitude) of maps, given their right pairs."""
    error = largest = 0.0
    if len(maps) != len(expected):
        return _INF, largest
    for result, pairs in zip(maps, expected):
        if len(result) != len(pairs):
            return _INF, largest
        for key, b in pairs:
            if key not in result:
                return _INF, largest
            a = result[key]
            if isinstance(b, str):
                error = max(error, 0.0 if a == b else _INF)
                continue
            largest = max(largest, abs(b))
            difference = abs(a - b)
            error = max(error, difference if difference == difference else _INF)
    return error, largest
