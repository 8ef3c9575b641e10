"""attention: softmax of products of queries and keys, times values, where these lie.

    out[b, h, i] = sum over j < n of a[j] * v[b, h // heads, j]
    a = softmax over j < n of scale * sum over d of q[b, h, i, d] * k[b, h // heads, j, d]

n is the number of keys, or what lengths[b] says of them; causal: query i sees those up to i, or up
to i + n - queries where there are lengths. What sees none is 0. Serves Attention (ONNX's, and the
steps that others are exported as).

    q, k, v    float32, wherever strides say; the numbers of a head lie side by side
    lengths    int64 (batch); may be left out
    out        float32, likewise
    scratch    int32: what _words says
A row of queries, keys or values has an exponent of its own, and 24 bits for its largest number;
shares of values are rounded to 2**-24 of the largest product of share and row. Scores are within
2**-22. A step allocates nothing unless values are not finite. Raises ModelError.
"""

from array import array

from .. import forms
from ..parameters import block
from ._softmax_bits import POWERS

# params
_BATCH = const(0)
_GROUPS = const(1)  # heads of keys and values
_HEADS = const(2)  # of queries a group
_QUERIES = const(3)
_KEYS = const(4)
_K = const(5)  # numbers of a head of queries and keys
_WIDTH = const(6)  # of values
_CAUSAL = const(7)  # flag
_AT_ONCE = const(8)  # queries
_FACTOR = const(9)  # 24 bits of scale / ln(2)
_EXPONENT = const(10)  # its power of two, + 512
_Q_STRIDES = const(11)  # [batch, head, row]
_K_STRIDES = const(14)  # [batch, head, row]
_V_STRIDES = const(17)  # [batch, head, row]
_OUT_STRIDES = const(20)  # [batch, head, row]
_N_PARAMS = const(23)

_ROWS = 32  # of keys or values at once
_MOST_K = 128
_MOST_KEYS = 0x7FFF


def prepare(node):
    node.expect(min(max(len(node.inputs), 3), 4), 1, _N_PARAMS, 1)
    e = node.extents(0, _N_PARAMS)
    out, scratch = node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", out, *node.inputs[:3])
    node.expect_dtype("int32", scratch)
    batch, groups, heads, queries, keys, k, width = e[:7]
    node.require(batch * groups * heads * queries * width == out.nelem, "output size")
    if out.nelem == 0:
        return 0, None
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
    return batch * groups * parts, _Attention(node, e, parts, lengths).step


def _end(dims, strides):
    """Items up to the last one, none where a dim is 0."""
    if 0 in dims:
        return 0
    return sum([(dims[i] - 1) * strides[i] for i in range(3)]) + dims[3]


class _Attention:
    """The extent: batches x groups x parts of the queries. p: of loops/attention's attend."""

    def __init__(self, node, e, parts, lengths):
        groups, heads, queries, keys, k, width = e[1:7]
        at_once = min(e[_AT_ONCE], queries)
        rows = heads * at_once
        places = [0]
        for n in (keys, keys, rows, rows * k, rows * keys, _ROWS * max(k, width), rows * _ROWS):
            places.append(places[-1] + n)
        for n in (2 * rows * width, 3 * rows, 3 * rows * (max(_ROWS, width) + 1)):
            places.append(places[-1] + n)
        node.require(places[-1] <= len(node.scratch[0].data), "scratch size")
        bits, limbs = 7, places[9]
        while 1 << (8 - bits) < k:
            bits -= 1
        p = [0, 0, parts, groups, heads, queries, at_once, keys, k, width]
        p += [e[_CAUSAL], int(lengths is not None), _ROWS] + e[_Q_STRIDES:]
        p += [0] * 6 + places[:9] + [0, keys, 0] + [0] * 15
        p += [0, 0, e[_FACTOR], 0, 0, 0, 0, places[5], 0, limbs]
        p += [limbs, 0, 0, 0, keys, bits]
        p += [0, 0, 0, places[0], places[1], e[_EXPONENT] + 284 - bits, 0, 0]
        p += [0, 0, keys, 0, 0, places[6], places[8]]
        p += [limbs, 0, width, places[7], 0]
        p += [0, 0, width, 0, 0, e[_OUT_STRIDES + 2]]
        self.p = p = block(*p)
        loops, views = forms.get("attention"), memoryview(p)
        self.attend = loops.attend
        self.needs = [loops.peaks, loops.pack, loops.scale, forms.get("block_dot").dots]
        self.needs += [loops.settle, loops.powers, loops.weights, loops.sums, loops.finish]
        self.needs += [loops.limit, loops.scored, loops.seen]
        self.needs += [forms.later("attention_special", "heads"), p]
        self.needs += [t.view("i") for t in node.inputs[:3]]
        self.needs += [node.scratch[0].data, node.outputs[0].view("i")]
        self.needs.append(self.needs[14] if lengths is None else lengths.view("i"))
        self.needs.append(array("i", POWERS))
        ends = (43, 49, 58, 61, 68, 74, 82, 89, 94, 100)
        self.needs += [views[ends[i] : ends[i + 1]] for i in range(9)]
        self.needs.append(views[40:43])

    def step(self, lo, hi):
        p = self.p
        p[0] = lo
        p[1] = hi
        self.attend(p, self.needs)
