"""com.microsoft's CDist -> kernel distances, and the root. scikit-learn's neighbours export it."""

from __future__ import annotations

from ..errors import Problem
from . import MS, lowers
from ._distances import emit_distances
from ._dtypes import FLOAT
from ._elementwise import emit_unary


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
