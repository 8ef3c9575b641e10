"""What follows the scores of ai.onnx.ml's operators: labels and post transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tools.format.objects import text_of

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import is_open
from ..steps.overlap import item_by_item, line_by_line
from ._dtypes import FLOAT, INT64
from ._elementwise import binary, emit_binary, emit_unary
from ._select import emit_gather
from ._strings import emit_lookup
from .cast import emit_cast
from .gemm import emit_gemm, scaled_columns
from .reduce import emit_reduce

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")

SUM = (0, 0)  # operation and power of kernel reduce
_MOST_ITEMS = 1 << 8
_ALIKE = 4  # bits by which columns may differ as they are

# How kernel class_pair makes two scores of one.
ONE_MINUS, NEGATED, LOGISTIC = range(3)


def transform_of(node) -> str:
    """The attribute post_transform (in TreeEnsemble a number). Raises Problem."""
    name = node.attr("post_transform", "NONE")
    if isinstance(name, int) and 0 <= name < len(TRANSFORMS):
        return TRANSFORMS[name]
    if name not in TRANSFORMS:
        raise Problem(f"post_transform {name}")
    return name


def labels_of(node, ints: str) -> list[int] | list[str]:
    """The classes of a classifier; ints: the attribute's name. Raises Problem."""
    texts = node.attr("classlabels_strings")
    label = node.outputs[0]
    if texts and label is not None and not label.is_object:
        raise Problem(f"string labels for {label}")
    if texts:
        return [text_of(s) for s in texts]
    if label is not None and label.is_object:
        raise Problem(f"no string labels for {label}")
    labels = node.attr(ints)
    if not labels:
        raise Problem(f"{ints} is missing")
    return list(labels)


def as_float(node, x: Tensor) -> Tensor:
    """x in float32. Raises Problem for float64, whose thresholds would need more digits."""
    if x.dtype == FLOAT:
        return x
    if x.dtype == 11:
        raise Problem("dtype float64", "cast the input to float32")
    return cast(node, x, FLOAT)


def cast(node, x: Tensor, dtype: int) -> Tensor:
    """x in another dtype."""
    if x.dtype == dtype:
        return x
    out = node.temp(dtype, x.shape)
    emit_cast(node, x, out)
    return out


def rows_of(x: Tensor) -> tuple[int, int]:
    """(samples, features): a vector is one sample. Raises Problem."""
    if len(x.shape) not in (1, 2):
        raise Problem(f"input of {len(x.shape)} dimensions")
    return (1, x.shape[0]) if len(x.shape) == 1 else x.shape


def emit_dots(
    node, x: Tensor, w: np.ndarray, bias: np.ndarray | None, out: Tensor, alike: bool = False
) -> None:
    """out (samples, rows of w) = x times each row of w, plus that row's bias.

    alike: the items of x are of one unit. A sample's features may be of very different size: in
    block floating point each is first scaled, by a power of two, to what it counts at most.
    """
    samples, n_features = rows_of(x)
    if w.shape[1] != n_features:
        raise Problem(f"coefficients for {w.shape[1]} features, the input has {n_features}")
    if is_worth_steps(node, samples, w):
        _emit_sums(node, x, w, bias, out)
        return
    w, x = np.asarray(w, np.float64), node.reshaped(x, (samples, n_features))
    if node.is_exact and not alike and np.isfinite(w).all():
        x, w = scaled_columns(node, x, w, _ALIKE)
    parts = [w] if bias is None else [w, bias.reshape(-1, 1)]
    packed = node.constant(np.concatenate(parts, axis=1).astype(np.float32))
    sizes = (1, 1, samples, len(w), n_features)
    emit_gemm(node, x, packed, out, sizes, bias is not None, (0, 0, 0, 0))


def is_worth_steps(node, samples: int, w: np.ndarray) -> bool:
    """True if sums over samples and rows of w are to be made of elementwise steps.

    They need no boxed floats, and memory for all that is summed; a few are faster so.
    """
    return node.is_exact and not is_open(samples) and samples * w.size <= _MOST_ITEMS


