"""Lower Attention, and mpconnxr:Heads, which a rewrite makes of Attention's steps.

Both become kernel attention. Nodes that the kernel does not serve are replaced by the operator's
definition (see simplify/expand).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from onnx import NodeProto, helper

from mpconnxr.ops.attention import scratch_places

from ..ir import Step, Tensor
from . import OWN, lowers
from ._dtypes import FLOAT, INT32, INT64
from ._move import strides_of

MOST_WIDTH, MOST_KEYS = 128, 0x7FFF  # the kernel's limits
_MIN_ROWS, _MAX_ROWS = 8, 32  # rows of queries at once, of all heads of a group


@dataclass(frozen=True)
class HeadLayout:
    """Sizes and strides of a tensor of heads.

    Attributes:
        dims: (batch, heads, rows, width).
        strides: strides of the first three of these [elements].
    """

    dims: tuple[int, int, int, int]
    strides: tuple[int, int, int]


def takes(node: NodeProto, types) -> bool:
    """Return True if the kernel serves a node of Attention, with TypeProtos of values by name."""
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if any(node.input[3:6]) or any(node.output[1:]):
        return False
    if attributes.get("softcap", 0.0) or attributes.get("softmax_precision", FLOAT) != FLOAT:
        return False
    if any(attributes.get(f"{side}_window_size", -1) >= 0 for side in ("left", "right")):
        return False
    shapes = [shape_of(types.get(name), FLOAT) for name in node.input[:3]]
    if len(node.input) > 6 and node.input[6] and not shape_of(types.get(node.input[6]), INT64):
        return False
    if None in shapes or len({len(shape) for shape in shapes}) > 1 or 0 in map(math.prod, shapes):
        return False
    heads = [attributes.get(f"{kind}_num_heads") for kind in ("q", "kv", "kv")]
    if len(shapes[0]) == 3 and (None in heads or len({shape[0] for shape in shapes}) > 1):
        return False
    layouts = [plain_layout(*pair) for pair in zip(shapes, heads, strict=True)]
    return is_served(layouts, attributes.get("scale"))


def is_served(layouts, scale: float | None = None) -> bool:
    """Return True if the kernel serves queries, keys and values with these layouts."""
    q, k, v = (each.dims for each in layouts)
    is_matched = q[0] == k[0] == v[0] and k[1:3] == v[1:3] and q[3] == k[3] and q[1] % k[1] == 0
    fits = max(q[3], v[3]) <= MOST_WIDTH and k[2] <= MOST_KEYS and q[2] < MOST_KEYS
    return is_matched and fits and (scale is None or 2.0**-60 < scale < 2.0**60)


def shape_of(proto, dtype):
    """Return the fixed dimensions of a tensor of this dtype, or None."""
    if proto is None or proto.tensor_type.elem_type != dtype:
        return None
    dims = proto.tensor_type.shape.dim
    known = proto.tensor_type.HasField("shape") and all(d.HasField("dim_value") for d in dims)
    return tuple(d.dim_value for d in dims) if known else None


def plain_layout(shape, heads) -> HeadLayout:
    """Return the layout of (batch, heads, rows, width), or of (batch, rows, heads * width)."""
    if len(shape) == 4:
        return HeadLayout(tuple(shape), tuple(strides_of(shape)[:3]))
    batch, rows, width = shape
    head_width = width // heads
    return HeadLayout((batch, heads, rows, head_width), (rows * width, head_width, width))


@lowers("Attention", takes=takes)
def lower_attention(node):
    inputs, heads = node.inputs, [node.attr(f"{k}_num_heads") for k in ("q", "kv", "kv", "q")]
    tensors = [*inputs[:3], node.outputs[0]]
    layouts = [plain_layout(t.shape, n) for t, n in zip(tensors, heads, strict=True)]
    scale = node.attr("scale", 1 / math.sqrt(layouts[0].dims[3]))
    emit_attention(node, tensors, layouts, scale, node.input(6), node.attr("is_causal", 0))


def _infer_heads(node):
    return [(node.inputs[0].dtype, tuple(node.attr("out_shape")))]


@lowers("Heads", domain=OWN, infer=_infer_heads)
def lower_heads(node):
    """Lower Heads.

    Attributes *_dims and *_strides are the HeadLayout of q, k and v, from element *_first of the
    inputs on. out_axes are the axes of out_shape for (batch,) heads, rows and width.
    """
    out, tensors, layouts = node.outputs[0], [], []
    for name, t in zip("qkv", node.inputs, strict=True):
        first = node.attr(f"{name}_first")
        part = node.reshaped(t, (t.nelem,)) if first == 0 else node.temp(FLOAT, (t.nelem - first,))
        if first:
            part.alias, part.alias_at = t, first * t.itemsize
        tensors.append(part)
        layouts.append(
            HeadLayout(tuple(node.attr(f"{name}_dims")), tuple(node.attr(f"{name}_strides")))
        )
    axes, strides = node.attr("out_axes"), strides_of(out.shape)
    dims = (*layouts[0].dims[:3], layouts[2].dims[3])
    missing = (0,) * (4 - len(axes))
    layouts.append(HeadLayout(dims, missing + tuple(strides[a] for a in axes[:-1])))
    scale, causal = node.attr("scale"), node.attr("causal", 0)
    emit_attention(node, [*tensors, out], layouts, scale, causal=causal)


def emit_attention(node, tensors, layouts, scale, lengths: Tensor | None = None, causal=0) -> None:
    """Emit kernel attention.

    Args:
        node: the node to lower.
        tensors: queries, keys, values, output.
        layouts: a HeadLayout for each.
        scale: a factor of the scores.
        lengths: how many keys each batch has, or None for all.
        causal: 1 if a query ignores later keys.
    """
    q, k, v = (each.dims for each in layouts[:3])
    batch, groups, keys = k[:3]
    heads, queries = q[1] // groups, q[2]
    at_once = max(min(queries, _MIN_ROWS // heads), 1)
    factor, exponent = math.frexp(scale / math.log(2))
    factor, exponent = round(math.ldexp(factor, 24)), exponent - 24
    if factor >> 24:
        factor, exponent = factor >> 1, exponent + 1
    names = ("q_strides", "k_strides", "v_strides", "out_strides")
    strides = {name: each.strides for name, each in zip(names, layouts, strict=True)}
    node.emit(
        "attention",
        [*tensors[:3], *([] if lengths is None else [lengths])],
        tensors[3:],
        scratch=[node.temp(INT32, (_words(at_once, heads, keys, q[3], v[3]),))],
        grow=_grow,
        macs=batch * groups * heads * queries * keys * (q[3] + v[3]),
        batch=batch,
        groups=groups,
        heads=heads,
        queries=queries,
        keys=keys,
        k=q[3],
        width=v[3],
        causal=causal,
        at_once=at_once,
        factor=factor,
        exponent=exponent + 512,
        **strides,
    )


def _words(at_once, heads, keys, k, width) -> int:
    """Return the size of the scratch in words.

    Args:
        at_once: queries of each head that are computed at a time.
        heads: heads of queries that share a head of keys.
        keys: number of keys.
        k: width of a key.
        width: width of a value.
    """
    return scratch_places(heads * at_once, keys, k, width)[-1]


def _grow(step: Step, nbytes: int, _lead: int | None) -> None:
    """Let a step take more queries at once: each time it converts all keys and values again."""
    heads, queries = step["heads"], step["queries"]
    sizes = heads, step["keys"], step["k"], step["width"]
    at_once = max(min(queries, _MAX_ROWS // heads), 1)
    while at_once > 1 and 4 * _words(at_once, *sizes) > nbytes:
        at_once -= 1
    at_once = -(-queries // -(-queries // at_once))
    if at_once > step["at_once"]:
        step["at_once"] = at_once
        step.scratch[0].shape = (_words(at_once, *sizes),)
