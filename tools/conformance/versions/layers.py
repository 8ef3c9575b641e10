"""Models of products, norms, recurrent layers, transforms and attention."""

from __future__ import annotations

import numpy as np

from .making import Spec, makes, trimmed
from .reductions import axis_of


@makes("Gemm")
def gemm(draw, v):
    """Vary transposes and scales; C is optional since opset 11."""
    m, k, n = (draw.size(1, 5) for _ in range(3))
    dtype = v.dtype(draw, among="float32 float64")
    flags = {"transA": int(draw.chance(0.3)), "transB": int(draw.chance(0.4))}
    a = draw.floats((k, m) if flags["transA"] else (m, k), dtype)
    b = draw.floats((n, k) if flags["transB"] else (k, n), dtype)
    shapes = [(n,), (m, n), (1, n), (m, 1), ()]
    c = [draw.floats(shapes[draw.size(0, 4)], dtype)]
    if v.since >= 11 and draw.chance(0.3):
        c = []
    scales = {"alpha": 0.5, "beta": 1.5} if draw.chance(0.4) else {}
    return Spec([a, b, *c], {name: f for name, f in flags.items() if f} | scales)


@makes("MatMul")
def matmul(draw, v):
    """Draw matrices, batches of them, and vectors."""
    k, dtype = draw.size(1, 5), v.dtype(draw, among="float32 float64 int32 uint32 int64")
    batch = draw.shape(0, 2, 3)
    a = (*batch, draw.size(1, 4), k) if draw.chance(0.8) else (k,)
    b = (*batch[draw.size(0, len(batch)) :], k, draw.size(1, 4)) if draw.chance(0.8) else (k,)
    if dtype.kind == "f":
        return Spec([draw.floats(s, dtype) for s in (a, b)], {}, [1] if draw.chance() else ())
    return Spec([draw.ints(s, dtype, 0, 9) for s in (a, b)])


@makes("Einsum")
def einsum(draw, v):
    """Draw equations: products, traces, sums."""
    i, j, k = (draw.size(1, 4) for _ in range(3))
    shapes = {
        "ij,jk->ik": [(i, j), (j, k)],
        "bij,bjk->bik": [(2, i, j), (2, j, k)],
        "ij->ji": [(i, j)],
        "ii->i": [(i, i)],
        "ij->": [(i, j)],
        "...ij,...jk->...ik": [(2, 1, i, j), (2, 3, j, k)],
        "i,j->ij": [(i,), (j,)],
    }
    equation = list(shapes)[draw.size(0, len(shapes) - 1)]
    return Spec([draw.floats(s) for s in shapes[equation]], {"equation": equation})


@makes("Det")
def det(draw, v):
    """Draw one matrix or a batch."""
    n = draw.size(1, 4)
    return Spec([draw.floats((*draw.shape(0, 2, 3), n, n))])


@makes("BatchNormalization")
def batch_norm(draw, v):
    """Make models for inference."""
    shape = draw.shape(2, 5, 4)
    c = shape[1]
    inputs = [draw.floats(shape), *(draw.floats((c,)) for _ in range(3))]
    inputs.append(draw.rng.uniform(0.2, 2, (c,)).astype(np.float32))
    attributes = {"epsilon": 1e-3} if draw.chance() else {}
    return Spec(inputs, attributes, [1, 2, 3, 4] if draw.chance(0.8) else ())


@makes("InstanceNormalization")
def instance_norm(draw, v):
    """Draw one to three spatial dims."""
    shape = draw.shape(3, 5, 4)
    inputs = [draw.floats(shape), *(draw.floats((shape[1],)) for _ in range(2))]
    return Spec(inputs, {"epsilon": 1e-2 if draw.chance() else 1e-3})


@makes("GroupNormalization")
def group_norm(draw, v):
    """Draw scale and bias by group in version 18, by channel since version 21."""
    groups, each = draw.size(1, 3), draw.size(1, 3)
    n = groups if v.since < 21 else groups * each
    x = draw.floats((draw.size(1, 2), groups * each, *draw.shape(1, 2, 4)))
    return Spec([x, draw.floats((n,)), draw.floats((n,))], {"num_groups": groups, "epsilon": 1e-2})


