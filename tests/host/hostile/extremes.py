"""Operators with constants and attributes at the ends of int64, by name."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx

from .case import FLOAT, INT64, model, node, value

LEAST, MOST = -(1 << 63), (1 << 63) - 1
ENDS = (LEAST, -(1 << 31) - 1, -1, 1 << 31, MOST)
_IMAGE = (1, 4, 6, 6)
_END = "the extreme"  # stands for it
_W = np.ones((2, 2, 2), np.float32)
_HERTZ = {"l": np.float32(0), "h": np.float32(4000)}
_ONE, _PAIR = np.ones(1, np.float32), np.array([0, 1], np.float32)
# (operator, shape of x, constants, attributes); a constant is a list of int64, a number or floats
_OF_X = [
    ("STFT", (1, 64, 1), {"s": _END, "_": None, "l": 8}, {}),
    ("STFT", (1, 64, 1), {"s": 4, "_": None, "l": _END}, {}),
    ("DFT", (1, 8, 1), {"l": _END}, {}),
    *[("Slice", (4,), dict(zip("seat", ends, strict=True)), {}) for ends in (
        ([_END], [3], [0], [1]), ([0], [_END], [0], [1]), ([0], [4], [0], [_END]),
        ([3], [0], [0], [_END]), ([_END], [_END], [0], [-1]), ([0], [_END], [0], [_END]),
        ([0], [2], [_END], [1]),
    )],
    *[("Pad", (4,), {"p": pads}, {"mode": mode}) for pads in ([_END, 0], [_END, _END])
      for mode in ("constant", "reflect", "edge", "wrap")],
    ("Tile", (4,), {"r": [_END]}, {}),
    ("Tile", (0,), {"r": [_END]}, {}),
    ("Expand", (1,), {"s": [_END]}, {}),
    ("EyeLike", (3, 3), {}, {"k": _END}),
    ("Trilu", (3, 3), {"k": _END}, {}),
    ("Resize", _IMAGE, {"_": None, "_2": None, "s": [1, 4, 6, _END]}, {}),
    ("Split", (4,), {"s": [2, _END]}, {}),
    ("Split", (4,), {}, {"num_outputs": _END}),
    ("Split", (4,), {}, {"num_outputs": 2, "axis": _END}),
    ("TopK", (4,), {"k": [_END]}, {}),
    ("Reshape", (4,), {"s": [_END]}, {}),
    ("Unsqueeze", (4,), {"s": [_END]}, {}),
    ("Squeeze", (4, 1), {"s": [_END]}, {}),
    ("Gather", (4,), {"i": [_END]}, {}),
    ("GatherElements", (4,), {"i": [_END]}, {}),
    ("GatherND", (4,), {"i": [[_END]]}, {}),
    ("GatherND", (4,), {"i": [[0]]}, {"batch_dims": _END}),
    ("ScatterND", (4,), {"i": [[_END]], "u": _ONE}, {}),
    ("ScatterElements", (4,), {"i": [_END], "u": _ONE}, {}),
    ("CumSum", (4,), {"a": _END}, {}),
    ("ReduceSum", (4,), {"a": [_END]}, {}),
    ("ReverseSequence", (2, 3), {"s": [_END, 1]}, {"batch_axis": 0, "time_axis": 1}),
    ("LRN", _IMAGE, {}, {"size": _END}),
    ("Col2Im", (1, 5, 5), {"i": [5, _END], "b": [1, 5]}, {}),
    ("Col2Im", (1, 5, 5), {"i": [5, 5], "b": [1, _END]}, {}),
    ("AffineGrid", (1, 2, 3), {"s": [1, 1, 2, _END]}, {}),
    ("CenterCropPad", (4,), {"s": [_END]}, {"axes": [0]}),
    ("SpaceToDepth", _IMAGE, {}, {"blocksize": _END}),
    ("Flatten", _IMAGE, {}, {"axis": _END}),
    ("Concat", (4,), {}, {"axis": _END}),
    ("MaxPool", (1, 2, 6), {}, {"kernel_shape": [2], "strides": [_END]}),
    ("MaxPool", (1, 2, 6), {}, {"kernel_shape": [2], "dilations": [_END]}),
    ("AveragePool", (1, 2, 6), {}, {"kernel_shape": [_END]}),
    ("AveragePool", (1, 2, 6), {}, {"kernel_shape": [2], "pads": [_END, _END]}),
    ("Conv", (1, 2, 6), {"w": _W}, {"strides": [_END]}),
    ("Conv", (1, 2, 6), {"w": _W}, {"group": _END}),
    ("ConvTranspose", (1, 2, 6), {"w": _W}, {"output_padding": [_END]}),
    ("ConvTranspose", (1, 2, 6), {"w": _W}, {"output_shape": [_END]}),
]  # fmt: skip
# Operators whose result comes of constants alone; one is added to it.
_ALONE = [
    *[("Range", dict(zip("abc", ends, strict=True))) for ends in (
        (0, _END, 1), (0, _END, -1), (_END, 0, 1), (_END, 0, -1), (0, 10, _END), (10, 0, _END),
        (0, _END, _END), (LEAST, MOST, _END), (MOST, LEAST, _END),
    )],
    ("ConstantOfShape", {"s": [_END]}),
    ("ConstantOfShape", {"s": [_END, 0]}),
    ("HannWindow", {"s": _END}),
    ("MelWeightMatrix", {"n": _END, "d": 16, "r": 8000, **_HERTZ}),
    ("MelWeightMatrix", {"n": 4, "d": _END, "r": 8000, **_HERTZ}),
    ("MelWeightMatrix", {"n": 4, "d": 16, "r": _END, **_HERTZ}),
]  # fmt: skip


def cases() -> Iterator[tuple[str, onnx.ModelProto]]:
    """Yield (name, model)."""
    for end in ENDS:
        for k, (op, shape, constants, attributes) in enumerate(_OF_X):
            yield f"{op}_{k}_{end}", _of_x(op, shape, _put(constants, end), _put(attributes, end))
        for k, (op, constants) in enumerate(_ALONE):
            yield f"{op}_{k}_{end}", _alone(op, _put(constants, end))
        yield f"OneHot_{end}", _one_hot(end)


def _put(value, end):
    if isinstance(value, dict):
        return {name: _put(v, end) for name, v in value.items()}
    if isinstance(value, list):
        return [_put(v, end) for v in value]
    return end if isinstance(value, str) and value == _END else value


def _tensors(constants):
    made = {k: v for k, v in constants.items() if v is not None}
    return {k: v if isinstance(v, (np.ndarray, np.generic)) else np.array(v, np.int64)
            for k, v in made.items()}  # fmt: skip


def _of_x(op, shape, constants, attributes):
    n_outputs = 2 if op in ("Split", "TopK") else 1
    names = " ".join(["x", *["_" if v is None else k for k, v in constants.items()]])
    outputs = [value("y", None)]
    return model(
        node(op, names, "y z" if n_outputs == 2 else "y", **attributes),
        [value("x", shape)],
        outputs,
        _tensors(constants),
        opset=21,
    )


def _alone(op, constants):
    nodes = [node(op, " ".join(constants), "r"), node("Cast", "r", "f", to=FLOAT)]
    nodes.append(node("Add", "x f", "y"))
    return model(nodes, [value("x", (1,))], [value("y", None)], _tensors(constants), opset=21)


def _one_hot(end):
    constants = {"d": np.array(end, np.int64), "v": _PAIR}
    ends = [value("x", (4,), INT64)], [value("y", None)]
    return model(node("OneHot", "x d v"), *ends, constants, opset=21)
