"""Check that a written file loads, with the device's own reader and kernels.

on_host adds what CPython lacks for them. They check only whole numbers, which are exact
here too, so they refuse here what they refuse on a board. `reach` derives from the plan what only
boards with 32-bit words refuse.
"""

from __future__ import annotations

import io
from pathlib import Path

from onnx import TensorProto

from .. import own
from ..errors import ConvertError
from ..ir import Graph
from . import on_host

_REACH = 1 << 24  # largest offset at which a memoryview can start with 32-bit words
_REPORT = "this is a bug in mpconnxr: please report it with the model"


class LoadError(ConvertError):
    """A board would refuse the file."""


def check(data: bytes, graph: Graph, ops: Path | None = None) -> list[str]:
    """Load a file as boards do: with weights in memory, and again with streamed ones streamed.

    Args:
        data: the bytes of the file.
        graph: the graph in it.
        ops: folder of the user's own operators, or None.

    Returns:
        Notes on parts that were not checked, and on boards that refuse the file.

    Raises:
        LoadError: if a board would refuse it.
    """
    is_streamed = graph.weights is not None and graph.weights.streamed_nbytes
    sources = [data, io.BytesIO(data)] if is_streamed else [data]
    notes: list[str] = []
    with on_host.package(ops) as unknown:
        notes += [f"--ops: kernel {name} is not checked here: {why}" for name, why in unknown]
        try:
            for source in sources:
                notes += _load(source, graph, ops)
        except on_host.TooLarge as e:
            notes.append(f"the file was not loaded here as boards do: {e}")
    return list(dict.fromkeys(notes + reach(data, graph)))


def reach(data: bytes, graph: Graph) -> list[str]:
    """Return notes on limits of boards with 32-bit words that the model exceeds."""
    far = [t for t in graph.tensors() if t.root.data is None and t.offset >= _REACH]
    notes = []
    if doubles := [t for t in graph.tensors() if t.dtype == TensorProto.DOUBLE]:
        notes.append(
            f"{doubles[0].name} is float64: boards whose firmware has single floats, as most "
            "have, refuse the file"
        )
    if far:
        last = max(far, key=lambda t: t.offset)
        notes.append(
            f"{last.name} lies {last.offset:,} bytes into the arena: boards with 32-bit words "
            "reach 16 MB, and refuse the file"
        )
    if len(data) > _REACH:
        notes.append(
            "the file is larger than 16 MB: boards with 32-bit words can stream its weights, "
            "and not read them in place"
        )
    return notes


def _load(source, graph, ops):
    from mpconnxr.errors import MpconnxrError

    path: list[int] = []
    try:
        return on_host.load(source, path, [Path(name).stem for name in own.kernels_in(ops)])
    except MpconnxrError as e:
        raise LoadError(f"{_where(graph, path)}boards refuse the file: {e}; {_REPORT}") from e


def _where(graph, path):
    """Return the node and step of a path (see on_host.load) for a message."""
    step, steps = None, graph.steps
    for k, i in enumerate(path[:-1]):
        if k % 2 == 0:
            step = steps[i]
        else:
            steps = step.bodies[i]
    if step is None:
        return ""
    number = "/".join(map(str, path[:-1]))
    return f"{step.node} (step {number}, kernel {step.kernel}): "
