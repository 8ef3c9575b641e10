"""Changes a model file in ways that know what its parts mean.

A change edits a File and says in words what it did, or returns None where the file has nothing of
its kind. Most changes leave a file that loads unless the device checks what they break, so that
runs are reached. Digests are always right.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from tools.converter.kernel_parameters import declaration_of
from tools.format import layout

from .modelfile import ITEMSIZES, OPEN, PACKED, STREAMED, Chunk, File, Node

ARENA, DATA, OBJECT, STATE = (
    layout.STORAGE_ARENA,
    layout.STORAGE_DATA,
    layout.STORAGE_OBJECT,
    layout.STORAGE_STATE,
)
INT32 = (-(1 << 31), (1 << 31) - 1)
_BIAS = 1 << 29  # what a board takes is below that
_FLOATS = ("nan", "inf", "-inf", "0", "-0", "1e-45", "3.4e38", "-3.4e38", "1e30", "-1", "1e-30")
# What a parameter of each kind (see kernel_parameters) has its borders at.
_OF_KIND = {
    "extent": (0, 1, 2, _BIAS - 1, _BIAS, -1),
    "signed": (0, 1, -1, _BIAS - 1, _BIAS, 1 - _BIAS, -_BIAS),
    "flag": (0, 1, 2, -1),
    "dim": (0, 1, 2, 3, -1),
    "float": [struct.unpack("<i", struct.pack("<f", float(text)))[0] for text in _FLOATS],
}
MANY = 3  # items of a list that one change touches at most

Change = Callable[[File, Random], str | None]


def mutated(file: File, rng: Random) -> tuple[bytes, list[str]]:
    """The bytes of a damaged copy, and what was changed."""
    file, done = file.copy(), []
    wanted = rng.choices((1, 2, 3, 4), (50, 25, 15, 10))[0]
    for _ in range(20):
        if len(done) == wanted:
            break
        (change,) = rng.choices(_CHANGES, _WEIGHTS)
        said = change(file, rng)
        if said:
            done.append(said)
    data = file.data()
    if rng.random() < 0.03:
        data, said = _raw(data, rng)
        done.append(said)
    return data, done


# ---- values


def border(value: int, rng: Random, others: Sequence[int] = ()) -> int:
    """A value near the borders of what a number may be."""
    kind = rng.randrange(10)
    if kind < 3:
        return value + rng.choice((1, -1, 2, -2, 4, -4, 8))
    if kind == 3:
        return rng.choice((0, 1, -1, 2, 3))
    if kind == 4:
        power = 1 << rng.randrange(31)
        return rng.choice((power, -power, power - 1, power + 1, INT32[0], INT32[1]))
    if kind in (5, 6) and others:
        return rng.choice(others) + rng.choice((0, 0, 0, 1, -1))
    if kind == 7:
        return rng.choice((value * 2, value // 2, -value, -1 - value, value ^ 1, value * 3))
    if kind == 8:
        return value ^ 1 << rng.randrange(16)
    return rng.choice((rng.randint(*INT32), rng.randint(-100, 300), rng.randint(0, 16)))


def _fitting(value):
    return min(max(value, INT32[0]), INT32[1])


# ---- nodes and their tensors


def _node(file: File, rng: Random) -> Node | None:
    nodes = file.all_nodes()
    return rng.choice(nodes) if nodes else None


def _operands(file: File, node: Node | None) -> list[tuple[list[int], int]]:
    """(list, place in it) of each of a node's tensors, but for numbers that an earlier change
    made those of no tensor.
    """
    groups = (node.inputs, node.outputs, node.scratch) if node else ()
    n = len(file.tensors)
    return [(g, k) for g in groups for k, i in enumerate(g) if 0 <= i < n]


def _has_place(file, i):
    return file.tensors[i].storage in (ARENA, STATE)


def overlap(file: File, rng: Random) -> str | None:
    """One tensor of a step comes to lie over another one of it."""
    node = _node(file, rng)
    spots = [(g, k) for g, k in _operands(file, node) if _has_place(file, g[k])]
    if len(spots) < 2:
        return None
    (group, k), (other_group, other_k) = rng.sample(spots, 2)
    i, j = group[k], other_group[other_k]
    t, other = file.tensors[i], file.tensors[j]
    size = ITEMSIZES.get(t.dtype, 1)
    place = other.place + rng.choice(
        (
            *(0, 0, 0, size, -size, 8, -8, t.nbytes // 2, -(t.nbytes // 2)),
            *(other.nbytes - t.nbytes, other.nbytes // 2, other.nbytes - size),
            *(rng.randint(-max(t.nbytes, 0), max(other.nbytes, 0)) for _ in range(3)),
        )
    )
    place = max(0, place - place % size)
    if rng.random() < 0.7:
        place = max(0, min(place, (file.arena - t.nbytes) // size * size))
    moved = replace(t, place=place, storage=other.storage)
    said = f"{node.kernel}: tensor {i} at {t.place} lies at {place}, over tensor {j}"
    if rng.random() < 0.6:  # only for this step
        file.tensors.append(moved)
        group[k] = len(file.tensors) - 1
    else:
        file.tensors[i] = moved
    return said


def same_tensor(file: File, rng: Random) -> str | None:
    """An operand of a step is another tensor, mostly of the same step."""
    node = _node(file, rng)
    spots = _operands(file, node)
    if not spots or not file.tensors:
        return None
    group, k = rng.choice(spots)
    other_group, other_k = rng.choice(spots)
    new = other_group[other_k] if rng.random() < 0.7 else rng.randrange(len(file.tensors))
    if rng.random() < 0.02:
        new = border(new, rng)
    said = f"{node.kernel}: operand {group[k]} is tensor {new}"
    group[k] = new
    return said


def _tensor(file: File, rng: Random) -> int | None:
    """The number of a tensor, mostly of one that a step has."""
    node = _node(file, rng)
    spots = _operands(file, node)
    if spots and rng.random() < 0.9:
        group, k = rng.choice(spots)
        return group[k]
    return rng.randrange(len(file.tensors)) if file.tensors else None


def place(file: File, rng: Random) -> str | None:
    i = _tensor(file, rng)
    if i is None:
        return None
    t = file.tensors[i]
    size = ITEMSIZES.get(t.dtype, 1)
    new = rng.choice(
        (
            *(file.arena - t.nbytes, file.arena - t.nbytes + size, t.place + size),
            *(t.place - size, t.place + 1, 0, rng.randrange(max(file.arena, 1))),
            border(t.place, rng, [u.place for u in file.tensors]),
        )
    )
    if rng.random() < 0.6:
        new = max(0, new - new % size)
    file.tensors[i] = replace(t, place=_fitting(new))
    return f"tensor {i}: place {t.place} is {new}"


def dtype(file: File, rng: Random) -> str | None:
    i = _tensor(file, rng)
    if i is None:
        return None
    t = file.tensors[i]
    alike = [d for d, n in ITEMSIZES.items() if n == ITEMSIZES.get(t.dtype)]
    some = alike if rng.random() < 0.5 and alike else [*range(1, 29), 8, 71, 81, 103, 0, 29, 200]
    new = rng.choice(some)
    file.tensors[i] = replace(t, dtype=new, size=t.size if t.size is not None else t.nbytes)
    if new == 11 and rng.random() < 0.9:
        file.features |= layout.FEATURE_FLOAT64
    if (new == 8 or new >= 64) and rng.random() < 0.9:
        file.features |= layout.FEATURE_OBJECTS
    return f"tensor {i}: dtype {t.dtype} is {new}"


def dims(file: File, rng: Random) -> str | None:
    i = _tensor(file, rng)
    if i is None:
        return None
    t = file.tensors[i]
    new = list(t.dims)
    kind = rng.randrange(7)
    if not new or kind == 0:
        new.insert(rng.randint(0, len(new)), rng.choice((1, 1, 0, 2, 3)))
    elif kind == 1:
        del new[rng.randrange(len(new))]
    elif kind == 2:
        rng.shuffle(new)
    elif kind == 3 and len(new) > 1:
        a, b = rng.sample(range(len(new)), 2)
        new[a], new[b] = new[a] * new[b], 1
    else:
        k = rng.randrange(len(new))
        new[k] = rng.choice(
            (*(0, 1, new[k] + 1, new[k] - 1, new[k] * 2), border(new[k], rng, list(t.dims)))
        )
    size = t.size
    if size is not None and rng.random() < 0.3:
        size = border(size, rng)
    file.tensors[i] = replace(t, dims=tuple(map(_fitting, new)), size=size)
    if rng.random() < 0.4:
        _make_room(file, i)
    return f"tensor {i}: dims {list(t.dims)} are {new}"


def _make_room(file, i):
    """An arena in which the tensor has room, so that the change is not refused for its place."""
    t = file.tensors[i]
    end = t.place + t.nbytes
    if t.storage == ARENA and end < 1 << 16:
        file.arena = max(file.arena, end + -end % 8)
        file.streamed = max(file.streamed, file.arena)


def storage(file: File, rng: Random) -> str | None:
    i = _tensor(file, rng)
    if i is None:
        return None
    t = file.tensors[i]
    new = rng.choice((ARENA, DATA, STATE, STATE, OBJECT))
    flags = rng.choice((t.flags, 0, PACKED, OPEN, 3)) if rng.random() < 0.4 else t.flags
    file.tensors[i] = replace(t, storage=new, flags=flags, size=t.nbytes)
    if new == STATE and rng.random() < 0.9:
        file.features |= layout.FEATURE_STATE
    return f"tensor {i}: storage {t.storage}, flags {t.flags} are {new}, {flags}"


def arena(file: File, rng: Random) -> str | None:
    old = file.arena
    new = rng.choice((0, old - 8, old + 8, old - 1, old + 64, 2 * old, border(old, rng)))
    file.arena = _fitting(new)
    if rng.random() < 0.7:
        file.streamed = max(file.streamed, file.arena)
    else:
        file.streamed = _fitting(border(file.streamed, rng, [file.arena]))
    return f"arena {old} is {new}, streamed {file.streamed}"


def parameter(file: File, rng: Random) -> str | None:
    node = _node(file, rng)
    if node is None or not node.params:
        return None
    said = []
    sizes = [d for g, k in _operands(file, node) for d in _sizes(file, g[k])]
    names = _names(node)
    for _ in range(rng.choice((1, 1, 1, 2, MANY))):
        k = rng.randrange(len(node.params))
        name, kind = names[k]
        others = node.params if rng.random() < 0.5 else sizes or node.params
        if rng.random() < 0.3 and kind in _OF_KIND:
            new = rng.choice(_OF_KIND[kind])
        else:
            new = _fitting(border(node.params[k], rng, others))
        said.append(f"{name}: {node.params[k]} is {new}")
        node.params[k] = new
        if rng.random() < 0.5:
            node.expressions.pop(k, None)
    return f"{node.kernel}: parameter {', '.join(said)}"


def _names(node):
    """Name and kind of each parameter, as far as they fit what the kernel declares."""
    declared = declaration_of(node.kernel)
    try:
        if declared:
            return [(place.path, place.field.kind) for place in declared.singles(node.params)]
    except ValueError:
        pass
    return [(str(k), "any") for k in range(len(node.params))]


def _sizes(file, i):
    t = file.tensors[i]
    return [*t.dims, t.nbytes // ITEMSIZES.get(t.dtype, 1)]


def parameters_moved(file: File, rng: Random) -> str | None:
    """Parameters are swapped, added, or left out."""
    node = _node(file, rng)
    if node is None or not node.params:
        return None
    k, m = rng.randrange(len(node.params)), rng.randrange(len(node.params))
    kind = rng.choice(("swapped", "added", "left out"))
    if kind == "swapped":
        node.params[k], node.params[m] = node.params[m], node.params[k]
    elif kind == "added":
        node.params.insert(k, node.params[m])
    else:
        del node.params[k]
        node.expressions.pop(len(node.params), None)
    return f"{node.kernel}: parameter {k} {kind}"


# ---- constants


def contents(file: File, rng: Random) -> str | None:
    """Items of a constant: positions, tables, weights, scales."""
    constants = [i for i, t in enumerate(file.tensors) if t.storage == DATA and t.nbytes]
    if not constants:
        return None
    i = rng.choice(constants)
    t = file.tensors[i]
    stored = t.nbytes if not t.flags & PACKED else max(t.nbytes // 4, 1)
    found = [
        (number, start, chunk)
        for number, (start, chunk) in enumerate(file.data_places())
        if start <= t.place and t.place + stored <= start + len(chunk.data)
    ]
    if not found or stored < 0:  # dims that another change made negative
        return None
    number, start, chunk = found[0]
    size = ITEMSIZES.get(t.dtype, 1) if not t.flags & PACKED else 1
    data = bytearray(chunk.data)
    said = []
    for _ in range(rng.choice((1, 1, 2, MANY, 8))):
        at = t.place - start + rng.randrange(max(stored // size, 1)) * size
        new = _item(bytes(data[at : at + size]), t.dtype, rng, _sizes(file, i))
        said.append(
            f"{(at - t.place + start) // size}: {data[at : at + size].hex()} is {new.hex()}"
        )
        data[at : at + size] = new
    if rng.random() < 0.05:
        data[t.place - start : t.place - start + stored] = rng.randbytes(stored)
    file.chunks[number] = replace(chunk, data=bytes(data))
    return f"constant {i}: {'; '.join(said)}"


_FLOAT_CODES = {1: "<f", 10: "<e", 11: "<d"}


def _item(old, dtype, rng, sizes):
    if dtype in _FLOAT_CODES and rng.random() < 0.7:
        value = float(rng.choice(_FLOATS)) if rng.random() < 0.7 else rng.uniform(-1e3, 1e3)
        try:
            return struct.pack(_FLOAT_CODES[dtype], value)
        except OverflowError:
            return struct.pack(_FLOAT_CODES[dtype], float("inf"))
    if rng.random() < 0.2:
        return rng.randbytes(len(old))
    bits = 8 * len(old)
    value = int.from_bytes(old, "little", signed=True)
    new = border(value, rng, sizes)
    if rng.random() < 0.2:
        new = rng.choice((-(1 << bits - 1), (1 << bits - 1) - 1, -1, 0))
    return (new & (1 << bits) - 1).to_bytes(len(old), "little")


def chunk(file: File, rng: Random) -> str | None:
    """Where a chunk is streamed to, its kind, its length."""
    if not file.chunks:
        return None
    i = rng.randrange(len(file.chunks))
    old = file.chunks[i]
    kind, data, place = old.kind, old.data, old.place
    what = rng.choice(("place", "place", "place", "kind", "length", "streamed"))
    if what == "place" and place is not None:
        places = [t.place for t in file.tensors if t.storage == ARENA]
        place = rng.choice(
            (*(place + 8, place - 8, 0, file.streamed - len(data)), border(place, rng, places))
        )
        if rng.random() < 0.8:
            place = max(0, place - place % 8)
        elif rng.random() < 0.5:
            file.streamed = max(file.streamed, _fitting(place + 2 * len(data)))
    elif what == "length":
        n = border(len(data), rng) & 0xFFF
        data = data[:n] + bytes(max(0, n - len(data)))
    elif what == "kind":
        kind = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 99))
    else:
        kind = rng.choice(STREAMED)
    if kind in STREAMED and place is None:
        place = rng.choice((0, file.arena + -file.arena % 8))
        end = place + 2 * len(data)
        file.streamed = max(file.streamed, end + -end % 8)
    file.chunks[i] = Chunk(kind, data, _fitting(place) if place is not None else None)
    return f"chunk {i}: kind {old.kind} is {kind}, place {old.place} is {place}, {len(data)} bytes"


def reads(file: File, rng: Random) -> str | None:
    """Which chunks a step reads before it."""
    node = _node(file, rng)
    if node is None or not file.chunks:
        return None
    i = rng.randrange(len(file.chunks)) if rng.random() < 0.95 else border(0, rng)
    if node.reads and rng.random() < 0.6:
        k = rng.randrange(len(node.reads))
        if rng.random() < 0.5:
            del node.reads[k]
            return f"{node.kernel}: read {k} is left out"
        node.reads[k] = i
    else:
        node.reads.append(i)
    return f"{node.kernel}: reads chunk {i}"


# ---- the graph


def _lists(file):
    """All lists of steps that have some."""
    lists = [file.nodes] + [body for node in file.all_nodes() for body in node.bodies]
    return [nodes for nodes in lists if nodes]


def steps(file: File, rng: Random) -> str | None:
    """Steps are swapped, doubled, left out."""
    lists = _lists(file)
    if not lists:
        return None
    nodes = rng.choice(lists)
    k, m = rng.randrange(len(nodes)), rng.randrange(len(nodes))
    kind = rng.choice(("swapped", "doubled", "left out"))
    said = f"step {k} {nodes[k].kernel} {kind}"
    if kind == "swapped":
        nodes[k], nodes[m] = nodes[m], nodes[k]
    elif kind == "doubled":
        nodes.insert(m, nodes[k].copy())
    else:
        del nodes[k]
    return said


def kernel(file: File, rng: Random) -> str | None:
    """A step is given to another kernel."""
    node = _node(file, rng)
    if node is None:
        return None
    others = [n.kernel for n in file.all_nodes() if n.kernel != node.kernel]
    new = rng.choice(others) if others and rng.random() < 0.6 else rng.choice(_NAMES)
    said = f"step {node.kernel} is {new}"
    node.kernel = new
    return said


# What is in the folder of kernels without being one, and what is in no folder.
_NAMES = (
    "loops.add",
    "loops",
    "forms",
    "_block",
    "qdot",
    "no_such",
    "_runs",
    "relu",
    "move",
    "same",
)


def operands(file: File, rng: Random) -> str | None:
    """Operands are swapped, added, or left out."""
    node = _node(file, rng)
    spots = _operands(file, node)
    if not spots:
        return None
    group, k = rng.choice(spots)
    other, m = rng.choice(spots)
    kind = rng.choice(("swapped", "swapped", "added", "left out"))
    said = f"{node.kernel}: operand {group[k]} {kind}, {other[m]}"
    if kind == "swapped":
        group[k], other[m] = other[m], group[k]
    elif kind == "added":
        group.insert(k, other[m])
    else:
        del group[k]
    return said


def bodies(file: File, rng: Random) -> str | None:
    """Bodies are left out, doubled, exchanged, or put into one another."""
    nodes = [n for n in file.all_nodes() if n.bodies]
    if not nodes:
        return None
    node = rng.choice(nodes)
    k, m = rng.randrange(len(node.bodies)), rng.randrange(len(node.bodies))
    kind = rng.choice(("left out", "doubled", "exchanged", "nested", "emptied"))
    said = f"{node.kernel}: body {k} {kind}"
    if kind == "left out":
        del node.bodies[k]
    elif kind == "doubled":
        node.bodies.append([n.copy() for n in node.bodies[k]])
    elif kind == "exchanged":
        node.bodies[k], node.bodies[m] = node.bodies[m], node.bodies[k]
    elif kind == "emptied":
        node.bodies[k] = []
    else:
        # Loops in loops in loops may run for as long as they say: one, or more than may be.
        for _ in range(rng.choice((1, 9))):
            node.bodies[k] = [node.copy()]
    return said


def borders(file: File, rng: Random) -> str | None:
    """Which tensors are the model's inputs and outputs."""
    if not file.tensors:
        return None
    name, ids = rng.choice((("inputs", file.inputs), ("outputs", file.outputs)))
    i = rng.randrange(len(file.tensors)) if rng.random() < 0.95 else border(0, rng)
    if ids and rng.random() < 0.7:
        ids[rng.randrange(len(ids))] = i
    else:
        ids.append(i)
    return f"{name}: one is tensor {i}"


