"""Random models of one layer each, of the kinds that two cores share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx

from tests.host.converter.rewrites.qdq_net import S8, U8, Net

_S16 = np.int16
_OF_ONE = ("Relu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "LeakyRelu", "Elu", "Clip")
_OF_ONE += ("Exp", "Sqrt", "Abs", "Neg")
_OF_TWO = ("Add", "Sub", "Mul", "Div", "Max")


class Draw:
    """Random numbers from a seed."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def choice(self, *options):
        return options[self.rng.integers(len(options))]

    def integer(self, low: int, high: int) -> int:
        """Return an integer from low to high, both included."""
        return int(self.rng.integers(low, high, endpoint=True))

    def integers(self, low: int, high: int, n: int) -> list[int]:
        return [self.integer(low, high) for _ in range(n)]


def _grid(d: Draw, dtype) -> tuple:
    """Return (scale, zero point)."""
    info = np.iinfo(dtype)
    middle = (int(info.max) + int(info.min) + 1) // 2
    return np.float32(d.rng.uniform(0.01, 0.05)), np.asarray(middle + d.integer(-9, 9), dtype)


def _windows(d: Draw, plane: list[int], most: int = 5) -> tuple[list[int], dict]:
    """Return (kernel, attributes) of a window that fits into the plane."""
    kernel = [min(d.integer(1, most), n) for n in plane]
    pads = [d.integer(0, min(k - 1, 3)) for k in kernel * 2]
    return kernel, {"strides": d.integers(1, 3, len(plane)), "pads": pads}


def _plane(d: Draw) -> list[int]:
    return d.choice([d.integer(30, 200)], d.integers(8, 24, 2), d.integers(5, 16, 2))


