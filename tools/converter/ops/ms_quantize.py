"""com.microsoft's QuantizeLinear and DequantizeLinear: ai.onnx's with more dtypes at any opset."""

from __future__ import annotations

from . import lowers
from ._microsoft import MS
from .quantize import lower_dequantize, lower_quantize

UINT8 = 2


def _infer_quantize(node):
    x, zero = node.inputs[0], node.input(2)
    return [(UINT8 if zero is None else zero.dtype, x.shape)]


def _infer_dequantize(node):
    return [(node.inputs[1].dtype, node.inputs[0].shape)]


lowers("QuantizeLinear", domain=MS, infer=_infer_quantize)(lower_quantize)
lowers("DequantizeLinear", domain=MS, infer=_infer_dequantize)(lower_dequantize)
