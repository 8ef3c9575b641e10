"""Lower CDist and mpconnxr:Decays to kernels block_distances and distances.

scikit-learn's nearest neighbours are exported with com.microsoft's CDist. A rewrite for boards
makes Decays of CDist and Exp: exp(-gamma * squared distance).
"""

from __future__ import annotations

import math

import numpy as np

from mpconnxr.ops.block_distances import scratch_words

from ..errors import Problem
from ..ir import Tensor
from . import MS, OWN, lowers
from ._block import MAX_K, unit_mantissas
from ._dtypes import FLOAT, INT32
from ._elementwise import emit_binary, emit_unary, float_bits
from ._select import emit_gather

_SCRATCH_NELEM = 256
_MAX_SHIFT = 200  # of a decay's factor
_BITS = 5  # features that are summed in one unit differ in size by less than these bits


def _infer(node):
    a, b = node.inputs
    if len(a.shape) != 2 or len(b.shape) != 2 or a.shape[1] != b.shape[1]:
        raise Problem(f"rows of {list(a.shape)} and of {list(b.shape)}")
    return [(a.dtype, (a.shape[0], b.shape[0]))]


@lowers("CDist", domain=MS, infer=_infer)
def lower_cdist(node):
    node.require_dtype(FLOAT)
    metric, [out] = node.attr("metric", "sqeuclidean"), node.outputs
    if metric not in ("euclidean", "sqeuclidean"):
        raise Problem(f"metric {metric}")
    squares = out if metric == "sqeuclidean" else node.temp(FLOAT, out.shape)
    emit_distances(node, *node.inputs, squares)
    if squares is not out:
        emit_unary(node, "sqrt", squares, out)


@lowers("Decays", domain=OWN, infer=_infer)
def lower_decays(node):
    node.require_dtype(FLOAT)
    emit_decays(node, *node.inputs, node.outputs[0], node.attr("gamma"))


def emit_distances(node, x: Tensor, w: Tensor, out: Tensor, scale: float = 1.0) -> None:
    """Emit out[n, v] = scale * sum((x[n] - w[v]) ** 2).

    Features of very different size get their own steps, so that each counts with all its bits,
    as in a sum of floats.

    Args:
        node: the node to lower.
        x: float32 (N, F).
        w: float32 (V, F).
        out: float32 (N, V).
        scale: a factor.
    """
    if w.data is None or not _is_block(node, w):
        _emit_of_floats(node, x, w, out, scale)
        return
    groups = _groups(w.data)
    if len(groups) == 1:
        _emit_part(node, x, w.data, groups[0], out, scale)
        return
    parts = [node.temp(FLOAT, out.shape) for _ in groups]
    for features, part in zip(groups, parts, strict=True):
        _emit_part(node, x, w.data, features, part, 1.0)
    total, *others = parts
    while others:
        is_last = len(others) == 1 and scale == 1.0
        target = out if is_last else node.temp(FLOAT, out.shape)
        emit_binary(node, "add", total, others.pop(0), target)
        total = target
    if total is not out:
        emit_binary(node, "mul", total, scale, out)


def emit_decays(node, x: Tensor, w: Tensor, out: Tensor, gamma: float) -> None:
    """Emit out[n, v] = exp(-gamma * sum((x[n] - w[v]) ** 2)).

    Args:
        node: the node to lower.
        x: float32 (N, F).
        w: float32 (V, F).
        out: float32 (N, V).
        gamma: a factor.
    """
    decay = decay_words(gamma)
    groups = _groups(w.data) if w.data is not None and _is_block(node, w) else []
    if decay is not None and len(groups) == 1:
        _emit_part(node, x, w.data, groups[0], out, 1.0, decay)
        return
    powers = node.temp(FLOAT, out.shape)
    emit_distances(node, x, w, powers, -gamma)
    emit_unary(node, "exp", powers, out)


def decay_words(gamma: float) -> tuple[int, int] | None:
    """Return (factor, shift) of loops/decay for this gamma, or None if it is out of range."""
    if not 0 < gamma < math.inf:
        return None
    fraction, exponent = math.frexp(gamma / math.log(2))
    factor, shift = round(math.ldexp(fraction, 30)), 30 - exponent
    if factor >> 30:
        factor, shift = factor >> 1, shift - 1
    return (factor, shift) if 0 <= shift <= _MAX_SHIFT else None


def _is_block(node, w):
    fits = node.is_exact and w.nelem > 0 and w.shape[1] <= MAX_K
    return fits and bool(np.isfinite(w.data).all())


def _groups(w: np.ndarray) -> list[np.ndarray]:
    """Group features whose largest values are of similar size; all-zero ones are in the first."""
    exponents = np.frexp(np.abs(w).max(0))[1]
    exponents[~w.any(0)] = exponents.max()
    groups = []
    for feature in np.argsort(-exponents, kind="stable"):
        if groups and exponents[groups[-1][0]] - exponents[feature] < _BITS:
            groups[-1].append(feature)
        else:
            groups.append([feature])
    return [np.sort(group) for group in groups]


def _emit_part(node, x, w, features, out, scale, decay=(0, 0)):
    """Emit block_distances for some of the features.

    Args:
        node: the node to lower.
        x: float32 (N, F).
        w: array (V, F).
        features: indices of the features.
        out: float32 (N, V).
        scale: a factor.
        decay: words of the exponential that emit_decays applies; none for distances.
    """
    n, vectors = x.shape[0], w.shape[0]
    if len(features) < w.shape[1]:
        selected = node.temp(FLOAT, (n, len(features)))
        emit_gather(node, x, node.constant(features.astype(np.int32)), selected, 1)
        x, w = selected, w[:, features]
    held, exponent = unit_mantissas(w)
    sizes = {"n": n, "vectors": vectors, "features": len(features), "exponent": exponent}
    node.emit(
        "block_distances",
        [x, node.constant(held)],
        [out],
        scratch=[node.temp(INT32, (scratch_words(vectors, len(features)),))],
        macs=n * vectors * len(features),
        scale=float_bits(scale),
        decay=list(decay),
        **sizes,
    )


def _emit_of_floats(node, x, w, out, scale):
    """Emit kernel distances, which computes with floats.

    Args:
        node: the node to lower.
        x: float32 (N, F).
        w: float32 (V, F).
        out: float32 (N, V).
        scale: a factor of each distance.
    """
    (n, features), vectors = x.shape, w.shape[0]
    at_once = max(1, min(vectors, _SCRATCH_NELEM // max(features, 1)))
    sizes = {"n": n, "vectors": vectors, "features": features, "at_once": at_once}
    work = node.temp(FLOAT, (at_once * features,))
    sizes |= {"macs": n * vectors * features, "scale": float_bits(scale)}
    node.emit("distances", [x, w], [out], scratch=[work], **sizes)
