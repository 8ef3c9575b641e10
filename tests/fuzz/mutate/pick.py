"""Choose the step, or the tensor, that a change applies to."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from random import Random

from ..modelfile import ITEMSIZES, File, Node

Change = Callable[[File, Random], str | None]


def of_node(change: Callable[..., str | None]) -> Change:
    """Turn change(file, node, rng) of a step into a change of a file at a random step."""

    @wraps(change)
    def changed(file, rng):
        node = any_node(file, rng)
        return change(file, node, rng) if node else None

    return changed


def of_tensor(change: Callable[..., str | None]) -> Change:
    """Turn a change of a tensor, change(file, i, tensor, rng), into a change of a file.

    The tensor is random, mostly one that a step uses.
    """

    @wraps(change)
    def changed(file, rng):
        i = any_tensor(file, rng)
        return None if i is None else change(file, i, file.tensors[i], rng)

    return changed


def any_node(file: File, rng: Random) -> Node | None:
    """Return a random step, also one of a body; None if the file has none."""
    nodes = file.all_nodes()
    return rng.choice(nodes) if nodes else None


def operands_of(file: File, node: Node | None) -> list[tuple[list[int], int]]:
    """Return where a step names its tensors: (list of numbers, index in the list) of each.

    Numbers that an earlier change has made invalid are omitted.
    """
    groups = (node.inputs, node.outputs, node.scratch) if node else ()
    n = len(file.tensors)
    return [(g, k) for g in groups for k, i in enumerate(g) if 0 <= i < n]


def any_tensor(file: File, rng: Random) -> int | None:
    """Return the number of a random tensor, mostly of one that a step uses; None without any."""
    node = any_node(file, rng)
    spots = operands_of(file, node)
    if spots and rng.random() < 0.9:
        group, k = rng.choice(spots)
        return group[k]
    return rng.randrange(len(file.tensors)) if file.tensors else None


def sizes_of(file: File, i: int) -> list[int]:
    """Return a tensor's dims and its number of elements."""
    t = file.tensors[i]
    return [*t.dims, t.nbytes // ITEMSIZES.get(t.dtype, 1)]
