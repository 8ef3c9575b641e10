"""Change the integer parameters of steps.

As in all modules here, a change edits the File and returns a description, or None if the file has
nothing to change.
"""

from __future__ import annotations

import struct
from random import Random

from tools.converter.kernel_parameters import declaration_of

from ..modelfile import File, Node
from .pick import of_node, operands_of, sizes_of
from .values import FLOATS, MANY, fitting, near_limit

_BIAS = 1 << 29  # what a board takes is below that
# What a parameter of each kind (see kernel_parameters) has its borders at.
_OF_KIND = {
    "extent": (0, 1, 2, _BIAS - 1, _BIAS, -1),
    "signed": (0, 1, -1, _BIAS - 1, _BIAS, 1 - _BIAS, -_BIAS),
    "flag": (0, 1, 2, -1),
    "dim": (0, 1, 2, 3, -1),
    "float": [struct.unpack("<i", struct.pack("<f", float(text)))[0] for text in FLOATS],
}


@of_node
def parameter(file: File, node: Node, rng: Random) -> str | None:
    """Set parameters of a step to values near their limits, its other parameters or sizes."""
    if not node.params:
        return None
    changed = []
    sizes = [d for g, k in operands_of(file, node) for d in sizes_of(file, g[k])]
    names = _names(node)
    for _ in range(rng.choice((1, 1, 1, 2, MANY))):
        k = rng.randrange(len(node.params))
        name, kind = names[k]
        others = node.params if rng.random() < 0.5 else sizes or node.params
        if rng.random() < 0.3 and kind in _OF_KIND:
            new = rng.choice(_OF_KIND[kind])
        else:
            new = fitting(near_limit(node.params[k], rng, others))
        changed.append(f"{name}: {node.params[k]} is {new}")
        node.params[k] = new
        if rng.random() < 0.5:
            node.expressions.pop(k, None)
    return f"{node.kernel}: parameter {', '.join(changed)}"


def _names(node):
    """Return (name, kind) of each parameter; general ones if the declaration does not fit."""
    declared = declaration_of(node.kernel)
    try:
        if declared:
            return [(place.path, place.field.kind) for place in declared.singles(node.params)]
    except ValueError:
        pass
    return [(str(k), "any") for k in range(len(node.params))]


@of_node
def parameters_moved(file: File, node: Node, rng: Random) -> str | None:
    """Swap, add or delete parameters of a step."""
    if not node.params:
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
