"""Lower the operators of ai.onnx.ml that prepare features."""

from __future__ import annotations

import math

import numpy as np

from tools.format.objects import STRING, text_of

from ..errors import Problem
from ..shapes.extent import any_open
from . import ML, lowers
from ._dtypes import BOOL, DOUBLE, FLOAT, INT32, INT64
from ._elementwise import binary, emit_binary, emit_unary
from ._ml_scores import cast, float_attribute, rows_of
from ._move import emit_fill, emit_move
from ._select import emit_gather, emit_known_gather
from ._strings import emit_map
from .cast import emit_cast
from .reduce import SUM, emit_reduce
from .select import emit_where


@lowers("Scaler", domain=ML)
def lower_scaler(node):
    """Lower Scaler: (x - offset) * scale, computed in float64 for float64."""
    x, out = node.inputs[0], node.outputs[0]
    dtype = DOUBLE if x.dtype == DOUBLE else FLOAT
    x = cast(node, x, dtype)
    scale, offset = float_attribute(node, "scale"), float_attribute(node, "offset")
    if scale.size != offset.size or scale.size not in (1, x.shape[-1]):
        raise Problem(f"{scale.size} values of scale, {offset.size} of offset")
    if len(x.shape) > 2 and scale.size > 1:
        raise Problem(f"input of {len(x.shape)} dimensions")
    scaled = out if dtype == FLOAT else node.temp(dtype, x.shape)
    moved = binary(node, "sub", x, node.constant(offset.astype(x.np_dtype)))
    emit_binary(node, "mul", moved, node.constant(scale.astype(x.np_dtype)), scaled)
    if scaled is not out:
        emit_cast(node, scaled, out)


# Operation and power of kernel reduce for each norm.
_NORMS = {"MAX": (2, 0), "L1": (8, 1), "L2": (8, 2)}


@lowers("Normalizer", domain=ML)
def lower_normalizer(node):
    """Lower Normalizer: each row is divided by its norm. A row whose norm is 0 stays."""
    if (norm := node.attr("norm", "MAX")) not in _NORMS:
        raise Problem(f"norm {norm}")
    x, out = cast(node, node.inputs[0], FLOAT), node.outputs[0]
    rows, n = rows_of(x)
    norms, divisors = node.temp(FLOAT, (rows, 1)), node.temp(FLOAT, (rows, 1))
    zero, one = (node.constant(np.full(1, v, np.float32)) for v in (0, 1))
    emit_reduce(node, *_NORMS[norm], node.reshaped(x, (rows, n)), norms, [1])
    emit_where(node, binary(node, "equal", norms, zero, BOOL), one, norms, divisors)
    emit_binary(node, "div", node.reshaped(x, (rows, n)), divisors, node.reshaped(out, (rows, n)))


@lowers("Binarizer", domain=ML)
def lower_binarizer(node):
    """Lower Binarizer: 1 if x > threshold, else 0, in x's dtype."""
    x, out = node.inputs[0], node.outputs[0]
    threshold = np.float32(node.attr("threshold", 0.0))
    if x.dtype not in (FLOAT, DOUBLE):
        limits = np.iinfo(x.np_dtype)
        if not limits.min <= threshold <= limits.max:
            raise Problem(f"threshold {threshold} for integers")
        threshold = math.floor(threshold)
    emit_cast(node, binary(node, "greater", x, threshold, BOOL), out)


@lowers("Imputer", domain=ML)
def lower_imputer(node):
    x, out = node.inputs[0], node.outputs[0]
    names = ("imputed_value_floats", "replaced_value_float")
    if x.dtype in (INT32, INT64):
        names = ("imputed_value_int64s", "replaced_value_int64")
    imputed, replaced = node.attr(names[0], []), node.attr(names[1], 0)
    limits = np.iinfo(x.np_dtype) if x.dtype in (INT32, INT64) else None
    if limits and not all(limits.min <= v <= limits.max for v in [*imputed, replaced]):
        raise Problem(f"a value that {x.np_dtype} does not hold")
    imputed = np.asarray(imputed, x.np_dtype)
    if imputed.size not in (1, x.shape[-1]):
        raise Problem(f"{imputed.size} values in {names[0]}")
    if len(x.shape) > 2 and imputed.size > 1:
        raise Problem(f"input of {len(x.shape)} dimensions")
    if replaced != replaced:
        is_replaced = node.temp(BOOL, x.shape)
        emit_unary(node, "isnan", x, is_replaced)
    else:
        is_replaced = binary(node, "equal", x, replaced, BOOL)
    emit_where(node, is_replaced, node.constant(imputed), x, out)


@lowers("ArrayFeatureExtractor", domain=ML)
def lower_extractor(node):
    """Lower ArrayFeatureExtractor: elements of the last axis. A vector is a matrix of one row."""
    x, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    emit = emit_gather if index.data is None else emit_known_gather
    emit(node, x, index, out, len(x.shape) - 1)


@lowers("OneHotEncoder", domain=ML)
@lowers("OneHotEncoder", domain=ML, objects=True)
def lower_one_hot(node):
    """Lower OneHotEncoder: each element is compared with each category."""
    x, out = node.inputs[0], node.outputs[0]
    texts = x.dtype == STRING
    categories = node.attr("cats_strings" if texts else "cats_int64s")
    if not categories:
        raise Problem(f"no categories for {x}")
    if len(set(categories)) < len(categories):
        raise Problem("a category twice")
    if not node.attr("zeros", 1) and any_open(x.shape):
        raise Problem("zeros = 0 where a run decides the shape", "set zeros = 1")
    if texts:
        x, categories = _numbered(node, x, [text_of(s) for s in categories])
    x = cast(node, x, INT64)
    column = node.reshaped(x, (*x.shape, 1))
    is_category = binary(
        node, "equal", column, node.constant(np.array(categories, np.int64)), BOOL
    )
    if not node.attr("zeros", 1):
        _emit_one_each(node, is_category)
    emit_cast(node, is_category, out)


def _emit_one_each(node, is_category):
    """Let a run stop at an element that equals no category."""
    counts = node.temp(INT32, is_category.shape[:-1])
    emit_reduce(node, *SUM, cast(node, is_category, INT32), counts, [len(is_category.shape) - 1])
    node.emit("expect", [counts], [], choices=[1] * 3 * counts.nelem)


def _numbered(node, x, texts):
    """Return the indices of strings among the categories, and all indices."""
    numbers = node.temp(INT64, x.shape)
    emit_map(node, x, {s: i for i, s in enumerate(texts)}, -1, numbers)
    return numbers, range(len(texts))


@lowers("FeatureVectorizer", domain=ML)
def lower_vectorizer(node):
    """Lower FeatureVectorizer: inputs side by side.

    Each is cut, or padded with zeros, to its size in inputdimensions.
    """
    out = node.outputs[0]
    sizes = node.attr("inputdimensions") or [x.shape[-1] for x in node.inputs]
    if len(sizes) != len(node.inputs):
        raise Problem(f"{len(sizes)} inputdimensions for {len(node.inputs)} inputs")
    if any(x.shape[-1] < size for x, size in zip(node.inputs, sizes, strict=True)):
        emit_fill(node, node.constant(np.zeros(1, np.float32)), out)
    start = 0
    for x, size in zip(node.inputs, sizes, strict=True):
        rows, width = rows_of(x)
        if rows != out.shape[0]:
            raise Problem("inputs of different numbers of rows")
        dims = [rows, min(width, size)]
        emit_move(
            node.emit, cast(node, x, FLOAT), out, dims, [width, 1], [out.shape[1], 1], 0, start
        )
        start += size
