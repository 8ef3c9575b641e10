"""Changes of the data behind the tables: constants and streamed chunks."""

from __future__ import annotations

import struct
from dataclasses import replace
from random import Random

from tools.format import layout

from ..modelfile import ITEMSIZES, PACKED, STREAMED, Chunk, File, Node
from .pick import of_node, sizes_of
from .values import FLOATS, MANY, fitting, near_limit


def contents(file: File, rng: Random) -> str | None:
    """Change elements of a constant: indices, tables, weights, scales."""
    constants = [
        i for i, t in enumerate(file.tensors) if t.storage == layout.STORAGE_DATA and t.nbytes
    ]
    if not constants:
        return None
    i = rng.choice(constants)
    t = file.tensors[i]
    stored = t.nbytes if not t.flags & PACKED else max(t.nbytes // 4, 1)
    results = [
        (number, start, chunk)
        for number, (start, chunk) in enumerate(file.data_offsets())
        if start <= t.place and t.place + stored <= start + len(chunk.data)
    ]
    if not results or stored < 0:  # dims that another change made negative
        return None
    number, start, chunk = results[0]
    size = ITEMSIZES.get(t.dtype, 1) if not t.flags & PACKED else 1
    data = bytearray(chunk.data)
    changed = []
    for _ in range(rng.choice((1, 1, 2, MANY, 8))):
        at = t.place - start + rng.randrange(max(stored // size, 1)) * size
        new = _element(bytes(data[at : at + size]), t.dtype, rng, sizes_of(file, i))
        changed.append(
            f"{(at - t.place + start) // size}: {data[at : at + size].hex()} is {new.hex()}"
        )
        data[at : at + size] = new
    if rng.random() < 0.05:
        data[t.place - start : t.place - start + stored] = rng.randbytes(stored)
    file.chunks[number] = replace(chunk, data=bytes(data))
    return f"constant {i}: {'; '.join(changed)}"


_FLOAT_CODES = {1: "<f", 10: "<e", 11: "<d"}


def _element(old, dtype, rng, sizes):
    if dtype in _FLOAT_CODES and rng.random() < 0.7:
        value = float(rng.choice(FLOATS)) if rng.random() < 0.7 else rng.uniform(-1e3, 1e3)
        try:
            return struct.pack(_FLOAT_CODES[dtype], value)
        except OverflowError:
            return struct.pack(_FLOAT_CODES[dtype], float("inf"))
    if rng.random() < 0.2:
        return rng.randbytes(len(old))
    bits = 8 * len(old)
    value = int.from_bytes(old, "little", signed=True)
    new = near_limit(value, rng, sizes)
    if rng.random() < 0.2:
        new = rng.choice((-(1 << bits - 1), (1 << bits - 1) - 1, -1, 0))
    return (new & (1 << bits) - 1).to_bytes(len(old), "little")


def chunk(file: File, rng: Random) -> str | None:
    """Change where a chunk is streamed to, its kind or its length."""
    if not file.chunks:
        return None
    i = rng.randrange(len(file.chunks))
    old = file.chunks[i]
    kind, data, place = old.kind, old.data, old.place
    what = rng.choice(("place", "place", "place", "kind", "length", "streamed"))
    if what == "place" and place is not None:
        places = [t.place for t in file.tensors if t.storage == layout.STORAGE_ARENA]
        place = rng.choice(
            (*(place + 8, place - 8, 0, file.streamed - len(data)), near_limit(place, rng, places))
        )
        if rng.random() < 0.8:
            place = max(0, place - place % 8)
        elif rng.random() < 0.5:
            file.streamed = max(file.streamed, fitting(place + 2 * len(data)))
    elif what == "length":
        n = near_limit(len(data), rng) & 0xFFF
        data = data[:n] + bytes(max(0, n - len(data)))
    elif what == "kind":
        kind = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 99))
    else:
        kind = rng.choice(STREAMED)
    if kind in STREAMED and place is None:
        place = rng.choice((0, file.arena + -file.arena % 8))
        end = place + 2 * len(data)
        file.streamed = max(file.streamed, end + -end % 8)
    file.chunks[i] = Chunk(kind, data, fitting(place) if place is not None else None)
    return f"chunk {i}: kind {old.kind} is {kind}, place {old.place} is {place}, {len(data)} bytes"


@of_node
def reads(file: File, node: Node, rng: Random) -> str | None:
    """Change which chunks a step reads before it."""
    if not file.chunks:
        return None
    i = rng.randrange(len(file.chunks)) if rng.random() < 0.95 else near_limit(0, rng)
    if node.reads and rng.random() < 0.6:
        k = rng.randrange(len(node.reads))
        if rng.random() < 0.5:
            del node.reads[k]
            return f"{node.kernel}: read {k} is left out"
        node.reads[k] = i
    else:
        node.reads.append(i)
    return f"{node.kernel}: reads chunk {i}"
