"""Strings and maps on their way to a device and back: bytes of JSON.

Strings go as a list in C order, and come as {"shape": [...], "data": [...]}, for a run may decide
their shape. A map is a list of [key, value], since a key of JSON would be a string; a float in it
is a list of its bytes as a double in hexadecimal, since a board writes too few digits. Maps come
as a list of maps.
"""

from __future__ import annotations

import json
import struct

import numpy as np

from tools.format.layout import element_bytes
from tools.format.objects import is_map, is_object, string_array, text_of

Value = np.ndarray | dict | list


def input_bytes(value: Value) -> bytes:
    """What a Job takes for an input: an array, or a dict for a map."""
    if isinstance(value, dict):
        pairs = [[_key(k), _plain(v)] for k, v in value.items()]
        return json.dumps(pairs, ensure_ascii=False).encode()
    value = np.asarray(value)
    if value.dtype.kind not in "OSU":
        return element_bytes(value)
    return json.dumps([text_of(s) for s in value.reshape(-1)], ensure_ascii=False).encode()


def output_value(raw: bytes, dtype: int, np_dtype: np.dtype, shape: tuple[int, ...]) -> Value:
    """A Run's output as an array, or a list of dicts for maps. dtype: see converter.objects."""
    if not is_object(dtype):
        return np.frombuffer(raw, np_dtype).reshape(shape)
    found = json.loads(raw)
    if is_map(dtype):
        # MicroPython's dicts have no order; onnxruntime's maps are sorted
        return [{key: _number(value) for key, value in sorted(pairs)} for pairs in found]
    return string_array(found["data"], tuple(found["shape"]))


def _key(key):
    return key if isinstance(key, str) else int(key)


def _plain(value):
    if isinstance(value, float | np.floating):
        return [struct.pack("<d", value).hex()]
    return value if isinstance(value, str) else int(value)


def _number(value):
    return struct.unpack("<d", bytes.fromhex(value[0]))[0] if isinstance(value, list) else value
