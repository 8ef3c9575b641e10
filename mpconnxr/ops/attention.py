"""attention: softmax of the products of queries and keys, times values, on strided tensors.

    out[b, h, i] = sum over j < n of a[j] * v[b, h // heads, j]
    a = softmax over j < n of scale * sum over d of q[b, h, i, d] * k[b, h // heads, j, d]

n is the number of keys, or lengths[b] if there is such an input. If causal, query i sees keys up
to i, or up to i + n - queries with lengths. A query that sees no key gives 0. Serves Attention
(ONNX's own and the subgraphs that exporters write for it).

    q, k, v    float32, strided; the elements of a head are contiguous
    lengths    int64 (batch); optional
    out        float32, strided likewise
    scratch    int32: see scratch_places

Each row of queries, keys or values has its own exponent and 24-bit mantissas. Attention weights
are rounded to 2**-24 of the largest product of weight and row. Scores are within 2**-22. A step
allocates nothing unless a value is inf or NaN. Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..loops.attention import (
    _DOTS,
    _FINISH,
    _LIMIT,
    _PACK,
    _PEAKS,
    _POWERS,
    _SCALE,
    _SETTLE,
    _SUMS,
    _UNIT,
    _WEIGHTS,
)
from ._softmax_bits import POWERS

# params
_BATCH = const(0)
_GROUPS = const(1)  # heads of keys and values
_HEADS = const(2)  # heads of queries per group
_QUERIES = const(3)
_KEYS = const(4)
_K = const(5)  # elements of a head of queries and keys
_WIDTH = const(6)  # elements of a head of values
_CAUSAL = const(7)  # flag
_AT_ONCE = const(8)  # queries per call
_FACTOR = const(9)  # 24 bits of scale / ln(2)
_EXPONENT = const(10)  # the factor's power of two, + 512
_Q_STRIDES = const(11)  # [batch, head, row]
_K_STRIDES = const(14)  # [batch, head, row]
_V_STRIDES = const(17)  # [batch, head, row]
_OUT_STRIDES = const(20)  # [batch, head, row]
_N_PARAMS = const(23)

CALLS = True

_ROWS = 32  # rows of keys or values at once
_MOST_K = 128
_MOST_KEYS = 0x7FFF


def prepare(node, calls):
    node.expect(min(max(len(node.inputs), 3), 4), 1, _N_PARAMS, 1)
    e = node.extents(0, _N_PARAMS)
    out, scratch = node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", out, *node.inputs[:3])
    node.expect_dtype("int32", scratch)
    batch, groups, heads, queries, keys, k, width = e[:_CAUSAL]
    node.require(batch * groups * heads * queries * width == out.nelem, "output size")
    if out.nelem == 0:
        return
    node.require(0 < k <= _MOST_K and width <= _MOST_K and keys <= _MOST_KEYS, "sizes")
    node.require(e[_CAUSAL] < 2 and 0 < e[_AT_ONCE] and queries < _MOST_KEYS, "queries")
    node.require(1 << 23 <= e[_FACTOR] < 1 << 24 and e[_EXPONENT] < 1024, "scale")
    of_q, of_k = (batch, groups * heads, queries, k), (batch, groups, keys, k)
    of_v = (batch, groups, keys, width)
    of_out = (batch, groups * heads, queries, width)
    tensors = (node.inputs[0], of_q), (node.inputs[1], of_k), (node.inputs[2], of_v), (out, of_out)
    for i in range(4):
        t, dims = tensors[i]
        node.require(_end(dims, e[_Q_STRIDES + 3 * i :]) <= t.nelem, "strides")
    lengths = None
    if len(node.inputs) > 3:
        lengths = node.inputs[3]
        node.expect_dtype("int64", lengths)
        node.require(batch <= lengths.nelem, "lengths")
    parts = -(-queries // e[_AT_ONCE])
    _emit(node, calls, e, parts, lengths)


def _end(dims, strides):
    """Return the index behind the last element, or 0 if a dim is 0."""
    if 0 in dims:
        return 0
    return sum([(dims[i] - 1) * strides[i] for i in range(3)]) + dims[3]


def scratch_places(rows, keys, k, width):
    """Return the starts of the parts of the scratch [words], and last its size.

    rows are the queries at once, of all heads; k and width the elements of a query and of a
    result.
    """
    places = [0]
    for n in (keys, keys, rows, rows * k, rows * keys, _ROWS * max(k, width), rows * _ROWS):
        places.append(places[-1] + n)
    for n in (2 * rows * width, 3 * rows, 3 * rows * (max(_ROWS, width) + 1)):
        places.append(places[-1] + n)
    return places


def _emit(node, calls, e, parts, lengths):
    """Emit the calls for batches x groups x chunks of queries."""
    groups, heads, queries, keys, k, width = e[_GROUPS:_CAUSAL]
    at_once = min(e[_AT_ONCE], queries)
    rows = heads * at_once
    places = scratch_places(rows, keys, k, width)
    k_exponents, v_exponents, q_exponents, mantissas, scores, kv = places[:6]
    weights, sums, results, limbs, end = places[6:]
    node.require(end <= len(node.scratch[0].data), "scratch size")
    bits = 7
    while 1 << (8 - bits) < k:
        bits -= 1
    loops, table = forms.get("attention"), calls.constants("i", POWERS)
    needs = [loops.peaks, loops.pack, loops.scale, forms.get("block_dot").dots]
    needs += [loops.settle, loops.powers, loops.weights, loops.sums, loops.finish]
    needs += [loops.limit, loops.scored, loops.seen]
    needs += [calls.later("attention_special", "heads"), calls.part()]
    needs += [calls.place(t, "i") for t in node.inputs[:3]]
    needs += [calls.place(node.scratch[0]), calls.place(node.outputs[0], "i")]
    needs += [needs[14] if lengths is None else calls.place(lengths, "i"), table]
    ends = (_PEAKS, _PACK, _SCALE, _DOTS, _SETTLE, _POWERS, _WEIGHTS, _SUMS, _FINISH, None)
    needs += [calls.part(ends[i], ends[i + 1]) for i in range(9)]
    needs.append(calls.part(_LIMIT, _PEAKS))
    n_units, work = e[_BATCH] * groups * parts, heads * at_once * max(k, width)
    for unit, unit_end in calls.parts(n_units, work):
        p = block(
            "attention.attend",
            unit=unit,
            unit_end=unit_end,
            parts=parts,
            groups=groups,
            heads=heads,
            queries=queries,
            part_queries=at_once,
            keys=keys,
            key_columns=k,
            value_columns=width,
            is_causal=e[_CAUSAL],
            has_lengths=int(lengths is not None),
            block_rows=_ROWS,
            q_batch_stride=e[_Q_STRIDES],
            q_head_stride=e[_Q_STRIDES + 1],
            q_row_stride=e[_Q_STRIDES + 2],
            k_batch_stride=e[_K_STRIDES],
            k_head_stride=e[_K_STRIDES + 1],
            k_row_stride=e[_K_STRIDES + 2],
            v_batch_stride=e[_V_STRIDES],
            v_head_stride=e[_V_STRIDES + 1],
            v_row_stride=e[_V_STRIDES + 2],
            out_batch_stride=e[_OUT_STRIDES],
            out_head_stride=e[_OUT_STRIDES + 1],
            out_query_stride=e[_OUT_STRIDES + 2],
            batch=0,
            query=0,
            unit_queries=0,
            unit_keys=0,
            group=0,
            keys_before=0,
            k_exponents_start=k_exponents,
            v_exponents_start=v_exponents,
            q_exponents_start=q_exponents,
            q_start=mantissas,
            scores_start=scores,
            kv_start=kv,
            weights_start=weights,
            sums_start=sums,
            results_start=results,
            limit=(0, keys),
            length=0,
            peaks=(0, 0, 0, 0, 0, 0),
            pack=(0, 0, 0, 0, 0, 0, 0, 0, 0),
            scale=(0, 0, e[_FACTOR]),
            dots=(0, 0, 0, 0, kv, 0, limbs),
            settle=(limbs, 0, 0, 0, keys, bits),
            powers=(0, 0, 0, k_exponents, v_exponents, e[_EXPONENT] + 284 - bits, 0, 0),
            weights=(0, 0, keys, 0, 0, weights, results),
            sums=(limbs, 0, width, sums, 0),
            finish=(0, 0, width, 0, 0, e[_OUT_STRIDES + 2]),
        )
        calls.drive(loops.attend, p, needs, (_UNIT,))
