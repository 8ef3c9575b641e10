"""Distances of all rows of one matrix from all of another -> kernel distances."""

from __future__ import annotations

from ..ir import Tensor
from ._dtypes import FLOAT
from ._elementwise import float_bits

_SCRATCH_ITEMS = 256


def emit_distances(node, x: Tensor, w: Tensor, out: Tensor, scale: float = 1.0) -> None:
    """out[n, v] = scale * sum of (x[n] - w[v]) ** 2; x (N, F), w (V, F), out (N, V) float32."""
    (n, features), vectors = x.shape, w.shape[0]
    at_once = max(1, min(vectors, _SCRATCH_ITEMS // max(features, 1)))
    sizes = {"n": n, "vectors": vectors, "features": features, "at_once": at_once}
    work = node.temp(FLOAT, (at_once * features,))
    macs = n * vectors * features
    about = {"macs": macs, "scale": float_bits(scale)}
    node.emit("distances", [x, w], [out], scratch=[work], **about, **sizes)
