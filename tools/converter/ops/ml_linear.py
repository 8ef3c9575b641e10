"""LinearClassifier, LinearRegressor -> kernel gemm and what makes scores and labels of it."""

from __future__ import annotations

from ..errors import Problem
from . import lowers
from ._ml_scores import (
    FLOAT,
    ONE_MINUS,
    before,
    cast,
    emit_dots,
    emit_labels,
    emit_pair,
    emit_transform,
    floats,
    labels_of,
    rows_of,
    table_of,
    transform_of,
)

ML = "ai.onnx.ml"


@lowers("LinearClassifier", domain=ML)
@lowers("LinearClassifier", domain=ML, objects=True)
def lower_classifier(node):
    """A single row of coefficients is the score of the second of two classes."""
    labels, transform = labels_of(node, "classlabels_ints"), transform_of(node)
    x = cast(node, node.inputs[0], FLOAT)
    samples, n_features = rows_of(x)
    coefficients = floats(node, "coefficients")
    w = table_of(coefficients, max(coefficients.size // max(n_features, 1), 1))
    bias = _bias(node, len(w))
    n = len(w)
    label, scores = (*node.outputs, None)[:2]
    if n == 1 and len(labels) == 2:
        raw = node.temp(FLOAT, (samples, 1))
        emit_dots(node, x, w, bias, raw)
        emit_pair(node, transform, ONE_MINUS, 0, raw, labels, node.outputs)
        return
    if n != len(labels) or n == 1:
        raise Problem(f"{n} rows of coefficients for {len(labels)} classes")
    scores = scores or node.temp(FLOAT, (samples, n))
    raw = before(node, transform, scores, n)
    emit_dots(node, x, w, bias, raw)
    emit_labels(node, raw, labels, label)
    emit_transform(node, transform, raw, scores, n)


@lowers("LinearRegressor", domain=ML)
def lower_regressor(node):
    x, out = cast(node, node.inputs[0], FLOAT), node.outputs[0]
    n, transform = node.attr("targets", 1), transform_of(node)
    raw = before(node, transform, out, n)
    emit_dots(node, x, table_of(floats(node, "coefficients"), n), _bias(node, n), raw)
    emit_transform(node, transform, raw, out, n)


def _bias(node, n):
    """intercepts; None where there are none. Raises Problem."""
    bias = floats(node, "intercepts")
    if bias.size not in (0, n):
        raise Problem(f"{bias.size} intercepts for {n} rows of coefficients")
    return bias if bias.size else None
