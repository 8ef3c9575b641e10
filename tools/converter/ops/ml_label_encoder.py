"""LabelEncoder -> kernel label_encoder."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from ..errors import Problem
from . import lowers


@lowers("LabelEncoder", domain="ai.onnx.ml")
def lower_label_encoder(node):
    """Of keys that are there twice, the last counts; NaN finds NaN, and 0 finds -0."""
    x, out = node.inputs[0], node.outputs[0]
    if node.attr("classes_strings") is not None:
        raise Problem("string classes")
    keys, values = _column(node, "keys", x.np_dtype), _column(node, "values", out.np_dtype)
    if keys.size != values.size:
        raise Problem(f"{keys.size} keys and {values.size} values")
    default = _default(node, out.np_dtype)
    found = {k: v for k, v in zip(keys.tolist(), values, strict=True) if k == k}
    of_nan = [v for k, v in zip(keys.tolist(), values, strict=True) if k != k]
    ordered = sorted(found)
    answers = [*(found[k] for k in ordered), of_nan[-1] if of_nan else default, default]
    constants = [np.array(ordered, x.np_dtype), np.array(answers, out.np_dtype)]
    node.emit("label_encoder", [x, *map(node.constant, constants)], [out], [])


def _column(node, kind, dtype) -> np.ndarray:
    """keys or values, from whichever attribute has them. Raises Problem."""
    if node.attr(kind + "_strings") is not None:
        raise Problem(f"string {kind}")
    for suffix in ("_int64s", "_floats", "_tensor"):
        found = node.attr(kind + suffix)
        if found is not None:
            data = numpy_helper.to_array(found) if suffix == "_tensor" else np.array(found)
            if data.dtype.kind not in "iuf":
                raise Problem(f"string {kind}")
            column = data.reshape(-1).astype(dtype)
            if dtype.kind != "f" and not np.array_equal(column, data.reshape(-1)):
                raise Problem(f"{kind} that {dtype} does not hold")
            return column
    raise Problem(f"no {kind}")


def _default(node, dtype):
    tensor = node.attr("default_tensor")
    if tensor is not None and tensor.data_type:
        return numpy_helper.to_array(tensor).reshape(-1)[0]
    if dtype.kind == "f":
        return node.attr("default_float", -0.0)
    return node.attr("default_int64", -1)
