"""Convert a model from float64 to float32, the only floats that MicroPython computes with."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ..protos import attributes_of, free_inputs, nodes_of, walk
from ..reference.differences import difference, random_sample
from ..reference.ort_session import OrtError, open_session

_SAMPLES = 5

_NAMES_OF_DTYPES = ("to", "dtype", "output_datatype")  # attributes that hold a dtype
_LARGEST = np.finfo(np.float32).max
# x <= t and x > t hold for the same x of float32 with t rounded down; x < t and x >= t up.
_ROUNDED_DOWN = (b"BRANCH_LEQ", b"BRANCH_GT")
_ROUNDED_UP = (b"BRANCH_LT", b"BRANCH_GTE")
_MODES = (b"BRANCH_LEQ", b"BRANCH_LT", b"BRANCH_GTE", b"BRANCH_GT")  # of TreeEnsemble, by number


def has_doubles(model: onnx.ModelProto) -> bool:
    """Return True if an input, a constant or an operator has dtype float64."""
    return any(_is_double(message) for message in walk(model))


def make_single(model: onnx.ModelProto) -> None:
    """Convert the model to float32, in place. Values beyond float32 become its largest values.

    A tree takes the same branches for all float32 inputs: its thresholds are rounded to the side
    on which nothing changes.
    """
    for node in nodes_of(model.graph):
        _round_thresholds(node)
    for message in walk(model):
        if not _is_double(message):
            continue
        if isinstance(message, TensorProto):
            values = numpy_helper.to_array(message)
            message.CopyFrom(numpy_helper.from_array(_single(values), message.name))
        elif isinstance(message, onnx.AttributeProto):
            message.i = TensorProto.FLOAT
        else:
            message.elem_type = TensorProto.FLOAT


def cost(before: onnx.ModelProto, after: onnx.ModelProto) -> str:
    """Return a sentence that says how much the results of two models differ on random inputs."""
    samples = [random_sample(free_inputs(before.graph), seed) for seed in range(_SAMPLES)]
    if None in samples:
        return "the loss is not known, because an input has strings or no fixed shape"
    try:
        first, second = open_session(before), open_session(after)
        pairs = [(first.run(None, x), second.run(None, _cast(x, after))) for x in samples]
    except (ImportError, OrtError):
        return "the loss is not known, because onnxruntime does not run the model in float64"
    floats, others = 0.0, 0
    for expected, got in pairs:
        for a, b in zip(expected, got, strict=True):
            if isinstance(a, np.ndarray) and a.dtype.kind == "f":
                floats = max(floats, difference(a, b))
            elif isinstance(a, np.ndarray):
                others += not np.array_equal(a, b)
    text = f"outputs differ by {floats:.1e} of the largest value on {_SAMPLES} random inputs"
    return text + (f", and classes or other integers on {others}" if others else "")


def _cast(sample, model):
    dtypes = {i.name: i.type.tensor_type.elem_type for i in model.graph.input}
    of = helper.tensor_dtype_to_np_dtype
    return {name: x.astype(of(dtypes[name])) for name, x in sample.items()}


def _is_double(message):
    if isinstance(message, TensorProto):
        return message.data_type == TensorProto.DOUBLE
    if isinstance(message, onnx.AttributeProto):
        return message.name in _NAMES_OF_DTYPES and message.i == TensorProto.DOUBLE
    return isinstance(message, onnx.TypeProto.Tensor) and message.elem_type == TensorProto.DOUBLE


def _single(values):
    finite = np.isfinite(values)
    return np.where(finite, np.clip(values, -_LARGEST, _LARGEST), values).astype(np.float32)


def _round_thresholds(node):
    """Round the thresholds of a node of trees, in either of ai.onnx.ml's two formats."""
    attributes = {a.name: a for a in node.attribute}
    name = "nodes_values_as_tensor" if "nodes_values_as_tensor" in attributes else "nodes_splits"
    if node.domain != "ai.onnx.ml" or name not in attributes or "nodes_modes" not in attributes:
        return
    tensor = attributes[name].t
    if tensor.data_type != TensorProto.DOUBLE:
        return
    modes = attributes_of(node)["nodes_modes"]
    if isinstance(modes, TensorProto):
        modes = [_MODES[m] if m < len(_MODES) else b"" for m in numpy_helper.to_array(modes)]
    values = numpy_helper.to_array(tensor).copy()
    for i, mode in enumerate(modes):
        if mode in _ROUNDED_DOWN or mode in _ROUNDED_UP:
            values[i] = _rounded(values[i], mode in _ROUNDED_UP)
    tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


def _rounded(value, is_up):
    """Return the nearest float32 at or above the value if is_up, else at or below it."""
    near = _single(value)
    is_there = near >= value if is_up else near <= value
    with np.errstate(over="ignore"):  # infinity is right behind the largest one
        return near if is_there else np.nextafter(near, np.float32(np.inf if is_up else -np.inf))