def _qlinear_conv(d: Draw, c: int, m: int, group: int) -> Net:
    dtype, w_dtype = d.choice(U8, S8), d.choice(U8, S8, S8)
    plane, net = _plane(d), Net(13, d.integer(0, 9999))
    kernel, attrs = _windows(d, plane)
    if d.choice(0, 0, 0, 1):
        fits = [2 if 2 * k <= n else 1 for k, n in zip(kernel, plane, strict=True)]
        attrs["dilations"] = fits
    info = np.iinfo(w_dtype)
    w = d.rng.integers(info.min, info.max, (m, c // group, *kernel), endpoint=True)
    k = c // group * int(np.prod(kernel))
    (x_scale, x_zero), (_, y_zero) = _grid(d, dtype), _grid(d, dtype)
    w_zero = 0 if w_dtype == S8 else 128
    inputs = [net.constant(x_scale), net.constant(x_zero, dtype), net.constant(w, w_dtype)]
    inputs += [net.constant(0.01), net.constant(w_zero, w_dtype)]
    inputs += [net.constant(x_scale * 0.5 * np.sqrt(k)), net.constant(y_zero, dtype)]
    if d.choice(0, 1):
        inputs.append(net.constant(d.rng.integers(-999, 999, m), np.int32))
    x = net.input([d.choice(1, 1, 1, 2), c, *plane], dtype)
    net.op("QLinearConv", x, *inputs, group=group, **attrs)
    return net


def conv(d: Draw) -> Net:
    group = d.choice(1, 1, 1, 2)
    return _qlinear_conv(d, group * d.integer(1, 5), group * d.integer(1, 8), group)


def depthwise(d: Draw) -> Net:
    c = d.integer(4, 20)
    return _qlinear_conv(d, c, c * d.choice(1, 1, 2), c)


def wide_conv(d: Draw) -> Net:
    net, plane, c, m = Net(21, d.integer(0, 9999)), _plane(d), d.integer(1, 4), d.integer(1, 6)
    kernel, attrs = _windows(d, plane, 3)
    x = net.dq(net.input([1, c, *plane], _S16), 3e-4, 0, _S16)
    scales = d.rng.uniform(0.005, 0.01, m).astype(np.float32)
    y = net.op("Conv", x, net.weights((m, c, *kernel), scales, axis=0), **attrs)
    net.q(y, np.float32(1e-4 * np.sqrt(c * np.prod(kernel))), 0, _S16)
    return net


def gemm(d: Draw) -> Net:
    net, dtype = Net(13, d.integer(0, 9999)), d.choice(U8, S8)
    m, k, n = d.choice(1, d.integer(2, 30)), d.integer(20, 250), d.integer(4, 60)
    (x_scale, x_zero), (_, y_zero) = _grid(d, dtype), _grid(d, dtype)
    w = net.constant(d.rng.integers(-127, 127, (k, n)), S8)
    x = [net.input([m, k], dtype), net.constant(x_scale), net.constant(x_zero, dtype)]
    y = [net.constant(x_scale * 0.5 * np.sqrt(k)), net.constant(y_zero, dtype)]
    net.op("QLinearMatMul", *x, w, net.constant(0.01), net.constant(0, S8), *y)
    return net


def pool(d: Draw) -> Net:
    net, plane = Net(13, d.integer(0, 9999)), _plane(d)
    kernel, attrs = _windows(d, plane)
    dtype = d.choice(U8, S8)
    x = net.input([d.choice(1, 1, 2), d.integer(4, 20), *plane], dtype)
    if d.choice(0, 1):
        net.op("MaxPool", x, kernel_shape=kernel, **attrs)
    else:
        scale, zero = _grid(d, dtype)
        real = net.dq(x, scale, zero, dtype)
        y = net.op("AveragePool", real, kernel_shape=kernel, **attrs)
        net.q(y, *d.choice((scale, zero), _grid(d, dtype)), dtype)
    return net


def elementwise(d: Draw) -> Net:
    net, dtype = Net(13, d.integer(0, 9999)), d.choice(U8, S8)
    shape = [d.integer(1, 3), d.integer(20, 60), d.integer(20, 60)]
    x = net.dq(net.input(shape, dtype), *_grid(d, dtype), dtype)
    op = d.choice("Add", "Mul", "Sigmoid", "Relu")
    if op in ("Add", "Mul"):
        y = net.op(op, x, net.dq(net.input(shape, dtype), *_grid(d, dtype), dtype))
    else:
        y = net.op(op, x)
    net.q(y, *_grid(d, dtype), dtype)
    return net


def conv_transpose(d: Draw) -> Net:
    net, dtype = Net(13, d.integer(0, 9999)), d.choice(U8, S8)
    group = d.choice(1, 1, 2)
    c, m, plane = group * d.integer(1, 5), group * d.integer(1, 6), d.integers(4, 12, 2)
    kernel, strides = d.integers(1, 4, 2), d.integers(1, 3, 2)
    pads = [d.integer(0, min(k - 1, 2)) for k in kernel * 2]
    x = net.dq(net.input([1, c, *plane], dtype), *_grid(d, dtype), dtype)
    w = net.weights((c, m // group, *kernel), np.float32(0.01))
    y = net.op("ConvTranspose", x, w, group=group, strides=strides, pads=pads)
    net.q(y, *_grid(d, dtype), dtype)
    return net


def resize(d: Draw) -> Net:
    """Return a Resize of bytes or floats, by nearest or linear interpolation."""
    net, dtype, plane = Net(13, d.integer(0, 9999)), d.choice(S8, np.float32), d.integers(5, 16, 2)
    x = net.input([1, d.integer(2, 6), *plane], dtype)
    scales = net.constant([1, 1, *(d.choice(0.5, 1.5, 2, 3) for _ in plane)])
    how = {"mode": "nearest", "nearest_mode": d.choice("floor", "round_prefer_floor")}
    if dtype == np.float32 and d.choice(0, 1):
        how = {"mode": "linear"}
    how["coordinate_transformation_mode"] = d.choice("half_pixel", "asymmetric")
    net.op("Resize", x, "", scales, **how)
    return net


def floats(d: Draw) -> Net:
    """Return an element-wise operator, also of two inputs, one of which may be broadcast."""
    net, shape = Net(17, d.integer(0, 9999)), [d.integer(1, 3), *d.integers(10, 30, 2)]
    x = net.input(shape, np.float32)
    op = d.choice(d.choice(*_OF_ONE), d.choice(*_OF_TWO))
    if op in _OF_TWO:
        other = d.choice(shape, [1, *shape[1:]], [shape[0], 1, shape[2]], shape[2:])
        net.op(op, x, net.input(other, np.float32))
    elif op == "Clip":
        net.op(op, x, net.constant(-0.5), net.constant(1.5))
    else:
        net.op(op, x)
    return net


def moves(d: Draw) -> Net:
    """Return an operator that moves elements."""
    dtype = d.choice(S8, np.float32, np.int64)
    net, shape = Net(17, d.integer(0, 9999)), d.integers(6, 16, 3)
    x = net.input(shape, dtype)
    op = d.choice("Transpose", "Slice", "Pad", "Tile", "Concat", "Expand")
    if op == "Transpose":
        net.op(op, x, perm=d.choice([0, 2, 1], [1, 0, 2], [2, 1, 0], [2, 0, 1], [1, 2, 0]))
    elif op == "Slice":
        bounds = [d.integers(0, 2, 3), d.integers(4, 6, 3), [0, 1, 2], d.integers(1, 2, 3)]
        net.op(op, x, *(net.constant(b, np.int64) for b in bounds))
    elif op == "Pad":
        pads = net.constant(d.integers(0, 3, 6), np.int64)
        net.op(op, x, pads, net.constant(3, dtype), mode=d.choice("constant", "edge", "reflect"))
    elif op == "Tile":
        net.op(op, x, net.constant(d.integers(1, 3, 3), np.int64))
    elif op == "Concat":
        net.op(op, x, net.input(shape, dtype), x, axis=d.integer(0, 2))
    else:
        net.op(op, x, net.constant([d.integer(2, 4), *shape], np.int64))
    return net


def steps(d: Draw) -> Net:
    """Return a conversion from floats to integers or back."""
    net, dtype = Net(13, d.integer(0, 9999)), d.choice(U8, S8)
    shape = [d.integer(2, 8), d.integer(60, 200)]
    if d.choice(0, 1):
        net.q(net.input(shape, np.float32), *_grid(d, dtype), dtype)
    else:
        net.dq(net.input(shape, dtype), *_grid(d, dtype), dtype)
    return net


KINDS: dict[str, Callable[[Draw], Net]] = {
    f.__name__: f for f in (conv, depthwise, wide_conv, gemm, pool, elementwise)
}


# Fewer of these can be cut.
MORE_KINDS: dict[str, Callable[[Draw], Net]] = {
    f.__name__: f for f in (conv_transpose, resize, floats, moves, steps)
}


def layer(kind: str, seed: int) -> tuple[onnx.ModelProto, list[np.ndarray]]:
    """Return a model of one layer of this kind, and random inputs for it."""
    net = (KINDS | MORE_KINDS)[kind](Draw(seed))
    model = net.model(net.nodes[-1].output[0])
    return model, net.values()
