"""Drops steps whose results nobody reads."""

from __future__ import annotations

from ..ir import Graph, Step, Tensor, walk
from ..shapes.extent import DimNumber


def prune(graph: Graph) -> None:
    """Changes the graph in place.

    A step with bodies stays, with all that they read; so does one that decides a run-time dim, or
    that only checks something.
    """
    needed = {t.root for t in graph.outputs}
    kept: list[Step] = []
    for step in reversed(graph.steps):
        if step.bodies or _acts(step) or any(t.root in needed for t in step.outputs):
            kept.append(step)
            needed.update(_read(step))
    graph.steps = kept[::-1]


def _acts(step: Step) -> bool:
    return not step.outputs or any(isinstance(p, DimNumber) for p in step.params)


def _read(step: Step) -> set[Tensor]:
    return {t.root for inner in walk([step]) for t in inner.inputs}
