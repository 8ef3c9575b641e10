"""Random cases of Attention, MultiHeadAttention and their relatives, for making.MAKERS.

Each function is a maker: it yields a Spec for each combination of options that it draws.
"""

from __future__ import annotations

import numpy as np

from .making import Spec, makes, trimmed

_RAW = ("rows", "full", "ends", "ends and starts")
# Forms that may mask all keys of a query: a mask value of -10000 would swamp the products.
_WHOLE = ("full", "ends and starts")


def _mask(draw, form, batch, seq, total):
    """Draw an int32 mask of the keys that count; None without a form.

    Args:
        draw: draws numbers.
        form: one of _RAW, or None.
        batch: number of samples.
        seq: number of queries.
        total: number of keys.
    """
    if form is None:
        return None
    ends = draw.ints((batch,), np.int32, 1, total)
    if form == "rows":
        return (np.arange(total) < ends[:, None]).astype(np.int32)
    if form == "full":
        return draw.ints((batch, seq, total), np.int32, 0, 1)
    if form == "ends":
        return ends
    starts = np.maximum(ends - draw.ints((batch,), np.int32, 1, 3), 0).astype(np.int32)
    return np.concatenate([ends, starts])


def _bias(draw, form, batch, heads, seq, total):
    """Draw a bias of the scores; None without a form.

    Args:
        draw: draws numbers.
        form: (has a value for each sample, has a value for each head), or None.
        batch: number of samples.
        heads: number of heads.
        seq: number of queries.
        total: number of keys.
    """
    if form is None:
        return None
    first, second = form
    return draw.floats((batch if first else 1, heads if second else 1, seq, total))


_BIASES = [None, None, (0, 0), (1, 1), (1, 0), (0, 1)]


@makes("Attention")
def attention(draw):
    """Yield cases with each form of mask, with and without past, present and causality."""
    for c in draw.each(
        64,
        heads=[1, 2, 3],
        unidirectional=[None, None, 1],
        scale=[None, None, 0.3],
        mask=[None, *_RAW],
        past=[None, None, 0, 1, 3],
        present=[True, False],
        attention_bias=_BIASES,
        wide=[False, False, True],
        mask_filter_value=[None, None, -100.0],
        fixed=[True, False],
        opset=[None, 11, 12],
    ):
        batch, seq, size, head = draw.size(1, 3), draw.size(1, 5), draw.size(1, 6), draw.size(1, 4)
        hidden, wide = c.heads * head, c.heads * (head + 1)
        sizes = [hidden, hidden, wide if c.wide and c.past is None else hidden]
        total = seq + (c.past or 0)
        of_bias = c.attention_bias if c.past is None else None
        past = None if c.past is None else draw.floats((2, batch, c.heads, c.past, head))
        inputs = [
            draw.floats((batch, seq, size)),
            draw.floats((size, sum(sizes))),
            draw.floats((sum(sizes),)),  # without it onnxruntime crashes
            _mask(draw, c.mask, batch, seq, total),
            past,
            _bias(draw, of_bias, batch, c.heads, seq, total),
        ]
        attributes = {"num_heads": c.heads}
        attributes |= c.attributes("unidirectional", "scale", "mask_filter_value")
        if c.mask in _WHOLE:
            attributes["mask_filter_value"] = -100.0
        if sizes[2] != hidden:
            attributes["qkv_hidden_sizes"] = sizes
        has_present = c.past is not None or (c.present and not c.wide)
        fixed = (1, 2) if c.fixed else ()
        yield Spec(trimmed(inputs), attributes, fixed, (True,) * (1 + has_present), opset=c.opset)


@makes("MultiHeadAttention")
def multi_head_attention(draw):
    """Yield cases of self-attention, with and without past, and of cross-attention.

    Masks, biases, scales and the requested outputs vary.
    """
    for c in draw.each(
        80,
        heads=[1, 2, 3],
        form=["three", "three", "three", "cross"],
        unidirectional=[None, None, 1],
        scale=[None, None, 0.3],
        mask=[None, *_RAW[:3]],
        past=[None, None, 0, 1, 3],
        outputs=[(1,), (1, 1, 1), (1, 1, 1, 1), (1, 0, 0, 1)],
        bias=[True, False],
        attention_bias=_BIASES,
        wide=[False, False, True],
        mask_filter_value=[None, None, -100.0],
        opset=[None, 11, 12],
    ):
        batch, seq, head = draw.size(1, 3), draw.size(1, 5), draw.size(1, 4)
        is_three = c.form == "three"
        past = c.past if is_three else None
        keys = seq if past is not None else draw.size(1, 5)
        of_v = head + 1 if c.wide and is_three and past is None else head
        hidden, v_hidden = c.heads * head, c.heads * of_v
        total = keys + (past or 0)
        q, k, v = draw.floats((batch, seq, hidden)), None, None
        if is_three:
            k, v = draw.floats((batch, keys, hidden)), draw.floats((batch, keys, v_hidden))
        else:
            k, v = (draw.floats((batch, c.heads, keys, head)) for _ in range(2))
        inputs = [
            *(q, k, v),
            draw.floats((2 * hidden + v_hidden,)) if c.bias else None,
            _mask(draw, c.mask, batch, seq, total),
            _bias(draw, c.attention_bias, batch, c.heads, seq, total),
        ]
        if past is not None:
            inputs += [draw.floats((batch, c.heads, past, head)) for _ in range(2)]
        attributes = {"num_heads": c.heads}
        attributes |= c.attributes("unidirectional", "scale", "mask_filter_value")
        if c.mask in _WHOLE:
            attributes["mask_filter_value"] = -100.0
        # without present ones onnxruntime reads beyond the past ones
        present = past is not None
        outputs = (1, 1, 1, *c.outputs[3:]) if present else c.outputs
        present = [bool(o) for o in outputs]
        of_qk = {3: np.float32}
        yield Spec(trimmed(inputs), attributes, (), present, of_qk, opset=c.opset)


