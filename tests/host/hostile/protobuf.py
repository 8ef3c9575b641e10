"""Files that are no model, or a damaged one."""

from __future__ import annotations

import gzip
import pickle
import random

import numpy as np

from .case import Case, Cases, model, node, relu

_GRAPH, _NODE, _ATTRIBUTE, _BODY = 7, 1, 5, 6  # numbers of fields


def cases() -> Cases:
    whole = _sound().SerializeToString()
    yield from _others(whole)
    for eighth in range(1, 8):
        yield Case(f"cut_{eighth}_8", whole[: len(whole) * eighth // 8 - 1])
    yield Case("length_beyond", _field(_GRAPH, whole)[:20])
    yield Case("varint_of_11_bytes", b"\x08" + b"\xff" * 11)
    yield Case("group_open", b"\x0b" * 200)
    yield Case("graph_is_a_number", b"\x08\x08" + b"\x38\x01")
    yield Case("graph_is_text", b"\x08\x08" + _field(_GRAPH, b"no graph"))
    yield Case("field_number_0", b"\x00\x01" + whole)
    yield Case("wire_type_7", b"\x0f\x01" + whole)
    yield Case("twice", whole + whole)
    yield Case("deep_200", _nested(200))
    yield Case("deep_5000", _nested(5000))
    for seed in range(10):
        yield Case(f"noise_{seed}", random.Random(seed).randbytes(40 * (seed + 1)))
    for seed in range(8):
        yield Case(f"flipped_{seed}", _flipped(whole, seed))


def _sound():
    constants = {"w": np.arange(16, dtype=np.float32).reshape(4, 4), "b": np.ones(4, np.float32)}
    nodes = [node("MatMul", "x w", "p"), node("Add", "p b", "q"), node("Relu", "q")]
    return model(nodes, constants=constants)


def _others(whole):
    yield Case("empty", b"")
    yield Case("one_byte", b"\x08")
    yield Case("zeros", bytes(4096))
    yield Case("ones", b"\xff" * 4096)
    yield Case("text", b"this is no model\n" * 9)
    yield Case("json", b'{"graph": {"node": []}}')
    yield Case("gzip", gzip.compress(whole, mtime=0))
    yield Case("zip", b"PK\x03\x04" + whole)
    yield Case("pickle", pickle.dumps({"graph": [1, 2]}))
    yield Case("elf", b"\x7fELF\x02\x01\x01" + bytes(90))
    yield Case("converted_already", b"MPCONNXR" + bytes(120))
    yield Case("header_only", relu().SerializeToString()[:2])


def _field(number, contents):
    """Return a field of bytes with the right length."""
    size, head = len(contents), bytearray()
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *head, size]) + contents


def _nested(depth):
    """Return a graph in an attribute of a node of a graph, and so on."""
    result = b""
    for _ in range(depth):
        result = _field(_NODE, _field(_ATTRIBUTE, _field(_BODY, result)))
    return b"\x08\x08" + _field(_GRAPH, result)


def _flipped(whole, seed):
    """Return the file with errors in its first bytes: lengths and kinds of fields."""
    rng, result = random.Random(seed), bytearray(whole)
    for _ in range(6):
        result[rng.randrange(24)] ^= 1 << rng.randrange(8)
    return bytes(result)
