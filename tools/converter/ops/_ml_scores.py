"""Scores of ai.onnx.ml's operators: linear scores, labels of classes, and post transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tools.format.objects import text_of

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import is_open
from ..steps.overlap import element_leads, line_leads
from ._dtypes import FLOAT, INT64
from ._elementwise import binary, emit_binary, emit_unary
from ._select import emit_gather
from ._strings import emit_lookup
from .cast import emit_cast
from .gemm import emit_gemm, scaled_columns
from .reduce import emit_reduce

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")

SUM = (0, 0)  # operation and power of kernel reduce
_MAX_STEPPED = 1 << 8  # products that elementwise steps compute, at most
_ALIKE = 4  # bits by which columns may differ in size without being scaled

# How kernel class_pair derives two scores from one.
ONE_MINUS, NEGATED, LOGISTIC = range(3)


def transform_of(node) -> str:
    """Return the attribute post_transform by name (TreeEnsemble has a number)."""
    name = node.attr("post_transform", "NONE")
    if isinstance(name, int) and 0 <= name < len(TRANSFORMS):
        return TRANSFORMS[name]
    if name not in TRANSFORMS:
        raise Problem(f"post_transform {name}")
    return name


def labels_of(node, ints: str) -> list[int] | list[str]:
    """Return the classes of a classifier; `ints` is its attribute with integer labels."""
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
    """Return x in float32."""
    if x.dtype == FLOAT:
        return x
    if x.dtype == 11:
        raise Problem("dtype float64", "cast the input to float32")
    return cast(node, x, FLOAT)


def cast(node, x: Tensor, dtype: int) -> Tensor:
    """Return x in another dtype."""
    if x.dtype == dtype:
        return x
    out = node.temp(dtype, x.shape)
    emit_cast(node, x, out)
    return out


def rows_of(x: Tensor) -> tuple[int, int]:
    """Return (samples, features) of x. A vector is one sample."""
    if len(x.shape) not in (1, 2):
        raise Problem(f"input of {len(x.shape)} dimensions")
    return (1, x.shape[0]) if len(x.shape) == 1 else x.shape


def emit_dots(
    node, x: Tensor, w: np.ndarray, bias: np.ndarray | None, out: Tensor, alike: bool = False
) -> None:
    """Emit out (samples, scores) = x (samples, features) @ w.T + bias.

    Unless all features are alike in unit, block floating point first scales each by a power of
    two, so that features of very different size keep their bits.

    Args:
        node: the node to lower.
        x: the features.
        w: array (scores, features).
        bias: array of scores, or None.
        out: the output.
        alike: True if all features have one unit.
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
    """Return True if sums over samples and rows of w shall be made of elementwise steps.

    These need no boxed floats, but memory for all products; for a few they are faster.
    """
    return node.is_exact and not is_open(samples) and samples * w.size <= _MAX_STEPPED


def _emit_sums(node, x, w, bias, out):
    samples, n = rows_of(x)
    sums = node.temp(FLOAT, out.shape) if bias is not None else out
    rows = node.constant(w.astype(np.float32))
    products = binary(node, "mul", node.reshaped(x, (samples, 1, n)), rows)
    node.steps[-1].macs = samples * w.size
    emit_reduce(node, *SUM, products, sums, [2])
    if bias is not None:
        emit_binary(node, "add", sums, node.constant(bias.astype(np.float32)), out)


def float_attribute(node, name: str) -> np.ndarray:
    """Return the values of a float attribute, none if it is absent."""
    return np.asarray(node.attr(name, []), np.float32)


def table_of(values: np.ndarray, rows: int) -> np.ndarray:
    """Return values as a matrix with so many rows."""
    if rows <= 0 or values.size == 0 or values.size % rows:
        raise Problem(f"{values.size} coefficients or support vector elements in {rows} rows")
    return values.reshape(rows, -1)


def raw_scores(node, transform: str, out: Tensor, width: int) -> Tensor:
    """Return the tensor for the scores before emit_transform, which may be `out` itself."""
    return node.temp(FLOAT, out.shape) if _changes_scores(transform, width) else out


def _changes_scores(transform, width):
    """Return True if the transform changes scores.

    A single score is changed only by PROBIT, as in onnxruntime.
    """
    return transform == "PROBIT" or (transform != "NONE" and width > 1)


def emit_transform(node, transform: str, x: Tensor, out: Tensor, width: int) -> None:
    """Emit out = the post transform of x; emit nothing for a transform that changes nothing.

    Args:
        node: the node to lower.
        transform: name of the transform.
        x: scores (samples, width).
        out: the output.
        width: scores of a sample.
    """
    if not _changes_scores(transform, width):
        return
    rows = out.nelem // width
    if transform == "SOFTMAX":
        over = line_leads(out, x, width, 1)
        node.emit("softmax", [x], [out], over=over, op=0, outer=rows, n=width, inner=1)
    elif transform == "LOGISTIC":
        emit_unary(node, "sigmoid", x, out)
    else:
        number = ("SOFTMAX_ZERO", "PROBIT").index(transform)
        over = element_leads(out, [x])
        node.emit("score_transform", [x], [out], over=over, op=number, lines=rows, n=width)


def emit_classes(node, transform: str, labels: Sequence, rows: int, emit: Callable) -> None:
    """Emit labels and scores of a classifier.

    Args:
        node: the node to lower.
        transform: name of the post transform.
        labels: the classes.
        rows: number of samples.
        emit: emit(raw) computes the scores before the transform.
    """
    n = len(labels)
    label, scores = (*node.outputs, None)[:2]
    scores = scores or node.temp(FLOAT, (rows, n))
    raw = raw_scores(node, transform, scores, n)
    emit(raw)
    emit_labels(node, raw, labels, label)
    emit_transform(node, transform, raw, scores, n)


def emit_labels(
    node, scores: Tensor, labels: Sequence[int] | Sequence[str], out: Tensor | None
) -> None:
    """Emit out = the label of each sample's largest score, the first one of equal scores."""
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
    """Emit out = labels[index]."""
    if out.is_object:
        emit_lookup(node, index, labels, out)
    else:
        emit_gather(node, node.constant(np.array(labels, np.int64)), index, out, 0)


def emit_pair(node, transform, kind: int, halves: int, x, labels, outputs) -> None:
    """Emit scores and labels of two classes from one score for each sample.

    Args:
        node: the classifier.
        transform: its post transform.
        kind: ONE_MINUS or NEGATED, how the first score follows from the second.
        halves: the second class is chosen if the score exceeds halves / 2.
        x: the score of each sample.
        labels: the two classes.
        outputs: labels and scores.
    """
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
