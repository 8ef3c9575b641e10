"""Verify model.bin on MicroPython by its test vector, and print JSON for tools/run/vector.py."""

import json

from mpconnxr.inspect import golden


def finite(value):
    """Return a number that JSON has: infinity becomes a large one."""
    return min(value, 1e38) if isinstance(value, float) else value


r = golden.verify("model.bin")
keys = ("ok", "max_error", "largest", "bound", "seconds")
print(json.dumps({key: finite(getattr(r, key)) for key in keys}))
