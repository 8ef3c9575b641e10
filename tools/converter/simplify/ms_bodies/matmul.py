"""Products of quantized numbers: integers multiplied, then scales and a bias; float64 products."""

from __future__ import annotations

from onnx import TensorProto

from .building import Body, expands


@expands("DynamicQuantizeMatMul", inputs="A B b_scale b_zero_point bias", oldest=11)
def dynamic_quantize_matmul(b: Body):
    """A is quantized as a whole, as it comes."""
    q, scale, zero = b.add("DynamicQuantizeLinear", "A", n=3)
    product = b.add("MatMulInteger", q, "B", zero, b.optional("b_zero_point"))
    return _scaled(b, product, scale)


@expands(
    "MatMulIntegerToFloat",
    inputs="A B a_scale b_scale a_zero_point b_zero_point bias",
    oldest=11,
)
def matmul_integer_to_float(b: Body):
    """The scales are multiplied first."""
    zeros = b.optional("a_zero_point"), b.optional("b_zero_point")
    return _scaled(b, b.add("MatMulInteger", "A", "B", *zeros), "a_scale")


def _scaled(b, product, a_scale):
    real = b.add("Cast", product, to=TensorProto.FLOAT)
    y = b.add("Mul", real, b.add("Mul", a_scale, "b_scale"))
    return b.add("Add", y, "bias") if b.has("bias") else y
