"""Describe what changed from one version of an operator to the next, for docs/operators.md.

Dtypes, attributes and inputs follow from ONNX's schemas; `CHANGES` has other changes, from ONNX's
changelog.
"""

from __future__ import annotations

import re

from onnx import defs

from .making import Version

_ROWS = "of all axes from `axis` on: one row each"
_NEGATIVE = "negative axes"
CHANGES = {
    "Add Div Mul Sub": {7: "broadcasts as numpy does"},
    "And Equal Greater Less Or PRelu Pow Xor": {7: "broadcasts as numpy does"},
    "ArgMax ArgMin": {11: _NEGATIVE, 12: "the last of equals, if `select_last_index`"},
    "AveragePool": {
        7: "padding counts if `count_include_pad`",
        10: "`ceil_mode`",
        11: "pads of `auto_pad` defined; default strides",
        19: "`dilations`",
        22: "no window begins in the padding at the end",
    },
    "BatchNormalization": {
        7: "no training",
        9: "no `spatial`: statistics of channels alone",
        14: "training, by `training_mode`",
        15: "scale and bias, mean and variance may have dtypes of their own",
    },
    "Cast": {9: "strings", 19: "float8; `saturate`", 24: "float8e8m0; `round_mode`"},
    "Clip": {6: "limits are attributes", 11: "limits are inputs, each optional"},
    "Compress Concat Flatten": {11: _NEGATIVE},
    "Concat": {4: "no default axis"},
    "Constant": {11: "sparse values", 12: "numbers, strings and lists of them"},
    "Conv ConvTranspose": {11: "default strides and dilations"},
    "CumSum": {14: "float16"},
    "DFT": {20: "`axis` is an input, by default the last but one"},
    "DepthToSpace": {11: "`mode`: order of columns and rows"},
    "DequantizeLinear QuantizeLinear": {
        13: "a scale for each index of `axis`",
        19: "float8; scales of float16",
        21: "blocks of `block_size`; 16 and 4 bits",
        23: "float4; `output_dtype` or `precision`",
    },
    "Dropout": {7: "no training", 12: "ratio and training_mode are inputs"},
    "Equal": {19: "strings"},
    "GRU LSTM RNN": {14: "`layout`: batches first"},
    "Gather": {11: "negative axes and indices"},
    "GatherND": {12: "`batch_dims`"},
    "Gemm": {7: "C broadcasts one way", 9: "integers", 11: "C is optional"},
    "GridSample": {20: "volumes; the modes linear and cubic, not bilinear and bicubic"},
    "GroupNormalization": {21: "scale and bias by channel, not by group; `stash_type`"},
    "Hardmax LogSoftmax Softmax": {
        1: _ROWS,
        11: _NEGATIVE,
        13: "along `axis` alone, by default -1",
    },
    "LpPool": {11: "default strides", 18: "`ceil_mode`, `dilations`", 22: "as AveragePool-22"},
    "Max Mean Min Sum": {8: "broadcast"},
    "MaxPool": {
        8: "indices as second output; `storage_order`",
        10: "`ceil_mode`, `dilations`",
        11: "pads of `auto_pad` defined; default strides",
        12: "int8, uint8",
        22: "no window begins in the padding at the end",
    },
    "MaxUnpool": {11: "default strides"},
    "NonMaxSuppression": {11: "output for equal scores defined"},
    "OneHot": {11: "negative indices and axes; else nothing is hot"},
    "PRelu": {9: "slopes broadcast one way"},
    "Pad": {
        2: "pads and value are attributes",
        11: "pads and value are inputs",
        18: "`axes`, an input",
        19: "mode wrap",
    },
    "Pow": {12: "exponents of another dtype"},
    """ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd
    ReduceSumSquare""": {11: _NEGATIVE, 18: "`axes` is an input; `noop_with_empty_axes`"},
    "ReduceMax ReduceMin": {20: "bool"},
    "ReduceSum": {11: _NEGATIVE, 13: "`axes` is an input; `noop_with_empty_axes`"},
    "Reshape": {5: "the shape is an input", 14: "`allowzero`"},
    "Resize": {
        10: "scales is an input; asymmetric",
        11: "roi, sizes, coordinate_transformation_mode, cubic",
        13: "roi and scales optional",
        18: "`axes`, `antialias`, `keep_aspect_ratio_policy`",
        19: "half_pixel_symmetric",
    },
    "RoiAlign": {16: "`coordinate_transformation_mode`, half_pixel by default"},
    "Scan": {9: "no batch dim, no lengths; axes by attributes", 11: _NEGATIVE},
    "Scatter": {11: "deprecated: ScatterElements"},
    "ScatterElements ScatterND": {16: "`reduction`: add, mul", 18: "`reduction`: max, min"},
    "Shape": {15: "`start`, `end`"},
    "Slice": {10: "starts, ends, axes, steps are inputs", 11: "negative axes and steps defined"},
    "Split": {
        2: "sizes are an attribute",
        11: _NEGATIVE,
        13: "sizes are an input",
        18: "`num_outputs`; the last part may be smaller",
    },
    "Squeeze Unsqueeze": {11: _NEGATIVE, 13: "`axes` is an input"},
    "TopK": {10: "k is an input", 11: "`largest`, `sorted`; negative axes"},
    "Upsample": {7: "scales is an attribute", 9: "scales is an input", 10: "deprecated: Resize"},
    "LabelEncoder": {
        2: "keys and values of strings, integers, floats",
        4: "keys and values as tensors",
    },
    "TreeEnsembleClassifier TreeEnsembleRegressor": {
        3: "numbers as tensors, for doubles",
        5: "deprecated: TreeEnsemble",
    },
}
_SHORT = {"float": "float32", "double": "float64", "float8e8m0": "float8e8m0"}


def changed(versions: list[Version]) -> str:
    """Return the changes of all versions of an operator but the first, as "9: …; 14: …"."""
    texts = []
    for before, version in zip([None, *versions], versions, strict=False):
        change = _written(version) or (before and _by_schema(before.schema, version.schema))
        if change:
            texts.append(f"{version.since}: {change}")
    return "; ".join(texts)


def _written(version):
    texts = (
        text[version.since]
        for names, text in CHANGES.items()
        if version.operator in names.split() and version.since in text
    )
    return "; ".join(texts)


def _by_schema(before: defs.OpSchema, after: defs.OpSchema) -> str:
    """Return the differences between two schemas."""
    texts = []
    for word, old, new in (("", before, after), ("without ", after, before)):
        added = [f"`{a}`" for a in sorted(new.attributes) if a not in old.attributes]
        added += sorted({i.name for i in new.inputs} - {i.name for i in old.inputs})[:3]
        texts += [word + ", ".join(added)] if added else []
        dtypes = sorted(_dtypes(new) - _dtypes(old))
        texts += [word + " ".join(dtypes)] if dtypes else []
    return "; ".join(texts) or "words, or what bodies and sequences hold"


def _dtypes(schema):
    """Return the names of the tensor dtypes of all inputs and outputs."""
    types = {t for value in (*schema.inputs, *schema.outputs) for t in value.types}
    names = {t.removeprefix("tensor(")[:-1] for t in types if t.startswith("tensor(")}
    return {_SHORT.get(n) or re.sub(r"^(float[468])e.*", r"\1", n) for n in names}
