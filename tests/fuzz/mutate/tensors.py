"""Change tensors: their offsets, their properties, and which of them a step uses.

As in all modules here, a change edits the File and returns a description, or None if the file has
nothing to change.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tools.format import layout

from ..modelfile import ITEMSIZES, OPEN, PACKED, File, Node, Record
from .pick import of_node, of_tensor, operands_of
from .values import fitting, near_limit

ARENA, DATA, OBJECT, STATE = (
    layout.STORAGE_ARENA,
    layout.STORAGE_DATA,
    layout.STORAGE_OBJECT,
    layout.STORAGE_STATE,
)


def _has_offset(file, i):
    """Return True if a tensor's place is an offset in memory that a run writes."""
    return file.tensors[i].storage in (ARENA, STATE)


@of_node
def overlap(file: File, node: Node, rng: Random) -> str | None:
    """Move one tensor of a step over another one of the same step."""
    spots = [(g, k) for g, k in operands_of(file, node) if _has_offset(file, g[k])]
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
    description = f"{node.kernel}: tensor {i} at {t.place} lies at {place}, over tensor {j}"
    if rng.random() < 0.6:  # only for this step
        file.tensors.append(moved)
        group[k] = len(file.tensors) - 1
    else:
        file.tensors[i] = moved
    return description


@of_node
def replaced_operand(file: File, node: Node, rng: Random) -> str | None:
    """Let a step use another tensor: mostly one of its own, rarely one that may not exist."""
    spots = operands_of(file, node)
    if not spots or not file.tensors:
        return None
    group, k = rng.choice(spots)
    other_group, other_k = rng.choice(spots)
    new = other_group[other_k] if rng.random() < 0.7 else rng.randrange(len(file.tensors))
    if rng.random() < 0.02:
        new = near_limit(new, rng)
    description = f"{node.kernel}: operand {group[k]} is tensor {new}"
    group[k] = new
    return description


@of_tensor
def place(file: File, i: int, t: Record, rng: Random) -> str | None:
    """Move a tensor: near its offset, to the arena's end, to 0 or to any other offset."""
    size = ITEMSIZES.get(t.dtype, 1)
    new = rng.choice(
        (
            *(file.arena - t.nbytes, file.arena - t.nbytes + size, t.place + size),
            *(t.place - size, t.place + 1, 0, rng.randrange(max(file.arena, 1))),
            near_limit(t.place, rng, [u.place for u in file.tensors]),
        )
    )
    if rng.random() < 0.6:
        new = max(0, new - new % size)
    file.tensors[i] = replace(t, place=fitting(new))
    return f"tensor {i}: place {t.place} is {new}"


@of_tensor
def dtype(file: File, i: int, t: Record, rng: Random) -> str | None:
    """Give a tensor another dtype, often one with elements of the same size."""
    alike = [d for d, n in ITEMSIZES.items() if n == ITEMSIZES.get(t.dtype)]
    some = alike if rng.random() < 0.5 and alike else [*range(1, 29), 8, 71, 81, 103, 0, 29, 200]
    new = rng.choice(some)
    file.tensors[i] = replace(t, dtype=new, size=t.size if t.size is not None else t.nbytes)
    if new == 11 and rng.random() < 0.9:
        file.features |= layout.FEATURE_FLOAT64
    if (new == 8 or new >= 64) and rng.random() < 0.9:
        file.features |= layout.FEATURE_OBJECTS
    return f"tensor {i}: dtype {t.dtype} is {new}"


@of_tensor
def dims(file: File, i: int, t: Record, rng: Random) -> str | None:
    """Change, add, delete, shuffle or merge dims of a tensor."""
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
            (*(0, 1, new[k] + 1, new[k] - 1, new[k] * 2), near_limit(new[k], rng, list(t.dims)))
        )
    size = t.size
    if size is not None and rng.random() < 0.3:
        size = near_limit(size, rng)
    file.tensors[i] = replace(t, dims=tuple(map(fitting, new)), size=size)
    if rng.random() < 0.4:
        _make_room(file, i)
    return f"tensor {i}: dims {list(t.dims)} are {new}"


def _make_room(file, i):
    """Enlarge the arena until the tensor fits, lest the change is refused for its offset."""
    t = file.tensors[i]
    end = t.place + t.nbytes
    if t.storage == ARENA and end < 1 << 16:
        file.arena = max(file.arena, end + -end % 8)
        file.streamed = max(file.streamed, file.arena)


@of_tensor
def storage(file: File, i: int, t: Record, rng: Random) -> str | None:
    """Give a tensor another kind of memory, and sometimes other flags."""
    new = rng.choice((ARENA, DATA, STATE, STATE, OBJECT))
    flags = rng.choice((t.flags, 0, PACKED, OPEN, 3)) if rng.random() < 0.4 else t.flags
    file.tensors[i] = replace(t, storage=new, flags=flags, size=t.nbytes)
    if new == STATE and rng.random() < 0.9:
        file.features |= layout.FEATURE_STATE
    return f"tensor {i}: storage {t.storage}, flags {t.flags} are {new}, {flags}"


def arena(file: File, rng: Random) -> str | None:
    """Change the sizes of the arena, in place and streamed."""
    old = file.arena
    new = rng.choice((0, old - 8, old + 8, old - 1, old + 64, 2 * old, near_limit(old, rng)))
    file.arena = fitting(new)
    if rng.random() < 0.7:
        file.streamed = max(file.streamed, file.arena)
    else:
        file.streamed = fitting(near_limit(file.streamed, rng, [file.arena]))
    return f"arena {old} is {new}, streamed {file.streamed}"
