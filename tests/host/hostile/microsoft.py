"""Nodes of com.microsoft with attributes and inputs that their operators do not allow."""

from __future__ import annotations

import numpy as np

from .case import FLOAT, INT64, Case, Cases, model, node, value

_STRING, _INT32 = 8, 6
_BYTES = np.arange(64, dtype=np.uint8)
_TEXTS = {"mark": 0, "mincharnum": 1, "pad_value": "#", "tokenexp": "[a-z]+"}
_TABLE = {"block_size": 16, "quantize_axis": 1, "gather_axis": 0, "bits": 4}
_CROPS = {"x": (FLOAT, (1, 1, 4, 4)), "rois": (FLOAT, (1, 4)), "where": (_INT32, (1,))}
_LONG = "(" * 3000 + "a" + ")" * 3000
# operator: (inputs by name as dtype and shape, constants, attributes, {attribute: what it cannot
# be; None: it is absent})
_WRONG = {
    "Tokenizer": (
        {"x": (_STRING, (2,))},
        {},
        _TEXTS,
        {
            "tokenexp": [None, "", "(", "[z-a]", "a{2000}{2000}", "(a|b)*a(a|b){14}", _LONG, 3],
            "separators": [[" "], "x"],
            "mincharnum": [None, 0, -1, 1 << 40, "one"],
            "mark": [None, "yes", 1.0],
            "pad_value": [None, 5, ["#"]],
        },
    ),
    "MatMulBnb4": (
        {"x": (FLOAT, (2, 32))},
        {"b": _BYTES, "absmax": np.ones(8, np.float32)},
        {"N": 4, "K": 32, "block_size": 16, "quant_type": 0},
        {
            "N": [None, "4", 0, -4, 5, 1 << 40],
            "K": [None, 0, -32, 31, 1 << 40],
            "block_size": [None, 0, -16, 15, 1 << 62],
            "quant_type": [None, 2, -1],
            "transB": [0],
        },
    ),
    "GatherBlockQuantized": (
        {"i": (INT64, (3,))},
        {"data": _BYTES.reshape(4, 16), "scales": np.full((4, 2), 0.5, np.float32)},
        _TABLE,
        {
            "bits": [0, 3, 16, -4, 1 << 40],
            "block_size": [0, -16, 15, 8, 1 << 40],
            "quantize_axis": [0, 2, -3, 1 << 40],
            "gather_axis": [2, -3, 1 << 40],
        },
    ),
    "NGramRepeatBlock": (
        {"ids": (INT64, (2, 5)), "scores": (FLOAT, (2, 7))},
        {},
        {"ngram_size": 2},
        {"ngram_size": [None, 0, -1, "two"]},
    ),
    "CropAndResize": (
        _CROPS,
        {"size": np.array([2, 2], np.int32)},
        {},
        {"mode": ["cubic", 1], "extrapolation_value": ["none"]},
    ),
}
# operator: (inputs, constants, attributes), whose sizes do not fit
_SIZES = {
    "Tokenizer_rank": ({"x": (_STRING, (2, 2, 2))}, {}, _TEXTS),
    "Tokenizer_floats": ({"x": (FLOAT, (2,))}, {}, _TEXTS),
    "Inverse_rank": ({"x": (FLOAT, (3,))}, {}, {}),
    "Inverse_wide": ({"x": (FLOAT, (3, 4))}, {}, {}),
    "Inverse_empty": ({"x": (FLOAT, (0, 0))}, {}, {}),
    "Inverse_large": ({"x": (FLOAT, (1 << 20, 1 << 20))}, {}, {}),
    "CropAndResize_size": (
        _CROPS,
        {"size": np.array([2, 2, 2], np.int32)},
        {},
    ),
    "CropAndResize_negative": (
        _CROPS,
        {"size": np.array([-2, 2], np.int32)},
        {},
    ),
    "CropAndResize_huge": (
        _CROPS,
        {"size": np.array([2_000_000_000, 2_000_000_000], np.int32)},
        {},
    ),
    "CropAndResize_rank": (
        {"x": (FLOAT, (4, 4)), "rois": (FLOAT, (1, 4)), "where": (_INT32, (1,))},
        {"size": np.array([2, 2], np.int32)},
        {},
    ),
    "CropAndResize_rois": (
        {"x": (FLOAT, (1, 1, 4, 4)), "rois": (FLOAT, (2, 3)), "where": (_INT32, (1,))},
        {"size": np.array([2, 2], np.int32)},
        {},
    ),
    "ConvTransposeWithDynamicPads_pads": (
        {"x": (FLOAT, (1, 1, 4, 4))},
        {"w": np.ones((1, 1, 3, 3), np.float32), "p": np.array([1, 1, 1])},
        {"kernel_shape": [3, 3]},
    ),
    "ConvTransposeWithDynamicPads_open": (
        {"x": (FLOAT, (1, 1, 4, 4)), "w": (FLOAT, (1, 1, 3, 3)), "p": (INT64, (4,))},
        {},
        {"kernel_shape": [3, 3]},
    ),
    "NGramRepeatBlock_batch": (
        {"ids": (INT64, (3, 5)), "scores": (FLOAT, (2, 7))},
        {},
        {"ngram_size": 2},
    ),
    "MatMulBnb4_absmax": (
        {"x": (FLOAT, (2, 32))},
        {"b": _BYTES, "absmax": np.ones(7, np.float32)},
        {"N": 4, "K": 32, "block_size": 16, "quant_type": 0},
    ),
    "MatMulBnb4_rank": (
        {"x": (FLOAT, ())},
        {"b": _BYTES, "absmax": np.ones(8, np.float32)},
        {"N": 4, "K": 32, "block_size": 16, "quant_type": 0},
    ),
    "GatherBlockQuantized_scalar": (
        {"i": (INT64, (3,))},
        {"data": np.uint8(3), "scales": np.float32(1)},
        _TABLE,
    ),
    "GatherBlockQuantized_scales": (
        {"i": (INT64, (3,))},
        {"data": _BYTES.reshape(4, 16), "scales": np.ones((4, 1), np.float32)},
        _TABLE,
    ),
    "GatherBlockQuantized_rank": (
        {"i": (INT64, (3,))},
        {"data": _BYTES.reshape(4, 16), "scales": np.ones((8,), np.float32)},
        _TABLE,
    ),
    "GatherBlockQuantized_zeros": (
        {"i": (INT64, (3,))},
        {"data": _BYTES.reshape(4, 16), "scales": np.ones((4, 2), np.float32), "z": _BYTES},
        _TABLE,
    ),
}


def cases() -> Cases:
    for op, (inputs, constants, attributes, wrong) in _WRONG.items():
        for name, values in wrong.items():
            for i, bad in enumerate(values):
                attrs = {k: v for k, v in {**attributes, name: bad}.items() if v is not None}
                yield Case(f"{op}_{name}_{i}", _model(op, inputs, constants, attrs))
    for name, attrs in _SIZES.items():
        yield Case(name, _model(name.split("_")[0], *attrs))


def _model(op, inputs, constants, attributes):
    names = [*inputs, *constants]
    if op == "GatherBlockQuantized":
        names = [names[1], names[0], *names[2:]]  # indices come second
    n = node(op, " ".join(names), domain="com.microsoft", **attributes)
    dtype = _STRING if op == "Tokenizer" else FLOAT
    rank = {"Tokenizer": 2, "CropAndResize": 4, "ConvTransposeWithDynamicPads": 4}.get(op, 2)
    infos = [value(name, shape, dtype) for name, (dtype, shape) in inputs.items()]
    outputs = [value("y", [f"d{i}" for i in range(rank)], dtype)]
    return model(n, infos, outputs, constants, com_microsoft=1)
