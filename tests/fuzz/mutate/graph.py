"""Change steps: their number, order, kernels, operands and bodies.

As in all modules here, a change edits the File and returns a description, or None if the file has
nothing to change.
"""

from __future__ import annotations

from random import Random

from ..modelfile import File, Node
from .pick import of_node, operands_of
from .values import near_limit


def _lists(file):
    """Return all lists of steps that are not empty."""
    lists = [file.nodes] + [body for node in file.all_nodes() for body in node.bodies]
    return [nodes for nodes in lists if nodes]


def steps(file: File, rng: Random) -> str | None:
    """Swap, double or delete steps."""
    lists = _lists(file)
    if not lists:
        return None
    nodes = rng.choice(lists)
    k, m = rng.randrange(len(nodes)), rng.randrange(len(nodes))
    kind = rng.choice(("swapped", "doubled", "left out"))
    description = f"step {k} {nodes[k].kernel} {kind}"
    if kind == "swapped":
        nodes[k], nodes[m] = nodes[m], nodes[k]
    elif kind == "doubled":
        nodes.insert(m, nodes[k].copy())
    else:
        del nodes[k]
    return description


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


@of_node
def kernel(file: File, node: Node, rng: Random) -> str | None:
    """Assign another kernel to a step."""
    others = [n.kernel for n in file.all_nodes() if n.kernel != node.kernel]
    new = rng.choice(others) if others and rng.random() < 0.6 else rng.choice(_NAMES)
    description = f"step {node.kernel} is {new}"
    node.kernel = new
    return description


@of_node
def operands_moved(file: File, node: Node, rng: Random) -> str | None:
    """Swap, add or delete operands of a step."""
    spots = operands_of(file, node)
    if not spots:
        return None
    group, k = rng.choice(spots)
    other, m = rng.choice(spots)
    kind = rng.choice(("swapped", "swapped", "added", "left out"))
    description = f"{node.kernel}: operand {group[k]} {kind}, {other[m]}"
    if kind == "swapped":
        group[k], other[m] = other[m], group[k]
    elif kind == "added":
        group.insert(k, other[m])
    else:
        del group[k]
    return description


def bodies(file: File, rng: Random) -> str | None:
    """Delete, double, exchange or empty a body, or nest its step in it once or 9 times."""
    nodes = [n for n in file.all_nodes() if n.bodies]
    if not nodes:
        return None
    node = rng.choice(nodes)
    k, m = rng.randrange(len(node.bodies)), rng.randrange(len(node.bodies))
    kind = rng.choice(("left out", "doubled", "exchanged", "nested", "emptied"))
    description = f"{node.kernel}: body {k} {kind}"
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
    return description


def interface(file: File, rng: Random) -> str | None:
    """Change which tensors are the model's inputs and outputs."""
    if not file.tensors:
        return None
    name, ids = rng.choice((("inputs", file.inputs), ("outputs", file.outputs)))
    i = rng.randrange(len(file.tensors)) if rng.random() < 0.95 else near_limit(0, rng)
    if ids and rng.random() < 0.7:
        ids[rng.randrange(len(ids))] = i
    else:
        ids.append(i)
    return f"{name}: one is tensor {i}"


def features(file: File, rng: Random) -> str | None:
    """Flip one of the file's feature bits."""
    file.features ^= 1 << rng.randrange(6)
    return f"features are {file.features}"
