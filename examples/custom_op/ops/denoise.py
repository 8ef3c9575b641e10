"""Lowerings of domain com.acme: Fir and SoftThreshold, one step of a custom kernel each."""

from __future__ import annotations

import numpy as np

from tools.converter.errors import Problem
from tools.converter.ops import lowers

ACME = "com.acme"
FLOAT = 1  # ONNX's code of float32
MAX_TAPS = 32  # capacity of the filter engine


def infer_fir(node):
    x, taps = node.inputs
    return [(x.dtype, (*x.shape[:-1], x.shape[-1] - taps.shape[0] + 1))]


@lowers("Fir", domain=ACME, infer=infer_fir)
def lower_fir(node):
    """Lower Fir: y[i] = sum of taps[k] * x[i + k], for one signal (1, n)."""
    node.require_dtype(FLOAT)
    x, taps = node.inputs
    if taps.nelem > MAX_TAPS:
        raise Problem(f"{taps.nelem} taps", f"the filter engine holds {MAX_TAPS}")
    if x.nelem != x.shape[-1]:
        raise Problem(f"{x} is more than one signal")
    y = node.outputs[0]
    node.emit("fir", [x, taps], [y], macs=y.nelem * taps.nelem)


def infer_same(node):
    x = node.inputs[0]
    return [(x.dtype, x.shape)]


@lowers("SoftThreshold", domain=ACME, infer=infer_same)
def lower_soft_threshold(node):
    """Lower SoftThreshold.

    The attribute becomes a constant input, since parameters of a step are integers.
    """
    node.require_dtype(FLOAT)
    threshold = node.constant(np.float32(node.attr("threshold", 0.1)))
    node.emit("soft_threshold", [node.inputs[0], threshold], node.outputs)