def extents(file: File, rng: Random) -> str | None:
    """Run-time dims: bounds, expressions, and which parameters and shapes they decide."""
    if not file.bounds:
        return None
    kind = rng.choice(("bound", "word", "word", "operand", "parameter", "dim", "bound of another"))
    if kind.startswith("bound"):
        k = rng.randrange(len(file.bounds))
        file.bounds[k] = _fitting(border(file.bounds[k], rng, file.bounds))
        return f"bound of dim {k} is {file.bounds[k]}"
    if not file.expressions:
        return None
    e = rng.randrange(len(file.expressions))
    if kind == "parameter":
        node = _node(file, rng)
        if node is None or not node.params:
            return None
        k = rng.choice(list(node.expressions) or range(len(node.params)))
        node.expressions[k] = e
        return f"{node.kernel}: parameter {k} is expression {e}"
    if kind == "dim":
        i = _tensor(file, rng)
        t = file.tensors[i]
        if not t.flags & OPEN or not t.dims:
            return None
        new = list(t.dims)
        new[rng.randrange(len(new))] = -1 - e
        file.tensors[i] = replace(t, dims=tuple(new))
        return f"tensor {i}: dims are {new}"
    expression = file.expressions[e]
    if not expression:
        return None
    k = rng.randrange(len(expression))
    if kind == "operand":
        operation, operand = expression[k] & 7, expression[k] >> 3
        expression[k] = _fitting(border(operand, rng, file.bounds) << 3 | operation)
    else:
        expression[k] = _fitting(expression[k] ^ rng.randrange(8))
    return f"expression {e} is {expression}"


