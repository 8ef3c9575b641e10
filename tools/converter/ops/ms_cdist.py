"""CDist and mpconnxr:Decays -> kernels block_distances and distances, and the root.

com.microsoft's CDist is what scikit-learn's neighbours export. A rewrite for boards makes Decays
of it and Exp: exp(-gamma * squared distance).
"""

from __future__ import annotations

from ..errors import Problem
from . import MS, OWN, lowers
from ._distances import emit_decays, emit_distances
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


@lowers("Decays", domain=OWN, infer=_infer)
def lower_decays(node):
    node.require_dtype(FLOAT)
    emit_decays(node, *node.inputs, node.outputs[0], node.attr("gamma"))
