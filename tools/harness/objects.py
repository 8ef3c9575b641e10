"""Encode strings and maps as JSON for the runner on a device, and decode them.

Strings go as a list in C order, and come back as {"shape": [...], "data": [...]}, since a run may
determine their shape. A map is a list of [key, value], since a JSON key would be a string. A float
in it is a list of its bytes as a double in hexadecimal, since a board prints too few digits.
"""

from __future__ import annotations

import json
import struct

import numpy as np

from tools.format.layout import element_bytes
from tools.format.objects import is_map, is_object, string_array, text_of

Value = np.ndarray | dict | list


def input_bytes(value: Value) -> bytes:
    """Return the bytes of an input for a Job: an array, or a dict for a map."""
    if isinstance(value, dict):
        pairs = [[_key(k), _plain(v)] for k, v in value.items()]
        return json.dumps(pairs, ensure_ascii=False).encode()
    value = np.asarray(value)
    if value.dtype.kind not in "OSU":
        return element_bytes(value)
    return json.dumps([text_of(s) for s in value.reshape(-1)], ensure_ascii=False).encode()


def output_value(raw: bytes, dtype: int, np_dtype: np.dtype, shape: tuple[int, ...]) -> Value:
    """Return a Run's output as an array, or as a list of dicts for maps.

    Args:
        raw: bytes of the output.
        dtype: code of the dtype, see tools/format/objects.py.
        np_dtype: numpy's dtype.
        shape: shape of the output.
    """
    if not is_object(dtype):
        return np.frombuffer(raw, np_dtype).reshape(shape)
    decoded = json.loads(raw)
    if is_map(dtype):
        # MicroPython's dicts are unordered, onnxruntime's maps are sorted
        return [{key: _number(value) for key, value in sorted(pairs)} for pairs in decoded]
    return string_array(decoded["data"], tuple(decoded["shape"]))


def _key(key):
    return key if isinstance(key, str) else int(key)


def _plain(value):
    if isinstance(value, float | np.floating):
        return [struct.pack("<d", value).hex()]
    return value if isinstance(value, str) else int(value)


def _number(value):
    return struct.unpack("<d", bytes.fromhex(value[0]))[0] if isinstance(value, list) else value
