"""Lower com.microsoft's FusedConv, FusedGemm and FusedMatMul to the operators that they fuse."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from . import MS, lowers
from ._dtypes import FLOAT
from ._elementwise import emit_binary, float_bits
from ._microsoft import as_onnx, emit_activation, lower_with, transposed
from .conv import emit_conv_of
from .gemm import emit_gemm, lower_gemm, matmul_operands

_LIMITED = ("block_conv", "block_gemm")  # kernels that can clip their results


@lowers("FusedConv", domain=MS, infer=lambda node: as_onnx(node, "Conv", node.inputs[:3], 11))
def lower_fused_conv(node):
    """Lower FusedConv: activation(Conv(X, W, B) + Z)."""
    node.require_dtype(FLOAT)
    out, z, activation = node.outputs[0], node.input(3), node.attr("activation", "")
    steps = 1 + (z is not None) + bool(activation)
    values = [*(node.temp(out.dtype, out.shape) for _ in range(steps - 1)), out]
    y = values.pop(0)
    emit_conv_of(node, node.inputs[0], node.inputs[1], node.input(2), y)
    if z is not None:
        emit_binary(node, "add", y, z, values[0])
        y = values.pop(0)
    if activation:
        emit_fused_activation(node, activation, node.attr("activation_params", []), y, out)


def emit_fused_activation(node, activation, constants, y, out):
    """Emit out = activation(y), as limits of the step that computes y if it can clip results.

    Args:
        node: the node to lower.
        activation: name of the activation.
        constants: its parameters.
        y: the input.
        out: the output.
    """
    step, limits = node.steps[-1], limits_of(activation, constants)
    if step.kernel in _LIMITED and step.outputs == [y] and limits is not None:
        step["limits"] = map(float_bits, limits)
        step.outputs = [out]
    else:
        emit_activation(node, activation, constants, y, out)


def limits_of(activation: str, constants) -> tuple[float, float] | None:
    """Return the limits of an activation that only clips, or None."""
    if activation == "Relu":
        return 0.0, np.inf
    if activation == "Clip":
        low, high = [*constants, None, None][:2]
        return -np.inf if low is None else low, np.inf if high is None else high
    return None


@lowers("FusedGemm", domain=MS, infer=lambda node: as_onnx(node, "Gemm", node.inputs))
def lower_fused_gemm(node):
    """Lower FusedGemm: activation(Gemm(A, B, C))."""
    node.require_dtype(FLOAT)
    activation, out = node.attr("activation", ""), node.outputs[0]
    if not activation:
        lower_gemm(node)
        return
    product = node.temp(out.dtype, out.shape)
    lower_with(node, lower_gemm, [product])
    constants = [node.attr(f"activation_{name}") for name in ("alpha", "beta", "gamma")]
    emit_fused_activation(node, activation, constants, product, out)


def _infer_matmul(node):
    a, b = (
        Tensor(t.name, t.dtype, tuple(t.shape[axis] for axis in _axes(node, t, side)))
        for t, side in zip(node.inputs, "AB", strict=True)
    )
    return as_onnx(node, "MatMul", [a, b])


@lowers("FusedMatMul", "TransposeMatMul", domain=MS, infer=_infer_matmul)
def lower_fused_matmul(node):
    """Lower FusedMatMul: alpha * MatMul(A, B), with operands transposed first.

    Known weights are multiplied by alpha.
    """
    node.require_dtype(FLOAT)
    alpha, out = node.attr("alpha", 1.0), node.outputs[0]
    a, b = (
        transposed(node, t, _axes(node, t, side))
        for t, side in zip(node.inputs, "AB", strict=True)
    )
    if b.data is not None:
        b, alpha = node.constant(b.data * np.float32(alpha)), 1.0
    a, w, shape, steps = matmul_operands(node, a, b)
    product = out if alpha == 1.0 else node.temp(out.dtype, out.shape)
    emit_gemm(node, a, w, product, shape, False, steps)
    if product is not out:
        emit_binary(node, "mul", product, alpha, out)


def _axes(node, t: Tensor, side: str) -> list[int]:
    """Return the axes of operand A or B (`side`) in the order that the product needs.

    transBatch moves the first axis behind the batch's axes; then trans swaps the last two.
    """
    axes = list(range(len(t.shape)))
    if len(axes) < 2:
        return axes
    if node.attr(f"transBatch{side}", 0):
        if len(axes) < 3:
            raise Problem(f"transBatch{side} of {len(axes)} dimensions")
        axes = [*axes[1:-1], 0, axes[-1]]
    if node.attr(f"trans{side}", 0):
        axes[-2:] = axes[:-3:-1]
    return axes
