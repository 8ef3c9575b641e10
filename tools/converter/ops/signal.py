"""HannWindow, HammingWindow, BlackmanWindow -> kernel window; MelWeightMatrix -> mel_weights."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import Tensor
from ..shapes import extent
from . import lowers
from ._elementwise import FLOATS, float_bits
from ._extents import store
from .constant import fold_known

FLOAT = 1
# a + b * cos(angle) + c * cos(2 * angle)
_WINDOWS = {
    "HannWindow": (0.5, -0.5, 0.0),
    "HammingWindow": (25 / 46, -21 / 46, 0.0),
    "BlackmanWindow": (0.42, -0.5, 0.08),
}


@lowers(*_WINDOWS, fixes_shape=(0,), at_run_time=(0,))
def lower_window(node):
    if not fold_known(node):
        factors = [float_bits(v) for v in _WINDOWS[node.op]]
        _emit(node, "window", "count", periodic=node.attr("periodic", 1), factors=factors)


@lowers("MelWeightMatrix", fixes_shape=(0, 1, 2, 3, 4), at_run_time=(0, 1, 2, 3, 4))
def lower_mel_weights(node):
    if not fold_known(node):
        _emit(node, "mel_weights", "dims")


def _emit(node, kernel, dims, **params):
    """The kernel in a float dtype. dims: its parameter for the run-time dims of the output."""
    out = node.outputs[0]
    floats = out if out.dtype in FLOATS else node.temp(FLOAT, out.shape)
    params[dims] = _own_dims(node, out)
    node.emit(kernel, node.inputs, [_memory(node, floats)], **params)
    if floats is not out:
        node.emit("cast", [floats], [out])


def _own_dims(node, out: Tensor) -> Sequence[int]:
    """Numbers of the dims that the kernel decides: all of them, or none."""
    own = all(extent.is_own(d, node.proto.output[0]) for d in out.shape)
    return [extent.number_of(d) for d in out.shape] if own else []


def _memory(node, t):
    return store(node, t) if t.is_open else t
