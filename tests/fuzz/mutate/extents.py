"""Changes of the dims that each run decides."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ..modelfile import OPEN, File
from .pick import any_node, any_tensor
from .values import fitting, near_limit


def extents(file: File, rng: Random) -> str | None:
    """Change run-time dims: bounds, expressions, the parameters and shapes that they decide."""
    if not file.bounds:
        return None
    kind = rng.choice(("bound", "word", "word", "operand", "parameter", "dim", "bound of another"))
    if kind.startswith("bound"):
        k = rng.randrange(len(file.bounds))
        file.bounds[k] = fitting(near_limit(file.bounds[k], rng, file.bounds))
        return f"bound of dim {k} is {file.bounds[k]}"
    if not file.expressions:
        return None
    e = rng.randrange(len(file.expressions))
    if kind == "parameter":
        node = any_node(file, rng)
        if node is None or not node.params:
            return None
        k = rng.choice(list(node.expressions) or range(len(node.params)))
        node.expressions[k] = e
        return f"{node.kernel}: parameter {k} is expression {e}"
    if kind == "dim":
        i = any_tensor(file, rng)
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
        expression[k] = fitting(near_limit(operand, rng, file.bounds) << 3 | operation)
    else:
        expression[k] = fitting(expression[k] ^ rng.randrange(8))
    return f"expression {e} is {expression}"
