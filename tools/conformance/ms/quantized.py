"""Operators on quantized numbers with scales and zero points that are inputs."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from .making import Spec, makes, trimmed

_BYTES = (np.uint8, np.int8)
_MORE = (*_BYTES, np.uint16, np.int16, ml_dtypes.uint4, ml_dtypes.int4)


def _zero(draw, dtype, shape=()):
    return draw.ints(shape, dtype)


@makes("QuantizeLinear", "DequantizeLinear")
def linears(draw, operator):
    """Quantize by tensor and by axis."""
    quantizes = operator == "QuantizeLinear"
    for c in draw.each(
        32,
        dtype=_MORE if quantizes else (*_MORE, np.int32),
        axis=[None, None, 0, 1, -1],
        zero=[True, True, False],
        fixed=[True, True, False],
        rank=[1, 2, 3, 4],
    ):
        shape = [draw.size(1, 6) for _ in range(c.rank)]
        axis = c.axis if c.axis is not None and -c.rank <= c.axis < c.rank else None
        many = () if axis is None else (shape[axis],)
        scale = draw.scales(many)
        x = draw.floats(shape) if quantizes else draw.ints(shape, c.dtype)
        inputs = [x, scale]
        if c.zero:
            is_wide = c.dtype is np.int32
            inputs.append(np.zeros(many, c.dtype) if is_wide else _zero(draw, c.dtype, many))
        attributes = {} if axis is None else {"axis": axis}
        is_odd = quantizes and c.dtype in (ml_dtypes.uint4, ml_dtypes.int4)
        constants = range(1, len(inputs)) if c.fixed else ()
        odd = {0: c.dtype} if is_odd and c.zero else {}
        yield Spec(inputs, attributes, constants, odd=odd)


def _of(draw, dtype, low=0.005, high=0.05):
    return [draw.scales((), low, high), draw.ints((), dtype)]


def _constants(inputs, variable):
    return [i for i, x in enumerate(inputs) if x is not None and i not in variable]


@makes("QLinearAdd", "QLinearMul")
def binaries(draw, operator):
    """Draw two tensors that broadcast."""
    for c in draw.each(
        28,
        dtype=_BYTES,
        shapes=["same", "row", "column", "scalar", "both"],
        zeros=[True, True, True, False],
        second=["variable", "constant"],
        fixed=[True, True, True, False],
    ):
        shape = (draw.size(1, 3), draw.size(1, 5), draw.size(2, 20))
        of_a, of_b = {
            "row": (shape, shape[-1:]),
            "column": (shape, (*shape[:2], 1)),
            "scalar": ((), shape),
            "both": ((shape[0], 1, shape[2]), (shape[1], 1)),
        }.get(c.shapes, (shape, shape))
        a, b = draw.ints(of_a, c.dtype), draw.ints(of_b, c.dtype)
        high = 0.1 if operator == "QLinearAdd" else 0.02
        out = _of(draw, c.dtype, high / 4, high)
        inputs = [a, *_of(draw, c.dtype), b, *_of(draw, c.dtype), *out]
        if not c.zeros:
            inputs[2] = inputs[5] = None
            inputs = inputs[:7]
        variable = (0,) if c.second == "constant" else (0, 3)
        fixed = _constants(inputs, variable) if c.fixed else ()
        yield Spec(inputs, {}, fixed, is_rounded=True)


@makes("QLinearSigmoid", "QLinearLeakyRelu")
def unaries(draw, operator):
    """Vary the optional zero points."""
    leaky = operator == "QLinearLeakyRelu"
    for c in draw.each(
        32,
        dtype=_BYTES,
        alpha=[None, 0.1, 0.3, 1.5] if leaky else [None],
        zeros=[True, True, True, False],  # without them onnxruntime ends, if these are constants
        fixed=[True, True, True, False],
    ):
        x = draw.ints(draw.shape(most=9), c.dtype)
        out = _of(draw, c.dtype) if leaky else [np.float32(1 / 256), np.iinfo(c.dtype).min]
        out = [np.asarray(out[0]), np.asarray(out[1], c.dtype)]
        inputs = [x, *_of(draw, c.dtype), *out]
        if not c.zeros:
            inputs[2] = None
            inputs.pop()
        fixed = _constants(inputs, (0,)) if c.fixed else ()
        yield Spec(inputs, c.attributes("alpha"), fixed, is_rounded=True)


@makes("QLinearSoftmax")
def softmaxes(draw):
    """Vary the opset: the meaning of `axis` changed in 13."""
    for c in draw.each(
        28,
        dtype=_BYTES,
        opset=[11, 12, 13],
        axis=[None, -1, 0, 1],
        zero=[True, True, False],
        fixed=[True, True, True, False],
        rank=[2, 3, 4],
    ):
        # along an axis of one, onnxruntime overflows
        shape = [draw.size(2, 9) for _ in range(c.rank)]
        out = [draw.scales((), 1 / 256, 1 / 200), np.array(np.iinfo(c.dtype).min, c.dtype)]
        inputs = [draw.ints(shape, c.dtype), *_of(draw, c.dtype), *out]
        if not c.zero:
            inputs[2] = None
        fixed = _constants(inputs, (0,)) if c.fixed else ()
        yield Spec(inputs, c.attributes("opset", "axis"), fixed, is_rounded=True)


@makes("QLinearConcat")
def concats(draw):
    """Draw parts with their own scales."""
    for c in draw.each(
        24,
        dtype=_BYTES,
        parts=[1, 2, 3, 5],
        axis=[0, 1, -1],
        same=[True, False],
        constant=[False, False, True],
    ):
        shape = [draw.size(1, 5) for _ in range(draw.size(2, 4))]
        out = _of(draw, c.dtype, 0.02, 0.1)
        inputs = list(out)
        for i in range(c.parts):
            part = list(shape)
            part[c.axis] = draw.size(1, 6)
            of_part = out if c.same and not i else _of(draw, c.dtype)
            inputs += [draw.ints(part, c.dtype), *of_part]
        variable = range(2, len(inputs), 3)
        variable = list(variable)[: -1 if c.constant and c.parts > 1 else None]
        yield Spec(inputs, {"axis": c.axis}, _constants(inputs, variable), is_rounded=True)


@makes("QLinearAveragePool")
def average_pools(draw):
    """Vary the windows."""
    for c in draw.each(
        32,
        dtype=_BYTES,
        dims=[1, 2, 2, 2, 3],
        count_include_pad=[None, 0, 1],
        ceil_mode=[None, 0, 1],
        auto_pad=[None, None, None, "SAME_UPPER", "SAME_LOWER", "VALID"],
        channels_last=[None, None, 0, 1],
        stride=[None, 1, 2],
        zeros=[True, True, False],
    ):
        kernel = [draw.size(1, 3) for _ in range(c.dims)]
        sizes = [draw.size(4, 8) for _ in range(c.dims)]
        n, channels = draw.size(1, 2), draw.size(1, 4)
        shape = (n, *sizes, channels) if c.channels_last else (n, channels, *sizes)
        names = ("count_include_pad", "ceil_mode", "auto_pad", "channels_last")
        attributes = {"kernel_shape": kernel, **c.attributes(*names)}
        if c.stride:
            attributes["strides"] = [c.stride] * c.dims
        if c.auto_pad is None:
            attributes["pads"] = [draw.size(0, k - 1) for k in kernel * 2]
        inputs = [draw.ints(shape, c.dtype), *_of(draw, c.dtype), *_of(draw, c.dtype)]
        if not c.zeros:
            inputs[2] = None
            inputs.pop()
        yield Spec(inputs, attributes, _constants(inputs, (0,)), is_rounded=True)


@makes("QLinearGlobalAveragePool")
def global_pools(draw):
    """Vary channels first and last."""
    for c in draw.each(
        24,
        dtype=_BYTES,
        dims=[1, 2, 2, 3],
        channels_last=[None, 0, 1],
        fixed=[True, True, True, False],
    ):
        sizes = [draw.size(1, 8) for _ in range(c.dims)]
        n, channels = draw.size(1, 2), draw.size(1, 9)
        shape = (n, *sizes, channels) if c.channels_last else (n, channels, *sizes)
        inputs = [draw.ints(shape, c.dtype), *_of(draw, c.dtype), *_of(draw, c.dtype)]
        fixed = _constants(inputs, (0,)) if c.fixed else ()
        yield Spec(inputs, c.attributes("channels_last"), fixed, is_rounded=True)


@makes("QLinearConv")
def convs(draw):
    """Vary the layout, groups, scales by channel, pads and strides."""
    for c in draw.each(
        28,
        dtypes=[(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)],
        dims=[1, 2, 2, 3],
        channels_last=[None, 0, 1],
        group=[None, 1, 2],
        by_channel=[True, False],
        bias=[True, False],
        auto_pad=[None, None, "SAME_UPPER", "SAME_LOWER", "VALID"],
        stride=[None, 1, 2],
    ):
        group, (dtype, of_w) = c.group or 1, c.dtypes
        kernel = [draw.size(1, 3) for _ in range(c.dims)]
        sizes = [draw.size(4, 7) for _ in range(c.dims)]
        n = draw.size(1, 2)
        shape = (n, *sizes, 2 * group) if c.channels_last else (n, 2 * group, *sizes)
        w = draw.ints((2 * group, 2, *kernel), of_w)
        attributes = c.attributes("channels_last", "group", "auto_pad")
        attributes["kernel_shape"] = kernel
        if c.stride:
            attributes["strides"] = [c.stride] * c.dims
        if c.auto_pad is None:
            attributes["pads"] = [draw.size(0, 1) for _ in range(2 * c.dims)]
        w_scale = draw.scales((len(w),) if c.by_channel else ())
        w_zero = np.full(w_scale.shape, 0 if of_w is np.int8 else 120, of_w)
        of_y = [draw.scales((), 0.5, 2.0), draw.ints((), dtype)]
        inputs = [draw.ints(shape, dtype), *_of(draw, dtype), w, w_scale, w_zero, *of_y]
        if c.bias:
            inputs.append(draw.ints((len(w),), np.int32, -9000, 9000))
        yield Spec(inputs, attributes, _constants(inputs, (0,)), is_rounded=True)


@makes("QGemm")
def gemms(draw):
    """Vary quantized and float outputs."""
    for c in draw.each(
        32,
        dtypes=[(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)],
        transA=[None, 0, 1],
        transB=[None, 0, 1],
        alpha=[None, 0.5, 1.5],
        by_column=[True, False],
        c=["row", "full", "column", "none"],
        out=["bytes", "bytes", "floats"],
        fixed=["all", "all", "b", "none"],
    ):
        m, k, n = draw.size(1, 5), draw.size(1, 12), draw.size(1, 7)
        of_a, of_b = c.dtypes
        a = draw.ints((k, m) if c.transA else (m, k), of_a)
        b = draw.ints((n, k) if c.transB else (k, n), of_b)
        many = (n,) if c.by_column else ()
        shape = {"row": (n,), "full": (m, n), "column": (m, 1)}.get(c.c)
        bias = None if shape is None else draw.ints(shape, np.int32, -9000, 9000)
        b_zero = draw.ints(many, of_b)
        inputs = [a, *_of(draw, of_a), b, draw.scales(many), b_zero, bias]
        if c.out == "bytes":
            inputs += [draw.scales((), 0.05, 0.3), draw.ints((), of_a)]
        trimmed(inputs)
        variable = {"all": (0,), "b": [i for i in range(9) if i not in (3, 4, 5)]}
        fixed = _constants(inputs, variable.get(c.fixed, range(9)))
        yield Spec(inputs, c.attributes("transA", "transB", "alpha"), fixed, is_rounded=True)


@makes("DynamicQuantizeMatMul")
def dynamic_matmuls(draw):
    """Draw floats that the operator quantizes."""
    for c in draw.each(
        28,
        dtype=_BYTES,
        batch=[(), (2,), (2, 3)],
        by_column=[True, False],
        zero=[True, True, False],
        bias=[True, False],
        fixed=[True, False],
    ):
        k, n = draw.size(1, 9), draw.size(1, 6)
        a, b = draw.floats((*c.batch, draw.size(1, 4), k)), draw.ints((k, n), c.dtype)
        many = (n,) if c.by_column else ()
        zero = draw.ints(many, c.dtype) if c.zero else None
        inputs = [a, b, draw.scales(many), zero]
        if c.bias:
            inputs.append(draw.floats((n,)))
        yield Spec(inputs, {}, _constants(inputs, (0,)) if c.fixed else ())


@makes("MatMulIntegerToFloat")
def integer_matmuls(draw):
    """Draw integers whose product is a float."""
    for c in draw.each(
        28,
        dtypes=[(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)],
        batch=[(), (2,), (2, 3)],
        by_column=[True, False],
        zeros=["both", "a", "b", "none"],
        bias=[True, False],
        fixed=[True, False],
    ):
        k, n = draw.size(1, 9), draw.size(1, 6)
        of_a, of_b = c.dtypes
        a, b = draw.ints((*c.batch, draw.size(1, 4), k), of_a), draw.ints((k, n), of_b)
        many = (n,) if c.by_column else ()
        a_zero = draw.ints((), of_a) if c.zeros in ("both", "a") else None
        b_zero = draw.ints(many, of_b) if c.zeros in ("both", "b") else None
        inputs = [a, b, draw.scales(()), draw.scales(many), a_zero, b_zero]
        if c.bias:
            inputs.append(draw.floats((n,)))
        variable = () if not c.fixed else _constants(inputs, (0, 2, 4))
        yield Spec(inputs, {}, variable)


@makes("DynamicQuantizeLSTM")
def lstms(draw):
    """Vary the direction and the optional inputs."""
    activations = [None, None, ["Relu", "Tanh", "Elu"], ["Sigmoid", "Softsign", "HardSigmoid"]]
    for c in draw.each(
        28,
        dtype=_BYTES,
        direction=[None, "forward", "reverse", "bidirectional"],
        activations=activations,
        clip=[None, None, 0.5],
        input_forget=[None, None, 1],
        by_channel=[True, False],
        bias=[True, False],
        lengths=[True, False, False],
        state=[True, False],
        peepholes=[True, False],
        y=[True, True, False],
    ):
        directions = 2 if c.direction == "bidirectional" else 1
        seq, batch, size, hidden = (draw.size(1, n) for n in (5, 2, 4, 5))
        many = (directions, 4 * hidden) if c.by_channel else (directions,)
        zero = np.full(many, 0 if c.dtype is np.int8 else 121, c.dtype)
        state = (directions, batch, hidden)
        inputs = [
            draw.floats((seq, batch, size)),
            draw.ints((directions, size, 4 * hidden), c.dtype),
            draw.ints((directions, hidden, 4 * hidden), c.dtype),
            draw.floats((directions, 8 * hidden)) if c.bias else None,
            draw.ints((batch,), np.int32, 1, seq) if c.lengths else None,
            draw.floats(state) if c.state else None,
            draw.floats(state) if c.state else None,
            draw.floats((directions, 3 * hidden)) if c.peepholes else None,
            *(draw.scales(many, 0.001, 0.01), zero),
            *(draw.scales(many, 0.001, 0.01), zero),
        ]
        attributes = c.attributes("direction", "clip", "input_forget")
        attributes["hidden_size"] = hidden
        if c.activations:
            attributes["activations"] = c.activations * directions
        fixed = _constants(inputs, (0, 4, 5, 6))
        # An element of h may round the other way: an error of range / 255, times a weight
        yield Spec(inputs, attributes, fixed, (c.y, True, True), rtol=1e-4, atol=2e-5)


@makes("MatMulNBits")
def nbits(draw):
    """Draw weights of 2, 4 and 8 bits."""
    for c in draw.each(
        32,
        bits=[2, 4, 4, 8],
        block_size=[16, 32, 64],
        dtype=[np.float32, np.float32, np.float16],
        zero=["packed", "floats", "none"],
        bias=[True, False],
        accuracy_level=[None, 0, 1],
        batch=[(), (2,), (2, 2)],
    ):
        k, n, m = draw.size(1, 70), draw.size(1, 6), draw.size(1, 3)
        blocks = -(-k // c.block_size)
        b = draw.ints((n, blocks, c.block_size * c.bits // 8), np.uint8)
        scale = draw.scales((n, blocks), dtype=c.dtype)
        zero = None
        if c.zero == "packed":
            zero = draw.ints((n, -(-blocks * c.bits // 8)), np.uint8)
        elif c.zero == "floats":
            zero = draw.scales((n, blocks), 0, 2**c.bits - 1, c.dtype)
        inputs = [draw.floats((*c.batch, m, k), c.dtype), b, scale, zero]
        if c.bias:
            inputs += [None, draw.floats((n,), c.dtype)]
        trimmed(inputs)
        attributes = {"K": k, "N": n, **c.attributes("bits", "block_size", "accuracy_level")}
        yield Spec(inputs, attributes, _constants(inputs, (0,)))