@makes("LRN")
def lrn(draw, v):
    """Use an odd size: onnxruntime forgets the last channel of an even one."""
    attributes = {"size": (1, 3, 5)[draw.size(0, 2)]}
    if draw.chance():
        attributes |= {"alpha": 0.5, "beta": 0.6, "bias": 1.5}
    return Spec([draw.floats((draw.size(1, 2), draw.size(1, 5), 3, 2))], attributes)


@makes("MeanVarianceNormalization")
def mean_variance(draw, v):
    """Vary the axes; default: all but the channels."""
    x = draw.floats((draw.size(1, 2), draw.size(1, 3), 3, draw.size(2, 4)))
    return Spec([x], {"axes": [0, 2, 3]} if draw.chance() else {})


@makes("GRU", "LSTM", "RNN")
def recurrent(draw, v):
    """Vary direction, lengths, initial states and outputs."""
    gates = {"GRU": 3, "LSTM": 4, "RNN": 1}[v.operator]
    steps, batch, n, hidden = (draw.size(1, m) for m in (4, 2, 3, 3))
    direction = ("forward", "reverse", "bidirectional")[draw.size(0, 2)]
    d = 1 + (direction == "bidirectional")
    inputs = [draw.floats((steps, batch, n)), draw.floats((d, gates * hidden, n), scale=0.5)]
    inputs += [draw.floats((d, gates * hidden, hidden), scale=0.5), None, None, None]
    if draw.chance():
        inputs[3] = draw.floats((d, 2 * gates * hidden), scale=0.5)
    if draw.chance(0.3):
        inputs[4] = draw.ints((batch,), np.int32, 1, steps)
    states = 1 + (v.operator == "LSTM")
    if draw.chance():
        inputs[5] = draw.floats((d, batch, hidden))
        inputs += [draw.floats((d, batch, hidden))] * (states - 1)
    if v.operator == "LSTM" and draw.chance(0.3):
        inputs += [None] * (7 - len(inputs)) + [draw.floats((d, 3 * hidden), scale=0.5)]
    trimmed(inputs)
    attributes = {"hidden_size": hidden}
    if direction != "forward" or draw.chance():
        attributes["direction"] = direction
    if v.operator == "GRU" and draw.chance():
        attributes["linear_before_reset"] = int(draw.chance())
    if v.operator == "LSTM" and draw.chance(0.2):
        attributes["input_forget"] = 1
    if draw.chance(0.2):
        attributes["clip"] = 0.7
    outputs = [[True], [True] * (1 + states), [False, True]][draw.size(0, 2)]
    fixed = [i for i in (1, 2, 3, 7) if i < len(inputs) and inputs[i] is not None]
    return Spec(inputs, attributes, fixed, outputs)


@makes("DFT")
def dft(draw, v):
    """Draw the axis, which is an attribute in version 17 and an input since version 20."""
    n, parts = draw.size(1, 6), draw.size(1, 2)
    inverse = parts == 2 and draw.chance(0.4)
    attributes = {"inverse": 1} if inverse else {}
    if not inverse and parts == 1 and draw.chance():
        attributes["onesided"] = 1
    shape = (draw.size(1, 2), n, draw.size(1, 3), parts)
    axis = 1 if draw.chance() else 2
    x, inputs = draw.floats(shape), []
    if draw.chance(0.3):
        inputs = [np.array(draw.size(1, 6))]
    if v.since < 20:
        attributes |= {"axis": axis} if axis != 1 or draw.chance() else {}
        return Spec([x, *inputs], attributes, range(1, 1 + len(inputs)), rtol=1e-3, atol=1e-4)
    inputs = [*(inputs or [None]), np.array(axis)]
    fixed = [i + 1 for i, t in enumerate(inputs) if t is not None]
    return Spec([x, *inputs], attributes, fixed, rtol=1e-3, atol=1e-4)


