"""Compute golden vectors: inputs with the outputs that onnxruntime computes for them.

A board runs them after deployment and compares (see mpconnxr/inspect/golden.py).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import onnx
from onnx import helper

from tools.format.layout import element_bytes
from tools.format.objects import text_of

from ..ir import Tensor
from ..protos import free_inputs
from .ort_session import OrtError, open_session
from .tolerance import RELATIVE, is_float, largest_of


def reference(
    model: onnx.ModelProto, inputs: Sequence[np.ndarray], states: Mapping[str, str] | None = None
) -> list[np.ndarray] | None:
    """Return the outputs that onnxruntime computes, None if it is not installed or refuses.

    Args:
        model: the model, which runs without graph optimizations.
        inputs: arrays in the graph's order, without states.
        states: outputs by input; these inputs are zero, and these outputs are omitted.

    Returns:
        Arrays and lists of maps. A sequence of tensors is as many outputs.
    """
    outputs = named_reference(model, inputs, states)
    return None if outputs is None else [y for _, y in outputs]


def named_reference(
    model: onnx.ModelProto, inputs: Sequence[np.ndarray], states: Mapping[str, str] | None = None
) -> list[tuple[str, np.ndarray | list[dict]]] | None:
    """Return (name, value) of each output, as `reference` computes them; None if it cannot."""
    try:
        return _run(model, inputs, states or {})
    except (ImportError, OrtError, ValueError):  # ValueError: inputs do not fit
        return None


def why_none(
    model: onnx.ModelProto, inputs: Sequence[np.ndarray], states: Mapping[str, str] | None = None
) -> str:
    """Return why `reference` returns None for these arguments; "" if it returns outputs."""
    try:
        _run(model, inputs, states or {})
    except ImportError:
        return "onnxruntime is not installed: pip install onnxruntime"
    except (OrtError, ValueError) as e:
        return f"onnxruntime does not run this model: {' '.join(str(e).split())}"
    return ""


def feed_of(
    model: onnx.ModelProto, inputs: Sequence[np.ndarray], states: Mapping[str, str]
) -> dict[str, np.ndarray]:
    """Return all inputs by name: arrays in the graph's order, and zeros for the states."""
    infos = free_inputs(model.graph)
    names = [i.name for i in infos if i.name not in states]
    zeros = {i.name: _zero(i) for i in infos if i.name in states}
    return dict(zip(names, inputs, strict=True)) | zeros


def _run(model, inputs, states):
    return _stream(model, inputs, states, 1)[0]


def stream(
    model: onnx.ModelProto, inputs: Sequence[np.ndarray], states: Mapping[str, str], n: int
) -> list[list[tuple[str, np.ndarray | list[dict]]]]:
    """Return (name, value) of the outputs for n runs with the same inputs, which keep the states.

    The list is empty if onnxruntime does not run the model.

    Args:
        model: the model.
        inputs: arrays in the graph's order.
        states: outputs by the input that they feed in the next run.
        n: number of runs.
    """
    try:
        return _stream(model, inputs, states, n)
    except (ImportError, OrtError, ValueError):
        return []


def _stream(model, inputs, states, n):
    session, feed = open_session(model), feed_of(model, inputs, states)
    runs = []
    for _ in range(n):
        values = dict(zip(session.outputs, session.run(None, feed), strict=True))
        feed = feed | {name: values[output] for name, output in states.items()}
        runs.append(_named(values, [o for o in session.outputs if o not in states.values()]))
    return runs


def _named(values, names):
    """Return (name, value) of outputs, for a sequence one for each element."""
    pairs = []
    for name in names:
        y = values[name]
        elements = y if isinstance(y, list) and not _has_only_maps(y) else [y]
        pairs += [(name, element) for element in elements if element is not None]
    return pairs


def _has_only_maps(y):
    return bool(y) and all(isinstance(element, dict) for element in y)


def _zero(info):
    t = info.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(t.elem_type)
    return np.zeros([d.dim_value for d in t.shape.dim], dtype)


def random_inputs(graph, seed: int = 0) -> list[np.ndarray]:
    """Return normal floats and small integers for the inputs of a lowered graph."""
    return random_values(graph.inputs, seed)


def choices(graph) -> Iterator[list[np.ndarray]]:
    """Yield inputs to try in turn: random ones, then others if a model does not take them."""
    yield (inputs := random_inputs(graph))
    yield [np.abs(x) for x in inputs]
    yield [np.zeros_like(x) for x in inputs]
    yield [np.ones_like(x) for x in inputs]


def spread_inputs(
    graph, grids: Mapping[str, tuple[float, int, np.dtype]], seed: int = 0
) -> list[np.ndarray]:
    """Return inputs of a quantized model that take all values of its integers.

    Args:
        graph: lowered.
        grids: scale, zero point and dtype of the integers that a float input becomes, by its name.
        seed: seed of the random values.
    """
    rng, values = np.random.default_rng(seed), random_inputs(graph, seed)
    for i, t in enumerate(graph.inputs):
        if t.name in grids:
            scale, zero_point, dtype = grids[t.name]
            whole = rng.integers(*_range(dtype), t.shape).astype(np.float64)
            values[i] = np.asarray((whole - zero_point) * scale).astype(t.np_dtype)
        elif t.np_dtype in (np.int8, np.uint8):
            values[i] = np.asarray(rng.integers(*_range(t.np_dtype), t.shape)).astype(t.np_dtype)
    return values


def _range(dtype):
    bounds = np.iinfo(dtype)
    return bounds.min, bounds.max + 1


def random_values(tensors: Iterable[Tensor], seed: int = 0) -> list[np.ndarray]:
    """Return normal floats or small integers for each tensor."""
    rng = np.random.default_rng(seed)
    values = []
    for t in tensors:
        kind = t.np_dtype.kind
        value = rng.standard_normal(t.shape) if kind == "f" else rng.integers(0, 2, t.shape)
        values.append(np.asarray(value).astype(t.np_dtype))
    return values


def chunk(
    inputs: Sequence[np.ndarray], outputs: Sequence, bounds: Sequence[float] | None = None
) -> bytes:
    """Return the golden chunk: number of vectors, bounds, then inputs and outputs in C order.

    Each value starts at a multiple of 16 bytes.

    Args:
        inputs: arrays in the graph's order.
        outputs: arrays or maps in the graph's order.
        bounds: largest error of each output; by default RELATIVE of its largest magnitude.

    Raises:
        ValueError: for NaN or infinity in a map.
    """
    if bounds is None:
        bounds = [RELATIVE * largest_of(y) if is_float(y) else 0.0 for y in outputs]
    data = bytearray(struct.pack(f"<I{len(bounds)}f", 1, *bounds))
    data.extend(bytes(-len(data) % 16))
    for value in [*inputs, *outputs]:
        data.extend(_object_bytes(value) if _is_object(value) else element_bytes(value))
        data.extend(bytes(-len(data) % 16))
    return bytes(data)


def _is_object(value):
    return isinstance(value, (dict, list)) or value.dtype.kind in "OUS"


def _object_bytes(value):
    """Return strings or maps as JSON, preceded by its length."""
    if isinstance(value, np.ndarray):
        contents = [text_of(s) for s in value.reshape(-1)]
    else:
        maps = [value] if isinstance(value, dict) else value
        contents = [[[k, _plain(v)] for k, v in one.items()] for one in maps]
    text = json.dumps(
        contents, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    ).encode()
    return struct.pack("<I", len(text)) + text


def _plain(value):
    """Convert numpy's numbers to Python's: float32 keeps the digits that it has."""
    return float(str(value)) if isinstance(value, np.floating) else value
