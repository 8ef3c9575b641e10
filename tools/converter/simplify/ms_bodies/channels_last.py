"""Quantized convolutions and pools with channels last: those with channels first, transposed."""

from __future__ import annotations

from .building import DOMAIN, Body, expands


@expands(
    "QLinearConv",
    inputs="x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B",
)
def conv(b: Body):
    """ONNX's QLinearConv."""
    return _with_channels_first(b, "x", "")


@expands(
    "QLinearAveragePool",
    "QLinearGlobalAveragePool",
    inputs="X x_scale x_zero_point y_scale y_zero_point",
)
def pool(b: Body):
    """The same operator, which has a lowering for channels first."""
    return _with_channels_first(b, "X", DOMAIN) if b.attr("channels_last") else None


def _with_channels_first(b, x, domain):
    given = {k: v for k, v in b.attributes.items() if k != "channels_last"}
    rest = [b.optional(name) for name in b.formal[1 : len(b.node.input)]]
    if not b.attr("channels_last"):
        return b.add(b.node.op_type, x, *rest, domain=domain, **given)
    last = b.rank(x) - 1
    x = b.transpose(x, 0, last, *range(1, last))
    y = b.add(b.node.op_type, x, *rest, domain=domain, **given)
    return b.transpose(y, 0, *range(2, last + 1), 1)