def features(file: File, rng: Random) -> str | None:
    file.features ^= 1 << rng.randrange(6)
    return f"features are {file.features}"


def _raw(data, rng):
    """Bits of the tables, without a look at what they mean; a right digest all the same."""
    n = struct.unpack_from("<I", data, 20)[0]
    found = bytearray(data)
    said = []
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.choice((rng.randrange(12, 24), rng.randrange(56, n), rng.randrange(56, n)))
        found[at] ^= 1 << rng.randrange(8)
        said.append(str(at))
    tables = bytes(found[: struct.unpack_from("<I", found, 20)[0]])
    found[24:56] = hashlib.sha256(tables[:24] + tables[56:]).digest()
    return bytes(found), f"bits of bytes {', '.join(said)}"


_SHARES = {
    overlap: 24,
    parameter: 26,
    contents: 12,
    same_tensor: 6,
    place: 6,
    dims: 7,
    dtype: 4,
    storage: 2,
    arena: 2,
    chunk: 4,
    reads: 2,
    parameters_moved: 2,
    steps: 2,
    operands: 2,
    kernel: 1,
    bodies: 3,
    borders: 1,
    extents: 8,
    features: 0.3,
}
_CHANGES, _WEIGHTS = list(_SHARES), list(_SHARES.values())
