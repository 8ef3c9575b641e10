"""Lower LabelEncoder and CategoryMapper to kernel label_encoder; DictVectorizer and ZipMap."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from tools.format.objects import SEQUENCE, STRING, STRING_KEYS, string_array, text_of

from ..errors import Problem
from ..ir import Tensor
from . import ML, lowers
from ._dtypes import FLOAT
from ._ml_scores import cast
from ._strings import emit_map, require_fixed


@lowers("LabelEncoder", domain=ML)
@lowers("LabelEncoder", domain=ML, objects=True)
def lower_label_encoder(node):
    """Lower LabelEncoder. A repeated key keeps its last value; NaN equals NaN; 0.0 equals -0.0."""
    x, out = node.inputs[0], node.outputs[0]
    if node.attr("classes_strings") is not None:
        _lower_classes(node, x, out)
        return
    keys, values = _column(node, "keys", x), _column(node, "values", out)
    if keys.size != values.size:
        raise Problem(f"{keys.size} keys and {values.size} values")
    answers = dict(zip(keys.tolist(), values, strict=True))
    emit_map(node, x, answers, _default(node, out), out)


def _lower_classes(node, x, out):
    """Lower LabelEncoder 1, which maps strings to their indices or back."""
    classes = [text_of(s) for s in node.attr("classes_strings")]
    if x.dtype == STRING:
        answers, default = {s: i for i, s in enumerate(classes)}, node.attr("default_int64", -1)
    else:
        answers, default = dict(enumerate(classes)), node.attr("default_string", "_Unused")
    emit_map(node, x, answers, default, out)


@lowers("CategoryMapper", domain=ML, objects=True)
def lower_category_mapper(node):
    """Lower CategoryMapper, which maps strings to integers or back."""
    x, out = node.inputs[0], node.outputs[0]
    texts = [text_of(s) for s in node.attr("cats_strings", [])]
    numbers = node.attr("cats_int64s", [])
    if len(texts) != len(numbers):
        raise Problem(f"{len(texts)} cats_strings and {len(numbers)} cats_int64s")
    if x.dtype == STRING:
        answers, default = dict(zip(texts, numbers, strict=True)), node.attr("default_int64", -1)
    else:
        answers = dict(zip(numbers, texts, strict=True))
        default = node.attr("default_string", "_Unused")
    emit_map(node, x, answers, default, out)


def _column(node, prefix, t: Tensor) -> np.ndarray:
    """Return keys or values, from the attribute that has them."""
    for suffix in ("_strings", "_int64s", "_floats", "_tensor"):
        values = node.attr(prefix + suffix)
        if values is None:
            continue
        data = numpy_helper.to_array(values) if suffix == "_tensor" else np.array(values)
        if (t.dtype == STRING) != (data.dtype.kind in "OSU"):
            raise Problem(f"{prefix}{suffix} for {t}")
        if t.dtype == STRING:
            return string_array(data.reshape(-1))
        column = data.reshape(-1).astype(t.np_dtype)
        if t.np_dtype.kind != "f" and not np.array_equal(column, data.reshape(-1)):
            raise Problem(f"{prefix} that {t.np_dtype} does not hold")
        return column
    raise Problem(f"no {prefix}")


def _default(node, out: Tensor):
    tensor = node.attr("default_tensor")
    if tensor is not None and tensor.data_type:
        return numpy_helper.to_array(tensor).reshape(-1)[0]
    if out.dtype == STRING:
        return node.attr("default_string", "_Unused")
    if out.np_dtype.kind == "f":
        return node.attr("default_float", -0.0)
    return node.attr("default_int64", -1)


@lowers("DictVectorizer", domain=ML, objects=True)
def lower_dict_vectorizer(node):
    x, out = node.inputs[0], node.outputs[0]
    keys = _keys(node, x, "string_vocabulary", "int64_vocabulary")
    require_fixed(out)
    if x.dtype & SEQUENCE or x.dtype & 15 != out.dtype or len(keys) != out.nelem:
        raise Problem(f"a map of {x} for {out}")
    node.emit("dict_vectorizer", [x, node.constant(keys)], [out])


@lowers("ZipMap", domain=ML, objects=True)
def lower_zip_map(node):
    x, out = cast(node, node.inputs[0], FLOAT), node.outputs[0]
    keys = _keys(node, out, "classlabels_strings", "classlabels_int64s")
    if len(x.shape) not in (1, 2) or x.shape[-1] != len(keys):
        raise Problem(f"{len(keys)} labels for scores of shape {list(x.shape)}")
    node.emit("zip_map", [x, node.constant(keys)], [out])


def _keys(node, t: Tensor, strings: str, ints: str) -> np.ndarray:
    """Return the keys in one of two attributes, by the dtype of the map's keys.

    Args:
        node: the node.
        t: the map.
        strings: name of the attribute with strings.
        ints: name of the attribute with integers.
    """
    name = strings if t.dtype & STRING_KEYS else ints
    keys = node.attr(name)
    if not keys:
        raise Problem(f"{name} is missing")
    return string_array(keys) if t.dtype & STRING_KEYS else np.array(keys, np.int64)