def _emit_sums(node, x, w, bias, out):
    samples, n = rows_of(x)
    sums = node.temp(FLOAT, out.shape) if bias is not None else out
    rows = node.constant(w.astype(np.float32))
    products = binary(node, "mul", node.reshaped(x, (samples, 1, n)), rows)
    node.steps[-1].macs = samples * w.size
    emit_reduce(node, *SUM, products, sums, [2])
    if bias is not None:
        emit_binary(node, "add", sums, node.constant(bias.astype(np.float32)), out)


def floats(node, name: str) -> np.ndarray:
    """A float attribute's values; empty where it is absent."""
    return np.asarray(node.attr(name, []), np.float32)


def table_of(values: np.ndarray, rows: int) -> np.ndarray:
    """values as a matrix. Raises Problem."""
    if rows <= 0 or values.size == 0 or values.size % rows:
        raise Problem(f"{values.size} coefficients or support vector elements in {rows} rows")
    return values.reshape(rows, -1)


def before(node, transform: str, out: Tensor, width: int) -> Tensor:
    """Where to put the scores that emit_transform turns into out (samples, width)."""
    return node.temp(FLOAT, out.shape) if _acts(transform, width) else out


def _acts(transform, width):
    """Only PROBIT changes a single score, as in onnxruntime."""
    return transform == "PROBIT" or (transform != "NONE" and width > 1)


def emit_transform(node, transform: str, x: Tensor, out: Tensor, width: int) -> None:
    """out = the post transform of x (samples, width); nothing to do where x is out."""
    if not _acts(transform, width):
        return
    rows = out.nelem // width
    if transform == "SOFTMAX":
        over = line_by_line(out, x, width, 1)
        node.emit("softmax", [x], [out], over=over, op=0, outer=rows, n=width, inner=1)
    elif transform == "LOGISTIC":
        emit_unary(node, "sigmoid", x, out)
    else:
        number = ("SOFTMAX_ZERO", "PROBIT").index(transform)
        over = item_by_item(out, [x])
        node.emit("score_transform", [x], [out], over=over, op=number, lines=rows, n=width)


def emit_classes(node, transform: str, labels: Sequence, rows: int, emit: Callable) -> None:
    """Labels and scores of a classifier; emit(raw): what makes the scores before the transform."""
    n = len(labels)
    label, scores = (*node.outputs, None)[:2]
    scores = scores or node.temp(FLOAT, (rows, n))
    raw = before(node, transform, scores, n)
    emit(raw)
    emit_labels(node, raw, labels, label)
    emit_transform(node, transform, raw, scores, n)


def emit_labels(
    node, scores: Tensor, labels: Sequence[int] | Sequence[str], out: Tensor | None
) -> None:
    """out = the label of the largest score of each sample, the first of equal ones."""
    if out is None:
        return
    n = len(labels)
    plain = list(labels) == list(range(n))
    index = out if plain else node.temp(INT64, out.shape)
    lines = {"outer": out.nelem, "n": n, "inner": 1}
    node.emit("arg_reduce", [scores], [index], smallest=0, last=0, **lines)
    if not plain:
        _emit_lookup(node, labels, index, out)


def _emit_lookup(node, labels, index, out):
    """out = labels[index]"""
    if out.is_object:
        emit_lookup(node, index, labels, out)
    else:
        emit_gather(node, node.constant(np.array(labels, np.int64)), index, out, 0)


def emit_pair(node, transform, kind: int, halves: int, x, labels, outputs) -> None:
    """One score a sample as two; the second class's label where the score exceeds halves / 2."""
    if transform == "PROBIT":
        raise Problem(
            "PROBIT of one score for two classes", "onnxruntime leaves one undefined too"
        )
    if transform == "LOGISTIC":
        kind = LOGISTIC
    label, scores = (*outputs, None)[:2]
    rows = x.nelem
    texts = label if label is not None and label.is_object else None
    if texts or label is None:
        label = node.temp(INT64, (rows,))
    scores = scores or node.temp(FLOAT, (rows, 2))
    numbers = [0, 1] if isinstance(labels[0], str) else labels
    table = node.constant(np.array(numbers, np.int64))
    node.emit("class_pair", [x, table], [label, scores], kind=kind, halves=halves)
    if texts:
        _emit_lookup(node, labels, label, texts)
