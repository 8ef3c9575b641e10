"""Models of operators of one element, or of elements that broadcast."""

from __future__ import annotations

import numpy as np

from .making import Spec, makes, trimmed

_ATTRIBUTES = ("alpha", "beta", "gamma")
_WITHIN_ONE = ("Acos", "Asin", "Atanh")
_ABOVE_ZERO = ("Log", "Sqrt", "Reciprocal")


@makes(
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor HardSigmoid",
    "HardSwish Identity IsInf IsNaN LeakyRelu Log Mish Neg Reciprocal Relu Round Selu Sigmoid",
    "Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh ThresholdedRelu",
)
def unary(draw, v):
    """Draw attributes or use their defaults; IsInf and IsNaN get infinities and NaN."""
    x = _values(draw, v, draw.shape(0, 5, 4))
    if v.operator.startswith("Is") and x.size and x.dtype.kind == "f":
        at = draw.rng.integers(0, 4, x.shape)
        x = np.select([at == 0, at == 1, at == 2], [np.inf, -np.inf, np.nan], x).astype(x.dtype)
    attributes = {
        name: float(draw.rng.uniform(0.1, 1.5))
        for name in _ATTRIBUTES
        if v.has(name) and draw.chance()
    }
    if v.operator == "IsInf" and draw.chance():
        attributes |= {"detect_negative": int(draw.chance()), "detect_positive": 1}
    return Spec([x], attributes)


def _values(draw, v, shape):
    dtype = v.dtype(draw)
    if dtype.kind in "iu":
        return draw.ints(shape, dtype, -9 if dtype.kind == "i" else 0, 9)
    if dtype.kind == "b":
        return draw.rng.integers(0, 2, shape).astype(bool)
    x = draw.floats(shape, np.float64, 2.0)
    if v.operator in _WITHIN_ONE:
        x = np.clip(x / 3, -0.95, 0.95)
    elif v.operator == "Acosh":
        x = 1 + np.abs(x)
    elif v.operator in _ABOVE_ZERO:
        x = 0.1 + np.abs(x)
    elif v.operator == "Tan":
        x = np.clip(x / 3, -1.2, 1.2)
    return x.astype(dtype)


def broadcast_shapes(draw, n: int) -> list[tuple[int, ...]]:
    """Draw shapes of n operands that broadcast with each other."""
    full = draw.shape(0, 5, 4)
    result = []
    for _ in range(n):
        some = tuple(d if draw.chance(0.7) else 1 for d in full)
        result.append(some[draw.size(0, len(some)) if draw.chance(0.3) else 0 :])
    return result


@makes(
    "Add Div Equal Greater GreaterOrEqual Less LessOrEqual Mod Mul Sub BitShift",
)
def binary(draw, v):
    """Draw equal shapes or shapes that broadcast; divisors are not zero."""
    dtype, shapes = v.dtype(draw), broadcast_shapes(draw, 2)
    if dtype.kind == "f":
        a, b = (draw.floats(s, dtype, 2.0) for s in shapes)
        b = np.where(np.abs(b) < 0.3, dtype.type(0.5), b) if v.operator in ("Div", "Mod") else b
    elif dtype.kind == "b":
        a, b = (draw.rng.integers(0, 2, s).astype(bool) for s in shapes)
    else:
        a, b = (draw.ints(s, dtype, -9 if dtype.kind == "i" else 0, 9) for s in shapes)
        b = np.where(b == 0, dtype.type(1), b) if v.operator in ("Div", "Mod") else b
    attributes = {}
    if v.operator == "BitShift":
        attributes["direction"] = "LEFT" if draw.chance() else "RIGHT"
    if v.operator == "Mod" and (dtype.kind == "f" or draw.chance(0.3)):
        attributes["fmod"] = 1
    fixed = [(), (), (1,), (0,)][draw.size(0, 3)]
    return Spec([np.asarray(a, dtype), np.asarray(b, dtype)], attributes, fixed)