@makes("Attention")
def attention(draw, v):
    """Vary 3 or 4 dims, causality, the mask and the softcap."""
    batch, heads, size, q, k = (
        1,
        draw.size(1, 2),
        draw.size(1, 3),
        draw.size(1, 3),
        draw.size(1, 4),
    )
    flat = draw.chance()
    shapes = [(batch, n, heads * size) if flat else (batch, heads, n, size) for n in (q, k, k)]
    inputs = [draw.floats(s) for s in shapes]
    attributes = {"q_num_heads": heads, "kv_num_heads": heads} if flat else {}
    if draw.chance(0.4):
        inputs.append(draw.floats((q, k)))
    if draw.chance(0.3):
        attributes["softcap"] = 2.0
    if draw.chance(0.3):
        attributes["scale"] = 0.4
    if draw.chance(0.3) and len(inputs) == 3:
        attributes["is_causal"] = 1
    return Spec(inputs, attributes)


@makes("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(draw, v):
    """Vary the reduction, with and without weights and an ignored index."""
    n, classes = draw.size(1, 4), draw.size(2, 4)
    dims = draw.shape(0, 2, 3)
    inputs = [draw.floats((n, classes, *dims)), draw.ints((n, *dims), np.int64, 0, classes - 1)]
    if draw.chance():
        inputs.append(draw.rng.uniform(0.2, 1, (classes,)).astype(np.float32))
    attributes = {}
    if draw.chance(0.7):
        attributes["reduction"] = ("mean", "sum", "none")[draw.size(0, 2)]
    if draw.chance(0.3):
        attributes["ignore_index"] = draw.size(0, classes - 1)
    return Spec(inputs, attributes)


@makes("QuantizeLinear")
def quantize(draw, v):
    """Draw one scale, or since opset 13 maybe one for each index of `axis`."""
    signed = draw.chance()
    shape, zero = draw.shape(1, 4, 4), np.int8 if signed else np.uint8
    if v.since >= 21 and draw.chance(0.3):
        zero = np.int16 if signed else np.uint16
    x, attributes, scales = draw.floats(shape, scale=2.0), {}, ()
    if v.since >= 13 and draw.chance():
        axis = axis_of(draw, v, len(shape))
        attributes, scales = {"axis": axis}, (shape[axis],)
    scale = draw.scales(scales, 0.02, 0.1)
    point = [draw.ints(scales, zero, 0, 20)] if draw.chance(0.8) else []
    return Spec([x, scale, *point], attributes, range(1, 2 + len(point)), is_rounded=True)


@makes("DequantizeLinear")
def dequantize(draw, v):
    """Draw one scale, or since opset 13 maybe one for each index of `axis`."""
    dtypes = "int8 uint8 int16 uint16 int32" if v.since >= 21 else "int8 uint8 int32"
    dtype = v.dtype(draw, among=dtypes)
    shape, attributes, scales = draw.shape(1, 4, 4), {}, ()
    if v.since >= 13 and draw.chance():
        axis = axis_of(draw, v, len(shape))
        attributes, scales = {"axis": axis}, (shape[axis],)
    scale = draw.scales(scales, 0.02, 0.1)
    point = [draw.ints(scales, dtype, 0, 20)] if dtype.name != "int32" and draw.chance(0.8) else []
    x = draw.ints(shape, dtype, 0, 100)
    return Spec([x, scale, *point], attributes, range(1, 2 + len(point)))


@makes("QLinearMatMul")
def qlinear_matmul(draw, v):
    """Use one scale for each matrix."""
    m, k, n = (draw.size(1, 5) for _ in range(3))
    dtype = v.dtype(draw, among="int8 uint8")
    sides = [draw.ints(s, dtype) for s in ((m, k), (k, n))]
    params = [(draw.scales((), 0.005, 0.02), draw.ints((), dtype, 0, 9)) for _ in range(3)]
    inputs = [sides[0], *params[0], sides[1], *params[1], *params[2]]
    return Spec(inputs, {}, [1, 2, 3, 4, 5, 6, 7], is_rounded=True)
