"""Lower linear models and SVMs to kernels gemm, distances, svm_pairs and others.

Scores, labels and post transforms follow (see ops/_ml_scores.py).
"""

from __future__ import annotations

import itertools

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from . import ML, lowers
from ._block import unit_mantissas
from ._dtypes import BOOL, FLOAT, INT32
from ._elementwise import binary, emit_binary, emit_pow, emit_unary
from ._ml_scores import (
    NEGATED,
    ONE_MINUS,
    cast,
    emit_classes,
    emit_dots,
    emit_labels,
    emit_pair,
    emit_transform,
    float_attribute,
    labels_of,
    raw_scores,
    rows_of,
    table_of,
    transform_of,
)
from .distances import emit_decays

_MAX_DEGREE = 16  # of a power that is computed by products


@lowers("LinearClassifier", domain=ML)
@lowers("LinearClassifier", domain=ML, objects=True)
def lower_classifier(node):
    """Lower LinearClassifier.

    A single row of coefficients gives the score of the second of two classes.
    """
    labels, transform = labels_of(node, "classlabels_ints"), transform_of(node)
    x = cast(node, node.inputs[0], FLOAT)
    samples, n_features = rows_of(x)
    coefficients = float_attribute(node, "coefficients")
    w = table_of(coefficients, max(coefficients.size // max(n_features, 1), 1))
    bias = _bias(node, len(w))
    n = len(w)
    if n == 1 and len(labels) == 2:
        raw = node.temp(FLOAT, (samples, 1))
        emit_dots(node, x, w, bias, raw)
        emit_pair(node, transform, ONE_MINUS, 0, raw, labels, node.outputs)
        return
    if n != len(labels) or n == 1:
        raise Problem(f"{n} rows of coefficients for {len(labels)} classes")
    emit_classes(node, transform, labels, samples, lambda raw: emit_dots(node, x, w, bias, raw))


@lowers("LinearRegressor", domain=ML)
def lower_regressor(node):
    x, out = cast(node, node.inputs[0], FLOAT), node.outputs[0]
    n, transform = node.attr("targets", 1), transform_of(node)
    raw = raw_scores(node, transform, out, n)
    emit_dots(node, x, table_of(float_attribute(node, "coefficients"), n), _bias(node, n), raw)
    emit_transform(node, transform, raw, out, n)


def _bias(node, n):
    """Return the intercepts, or None if the node has none."""
    bias = float_attribute(node, "intercepts")
    if bias.size not in (0, n):
        raise Problem(f"{bias.size} intercepts for {n} rows of coefficients")
    return bias if bias.size else None


@lowers("SVMRegressor", domain=ML)
def lower_svm_regressor(node):
    """Lower SVMRegressor. The post transform is ignored, as in onnxruntime."""
    x, out = cast(node, node.inputs[0], FLOAT), node.outputs[0]
    rho = _rho(node, 1)
    n = node.attr("n_supports", 0)
    one_class = node.attr("one_class", 0)
    raw = node.temp(FLOAT, out.shape) if one_class else out
    coefficients = table_of(float_attribute(node, "coefficients"), 1)
    vectors = table_of(float_attribute(node, "support_vectors"), n) if n else None
    if n and _is_linear(node) and coefficients.size == n:
        coefficients = np.asarray(coefficients, np.float64) @ vectors
    elif n:
        x = _emit_kernel(node, x, vectors)
    emit_dots(node, x, coefficients, rho, raw, alike=n > 0 and not _is_linear(node))
    if one_class:
        _emit_sign(node, raw, out)


def _emit_sign(node, x, out):
    """Emit out = 1 if x > 0, else -1."""
    ones = cast(node, binary(node, "greater", x, 0.0, BOOL), FLOAT)
    emit_binary(node, "sub", binary(node, "add", ones, ones), 1.0, out)


@lowers("SVMClassifier", domain=ML)
@lowers("SVMClassifier", domain=ML, objects=True)
def lower_svm_classifier(node):
    """Lower SVMClassifier: a score and a vote for each pair of classes.

    Probabilities couple the scores of all pairs (Platt, Wu).
    """
    labels, transform = labels_of(node, "classlabels_ints"), transform_of(node)
    n = len(labels)
    counts = list(node.attr("vectors_per_class", []))
    x = cast(node, node.inputs[0], FLOAT)
    if n < 2:
        raise Problem("a classifier of one class")
    if not sum(counts):
        _lower_without_vectors(node, x, labels, transform)
        return
    if len(counts) != n or min(counts) < 0:
        raise Problem(f"{len(counts)} numbers in vectors_per_class for {n} classes")
    samples, n_pairs = rows_of(x)[0], n * (n - 1) // 2
    vectors = table_of(float_attribute(node, "support_vectors"), sum(counts))
    label, scores = (*node.outputs, None)[:2]
    proba = _proba(node, n_pairs)
    direct = scores if scores is not None and n > 2 and not proba else None
    pairs = node.temp(FLOAT, (samples, n_pairs))
    if direct is not None:
        pairs = raw_scores(node, transform, direct, n_pairs)
    _emit_pairs(node, x, vectors, counts, pairs)
    if n == 2 and not proba:
        kind = NEGATED if transform == "NONE" else ONE_MINUS
        emit_pair(node, transform, kind, 0, pairs, labels[::-1], node.outputs)
        return
    if label is not None:
        votes = node.temp(FLOAT, (samples, n))
        node.emit("svm_votes", [pairs], [votes], n=samples, classes=n)
        emit_labels(node, votes, labels, label)
    if proba and scores is not None:
        raw = raw_scores(node, transform, scores, n)
        scratch = [node.temp(FLOAT, (n * n,)), node.temp(FLOAT, (n * n,)), node.temp(FLOAT, (n,))]
        node.emit("svm_proba", [pairs, *proba], [raw], scratch=scratch, n=samples, classes=n)
        emit_transform(node, transform, raw, scores, n)
    elif direct is not None:
        emit_transform(node, transform, pairs, direct, n_pairs)


def _lower_without_vectors(node, x, labels, transform):
    """Lower an SVM without support vectors: a linear score for each class, and one rho."""
    n = len(labels)
    if n == 2:
        raise Problem("two classes without support vectors", "use LinearClassifier")
    w, rho = table_of(float_attribute(node, "coefficients"), n), np.repeat(_rho(node, 1), n)
    samples = rows_of(x)[0]
    emit_classes(node, transform, labels, samples, lambda raw: emit_dots(node, x, w, rho, raw))


def _emit_pairs(node, x: Tensor, vectors: np.ndarray, counts, scores: Tensor) -> None:
    """Emit scores (samples, pairs) = the decision between each pair of classes.

    Args:
        node: the SVMClassifier.
        x: the features.
        vectors: array (support vectors, features).
        counts: number of support vectors of each class.
        scores: the output.
    """
    n, n_vectors, n_features = len(counts), *vectors.shape
    coefficients = table_of(float_attribute(node, "coefficients"), n - 1)
    if coefficients.shape[1] != n_vectors:
        raise Problem(f"{coefficients.size} coefficients for {n_vectors} support vectors")
    if not np.isfinite(coefficients).all():
        raise Problem("coefficients that are not finite")
    n_pairs = n * (n - 1) // 2
    rho = _rho(node, n_pairs)
    if _is_linear(node) and n_pairs * n_features <= (n_features + n - 1) * n_vectors:
        emit_dots(node, x, _planes(coefficients, vectors, counts), rho, scores)
        return
    kernels = _emit_kernel(node, x, vectors)
    held, exponent = unit_mantissas(coefficients)
    sums = node.temp(FLOAT, scores.shape)
    node.emit(
        "svm_pairs",
        [kernels, node.constant(held)],
        [sums],
        scratch=[node.temp(INT32, (n_vectors + 2,))],
        n=kernels.shape[0],
        classes=n,
        exponent=exponent,
        vectors=counts,
        macs=kernels.nelem * (n - 1),
    )
    emit_binary(node, "add", sums, node.constant(rho), scores)


def _planes(coefficients, vectors, counts):
    """Return the sum of a pair's support vectors times their coefficients, for linear kernels."""
    ends = np.cumsum([0, *counts])
    of = [slice(*ends[c : c + 2]) for c in range(len(counts))]
    w, v = np.asarray(coefficients, np.float64), np.asarray(vectors, np.float64)
    pairs = itertools.combinations(range(len(counts)), 2)
    return np.stack([w[j - 1, of[i]] @ v[of[i]] + w[i, of[j]] @ v[of[j]] for i, j in pairs])


def _is_linear(node):
    return node.attr("kernel_type", "LINEAR") == "LINEAR"


def _rho(node, n):
    rho = float_attribute(node, "rho")
    if rho.size < n:
        raise Problem(f"{rho.size} values of rho, {n} needed")
    return rho[:n]


def _proba(node, n_pairs):
    """Return prob_a and prob_b as constants, or an empty list if they are absent."""
    a, b = float_attribute(node, "prob_a"), float_attribute(node, "prob_b")
    if a.size != b.size or (a.size and a.size < n_pairs):
        raise Problem(f"{a.size} values of prob_a, {b.size} of prob_b, {n_pairs} needed")
    return [node.constant(v[:n_pairs]) for v in (a, b)] if a.size else []


def _emit_kernel(node, x: Tensor, vectors: np.ndarray) -> Tensor:
    """Emit the kernel function of each sample and support vector; return its tensor."""
    kind, parameters = node.attr("kernel_type", "LINEAR"), float_attribute(node, "kernel_params")
    if kind not in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        raise Problem(f"kernel_type {kind}")
    if kind != "LINEAR" and parameters.size < 3:
        raise Problem("kernel_params must be gamma, coef0 and degree")
    samples, n_features = rows_of(x)
    out = node.temp(FLOAT, (samples, len(vectors)))
    if kind == "LINEAR":
        emit_dots(node, x, vectors, None, out)
        return out
    gamma, coef0, degree = parameters[:3]
    if kind == "RBF":
        if vectors.shape[1] != n_features:
            raise Problem(f"{vectors.shape[1]} elements in a support vector, not {n_features}")
        rows = node.constant(vectors.astype(np.float32))
        emit_decays(node, node.reshaped(x, (samples, n_features)), rows, out, float(gamma))
        return out
    raw = node.temp(FLOAT, out.shape)
    emit_dots(node, x, vectors * gamma, np.full(len(vectors), coef0), raw)
    if kind == "SIGMOID":
        emit_unary(node, "tanh", raw, out)
    elif degree == int(degree) and 1 < degree <= _MAX_DEGREE:
        _emit_whole_power(node, raw, int(degree), out)
    elif degree == 1:
        return raw
    else:
        emit_pow(node, raw, node.constant(np.array(degree, np.float32)), out)
    return out


def _emit_whole_power(node, x: Tensor, degree: int, out: Tensor) -> None:
    """Emit out = x ** degree by squares and products, for a degree of 2 or more."""
    power = x
    for i, bit in enumerate(f"{degree:b}"[1:]):
        is_last = i == degree.bit_length() - 2
        square = out if is_last and bit == "0" else node.temp(FLOAT, out.shape)
        emit_binary(node, "mul", power, power, square)
        power = square
        if bit == "1":
            power = out if is_last else node.temp(FLOAT, out.shape)
            emit_binary(node, "mul", square, x, power)