@makes("QAttention")
def quantized_attention(draw):
    """Yield cases with scales by tensor and by column, with masks, past and present."""
    for c in draw.each(
        40,
        heads=[1, 2, 3],
        of_weight=[np.uint8, np.int8],
        unidirectional=[None, None, 1],
        scale=[None, None, 0.3],
        mask=[None, *_RAW],
        past=[None, None, 1, 3],
        present=[True, False],
        by_column=[True, False],
        zeros=["both", "both", "weight", "none"],
        mask_filter_value=[None, None, -100.0],
        fixed=[True, False],
        opset=[None, 11, 12],
    ):
        batch, seq, size, head = draw.size(1, 3), draw.size(1, 5), draw.size(1, 6), draw.size(1, 4)
        n, total = 3 * c.heads * head, seq + (c.past or 0)
        many = (n,) if c.by_column else ()
        inputs = [
            draw.ints((batch, seq, size), np.uint8),
            draw.ints((size, n), c.of_weight),
            draw.floats((n,)),
            *(draw.scales((), 0.005, 0.02), draw.scales(many, 0.005, 0.02)),
            _mask(draw, c.mask, batch, seq, total),
            draw.ints((), np.uint8) if c.zeros == "both" else None,
            draw.ints(many, c.of_weight) if c.zeros != "none" else None,
            None if c.past is None else draw.floats((2, batch, c.heads, c.past, head)),
        ]
        attributes = {"num_heads": c.heads}
        attributes |= c.attributes("unidirectional", "scale", "mask_filter_value")
        if c.mask in _WHOLE:
            attributes["mask_filter_value"] = -100.0
        fixed = [i for i in (1, 2, 3, 4, 6, 7) if i < len(inputs) and inputs[i] is not None]
        has_present = c.past is not None or c.present
        constants = fixed if c.fixed else ()
        yield Spec(trimmed(inputs), attributes, constants, (True, has_present), opset=c.opset)


@makes("DecoderMaskedMultiHeadAttention")
def decoder_attention(draw):
    """Yield cases of self-attention in a buffer, with and without beams, and cross-attention."""
    for c in draw.each(
        48,
        heads=[1, 2, 3],
        form=["self", "self", "cross"],
        scale=[None, None, 0.3],
        mask=[True, False],
        bias=[True, False],
        attention_bias=[None, None, (0, 0), (1, 1)],
        beams=[0, 1, 2],
        qk=[True, False],
        mask_filter_value=[None, -100.0],
        fixed=[True, False],
    ):
        head, keys = draw.size(1, 4), draw.size(1, 5)
        batch = draw.size(1, 2) * (c.beams or 1)
        hidden, total = c.heads * head, keys if c.form == "cross" else keys + 1
        q, k, v = (draw.floats((batch, 1, hidden)) for _ in range(3))
        is_self = c.form == "self"
        if not is_self:
            k, v = (draw.floats((batch, c.heads, keys, head)) for _ in range(2))
        inputs = [q, k, v, _mask(draw, "rows" if c.mask else None, batch, 1, total)]
        inputs.append(_bias(draw, c.attention_bias if is_self else None, batch, c.heads, 1, total))
        if is_self:
            room = total + draw.size(0, 2)
            inputs += [draw.floats((batch, c.heads, room, head)) for _ in range(2)]
            inputs.append(np.array([keys], np.int32))
            if c.beams:
                inputs.append(np.array([c.beams], np.int32))
                many = (batch // c.beams, c.beams, room)
                inputs.append(draw.ints(many, np.int32, 0, c.beams - 1))
        if c.bias:
            inputs += [None] * (10 - len(inputs)) + [draw.floats((3 * hidden,))]
        attributes = {"num_heads": c.heads, **c.attributes("scale", "mask_filter_value")}
        if is_self:
            attributes["past_present_share_buffer"] = 1
        has_count = c.mask or c.attention_bias or c.fixed
        qk = is_self and c.qk and has_count
        if qk:
            attributes["output_qk"] = 1
        fixed = [i for i in (7, 8) if i < len(inputs) and inputs[i] is not None]
        outputs = (True, is_self, is_self, qk)
        of_qk = {3: np.float32}
        yield Spec(trimmed(inputs), attributes, fixed if c.fixed else (), outputs, of_qk)
