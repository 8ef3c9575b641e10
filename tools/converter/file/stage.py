"""Emit the file: the last pass of pipeline.py."""

from __future__ import annotations

from tools import seal
from tools.format import layout
from tools.limits import at

from ..conversion import Conversion
from ..errors import UsageError
from ..ir import walk
from ..reference import golden
from ..reference.expected import expected
from ..reference.vector import NoVector, vector_of
from ..verify import calls
from . import interface, loads, writer
from .writer import source_chunk


def write(state: Conversion) -> None:
    """Write the bytes of the file, seal them, and prove that a board loads them.

    Raises:
        ConvertError: if labels or expected outputs do not fit the model.
        LoadError: if a board would refuse the file.
    """
    options, graph = state.options, state.graph
    extra = _interface(state)
    if state.expect is not None:
        at("comparing the model with the outputs that are expected")
        state.expected = expected(
            state.loaded, state.golden, state.expect, options.state, state.grids
        )
    extra += _labels(state) + ([] if options.strip else _for_people(state))
    if options.vector and state.vector is None:
        _for_check(state)
    at("writing the file")
    data = writer.model_bytes(graph, state.arena.arena_bytes, extra)
    if options.seal:
        data = seal.sealed(data, options.seal.keys, options.seal.counter)
    state.notes += loads.check(data, graph, options.ops)
    at("proving that no step overwrites what it still reads")
    state.notes += calls.check(data, graph)
    state.data = data


def _interface(state):
    """Return the chunks that a board needs to feed the model."""
    state.grids = interface.grids_of(state.simplified, state.graph)
    grids = interface.grids_chunk(state.grids, state.graph)
    images = interface.images_chunk(state.options.images, state.graph, state.grids)
    chunks = [(layout.CHUNK_GRIDS, grids), (layout.CHUNK_IMAGES, images)]
    return [chunk for chunk in chunks if chunk[1]]


def _labels(state):
    """Return the chunk of class names; refuse them if no output has as many scores."""
    names, outputs = state.options.class_names, state.graph.outputs
    if not names:
        return []
    if not any(t.shape and t.shape[-1] == len(names) for t in outputs):
        has = "; ".join(f"{t.name} has {list(t.shape)}" for t in outputs)
        raise UsageError(f"--labels-file: {len(names)} labels, but {has}")
    return [(layout.CHUNK_LABELS, layout.names_chunk(names))]


def _for_people(state):
    """Return the optional chunks: names, source, golden vector."""
    graph = state.graph
    names = layout.names_chunk(t.name for t in graph.inputs + graph.outputs)
    nodes = layout.names_chunk(step.node for step in walk(graph.steps))
    chunks = [(layout.CHUNK_NAMES, names), (layout.CHUNK_NODES, nodes)]
    chunks.append((layout.CHUNK_SOURCE, source_chunk(state.source, state.answers)))
    return chunks + _golden(state)


def _golden(state):
    """Return the chunk of the golden vector; if there is none, note why."""
    try:
        vector = _vector(state)
        data = golden.chunk(vector.inputs, *_right(state, vector))
    except NoVector as e:
        state.no_vector = str(e)
    except ValueError:
        state.no_vector = "a map has NaN or infinity for these inputs"
    else:
        state.vector = vector
        return [(layout.CHUNK_GOLDEN, data)]
    state.notes.append(f"no test vector to verify a board with: {state.no_vector}")
    return []


def _right(state, vector):
    """Return (outputs, bounds) of the reference, or of the user's expected outputs."""
    if state.expected is None or state.answers is not state.loaded:
        return vector.values, vector.bounds
    return state.expected.outputs, state.expected.bounds(vector.bounds)


def _for_check(state):
    """Compute the golden vector for a check, if the file has none."""
    try:
        state.vector = _vector(state, is_for_file=False)
    except NoVector as e:
        state.no_vector = str(e)


def _vector(state, is_for_file=True):
    options = state.options
    return vector_of(
        state.answers, state.graph, options.float, state.golden, options.state, is_for_file
    )
