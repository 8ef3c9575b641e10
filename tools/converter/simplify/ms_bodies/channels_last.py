"""Expand operators with channels last: transpose, compute with channels first, transpose back."""

from __future__ import annotations

from .building import DOMAIN, Body, expands


@expands(
    "QLinearConv",
    inputs="x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B",
)
def conv(b: Body):
    """Expand to ONNX's QLinearConv."""
    return _with_channels_first(b, "x", "")


@expands(
    "QLinearAveragePool",
    "QLinearGlobalAveragePool",
    inputs="X x_scale x_zero_point y_scale y_zero_point",
)
def pool(b: Body):
    """Expand a pool with channels last to one with channels first, which has a lowering."""
    return _with_channels_first(b, "X", DOMAIN) if b.attr("channels_last") else None


@expands("NhwcMaxPool", inputs="x", outputs="y", oldest=12)
def max_pool(b: Body):
    """Expand to ONNX's MaxPool."""
    last = b.rank("x") - 1
    y = b.add("MaxPool", b.transpose("x", 0, last, *range(1, last)), **b.attributes)
    return b.transpose(y, 0, *range(2, last + 1), 1)


def _with_channels_first(b, x, domain):
    attributes = {k: v for k, v in b.attributes.items() if k != "channels_last"}
    rest = [b.optional(name) for name in b.formal[1 : len(b.node.input)]]
    if not b.attr("channels_last"):
        return b.add(b.node.op_type, x, *rest, domain=domain, **attributes)
    last = b.rank(x) - 1
    x = b.transpose(x, 0, last, *range(1, last))
    y = b.add(b.node.op_type, x, *rest, domain=domain, **attributes)
    return b.transpose(y, 0, *range(2, last + 1), 1)