@makes("Pow")
def power(draw, v):
    """Draw exponents; since opset 12 they may have another dtype."""
    shapes = broadcast_shapes(draw, 2)
    dtype = v.dtype(draw)
    other = v.dtype(draw, 1) if v.since >= 12 else dtype
    base = np.abs(draw.floats(shapes[0], np.float64)) + 0.2
    x = base.astype(dtype) if dtype.kind == "f" else draw.ints(shapes[0], dtype, 0, 4)
    exponent = draw.ints(shapes[1], np.int64, 0, 3).astype(other)
    return Spec([x, exponent])


@makes("Max", "Mean", "Min", "Sum")
def variadic(draw, v):
    """Draw one to four inputs; before opset 8 they all have one shape."""
    dtype, n = v.dtype(draw), draw.size(1, 4)
    shapes = broadcast_shapes(draw, n) if v.since >= 8 else [draw.shape(0, 5, 4)] * n
    if dtype.kind == "f":
        return Spec([draw.floats(s, dtype) for s in shapes])
    return Spec([draw.ints(s, dtype, 0, 99) for s in shapes])


@makes("PRelu")
def prelu(draw, v):
    """Draw slopes that broadcast to x; before opset 9 a vector may have one per channel."""
    dtype = v.dtype(draw, among="float16 float32 float64")
    shape = draw.shape(2, 4, 4)
    if v.since < 9 and shape[1] != shape[-1] != 1:
        slope = shape[1:2]
    else:
        slope = tuple(d if draw.chance(0.6) else 1 for d in shape)[draw.size(0, len(shape) - 1) :]
    return Spec([draw.floats(shape, dtype), draw.floats(slope, dtype)], {}, (1,))


@makes("Clip")
def clip(draw, v):
    """Draw optional limits: attributes before opset 11, then inputs."""
    dtype = v.dtype(draw)
    shape, low, high = draw.shape(0, 5, 4), draw.chance(0.7), draw.chance(0.7)
    if dtype.kind == "f":
        x, ends = draw.floats(shape, dtype, 2.0), sorted(draw.floats((2,), np.float64).tolist())
    else:
        x, ends = draw.ints(shape, dtype, 0, 99), [20, 70]
    if v.since < 11:
        pairs = zip(("min", "max"), ends, (low, high), strict=True)
        return Spec([x], {name: float(e) for name, e, is_there in pairs if is_there})
    limits = [
        np.array(e, dtype) if is_there else None
        for e, is_there in zip(ends, (low, high), strict=False)
    ]
    trimmed(limits)
    fixed = [i + 1 for i, e in enumerate(limits) if e is not None] if draw.chance() else ()
    return Spec([x, *limits], {}, fixed)


@makes("Where")
def where(draw, v):
    """Draw three shapes that broadcast."""
    a, b, c = broadcast_shapes(draw, 3)
    dtype = v.dtype(draw, 1)
    sides = [draw.ints(s, np.int64, 0, 99).astype(dtype) for s in (b, c)]
    return Spec([draw.rng.integers(0, 2, a).astype(bool), *sides])


@makes("Cast", "CastLike")
def cast(draw, v):
    """Draw values that both dtypes can represent."""
    source, to = v.dtype(draw), v.dtype(draw)
    x = draw.ints(draw.shape(0, 4, 4), np.int64, 0, 100).astype(source)
    if source.kind == "f" and draw.chance():
        x = (x / 8).astype(source)
    if v.operator == "CastLike":
        return Spec([x, np.ones(draw.shape(1, 2, 3), to)])
    from onnx import helper

    return Spec([x], {"to": helper.np_dtype_to_tensor_dtype(to)})


@makes("Dropout")
def dropout(draw, v):
    """Make models for inference; the ratio is an attribute before opset 12."""
    x = draw.floats(draw.shape(1, 4, 4), v.dtype(draw))
    with_mask = (True, True) if draw.chance(0.4) else (True,)
    if v.since < 12:
        return Spec([x], {"ratio": 0.4} if draw.chance() else {}, outputs=with_mask)
    more = [[], [np.array(0.3, np.float32)], [None, np.array(False)]][draw.size(0, 2)]
    return Spec([x, *more], {}, [2] if len(more) == 2 else (), with_mask)
