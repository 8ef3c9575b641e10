"""Draw the steps as a column of boxes; edges that skip steps run on its left."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from ..ir import Graph, walk
from .rows import type_text
from .svg import element

_BOX_WIDTH, _BOX_HEIGHT, _GAP = 380.0, 30.0, 24.0
_TOP = 8.0
_LANE = 14.0  # pixels between lines that run beside the boxes
_MOST_LANES = 12


def draw(graph: Graph) -> Markup:
    """Return an <svg> of the inputs, the steps in order, and the outputs."""
    boxes = [("input", t.name, type_text(t)) for t in graph.inputs]
    producers = {t.root: i for i, t in enumerate(graph.inputs)}
    edges = []
    for step in walk(graph.steps):
        here = len(boxes)
        edges += sorted({(producers[t.root], here) for t in step.inputs if t.root in producers})
        boxes.append(("step", step.kernel, ", ".join(map(type_text, step.outputs))))
        producers.update((t.root, here) for t in step.outputs)
    for t in graph.outputs:
        if t.root in producers:
            edges.append((producers[t.root], len(boxes)))
        boxes.append(("output", t.name, type_text(t)))
    left = 10 + _LANE * max((lane for *_, lane in _lanes(edges)), default=0)
    drawn = [_edge(left, *edge) for edge in _lanes(edges)]
    drawn += [_box(left, i, *box) for i, box in enumerate(boxes)]
    width, height = left + _BOX_WIDTH + 10, _TOP + len(boxes) * (_BOX_HEIGHT + _GAP)
    return element("svg", *drawn, class_="graph", width=width, height=height, role="img")


def _lanes(edges: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield (from, to, lane) for each edge.

    Lane 0 joins neighbours; other edges get the first lane that is free.
    """
    taken: list[int] = []  # the box at which each lane becomes free
    for start, end in sorted(edges):
        if end == start + 1:
            yield start, end, 0
            continue
        free = [i for i, until in enumerate(taken) if until <= start]
        lane = free[0] if free else min(len(taken), _MOST_LANES - 1)
        taken[lane : lane + 1] = [end]
        yield start, end, lane + 1


def _y(i):
    return _TOP + i * (_BOX_HEIGHT + _GAP)


def _edge(left, start, end, lane):
    """Return the path from box `start` to box `end`; `left` is the left side of the boxes."""
    y1, y2 = _y(start) + _BOX_HEIGHT, _y(end)
    if lane == 0:
        x = left + 60
        return element("path", d=f"M{x:.0f} {y1:.0f} V{y2:.0f}", class_="edge")
    x, beside = left, left - lane * _LANE
    y1, y2 = y1 - 8, y2 + 8
    return element("path", d=f"M{x:.0f} {y1:.0f} H{beside:.0f} V{y2:.0f} H{x:.0f}", class_="edge")


def _box(left, i, kind, name, detail):
    rect = element(
        "rect", x=left, y=_y(i), width=_BOX_WIDTH, height=_BOX_HEIGHT, rx=6, class_=kind
    )
    baseline = _y(i) + _BOX_HEIGHT / 2 + 4
    head = element("text", _cut(name, 18), x=left + 10, y=baseline, class_="name")
    tail = element("text", _cut(detail, 40), x=left + _BOX_WIDTH - 10, y=baseline, class_="detail")
    return rect + head + tail


def _cut(text, length):
    return text if len(text) <= length else text[: length - 1] + "…"
