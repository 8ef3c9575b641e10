"""Changes of an .onnx file: of its bytes, and of its graph."""

from __future__ import annotations

import random
from collections.abc import Callable

import onnx
from onnx import TensorProto

_INTS = (0, 1, -1, 2, 3, 7, 99, -(1 << 31), 1 << 31, 1 << 40, 1 << 62, -(1 << 63), (1 << 63) - 1)
_FLOATS = (0.0, -1.0, 1e-30, 1e30, float("nan"), float("inf"))
_NAMES = ("", "x", "\x1b[31m", "a\nb", "nothing", "a" * 5000)
_OPERATORS = ("Conv", "Gemm", "MatMul", "Concat", "Reshape", "Expand", "Tile", "Pad", "Slice")
_OPERATORS += ("Softmax", "TopK", "Resize", "Loop", "If", "Gather", "QuantizeLinear", "LSTM")
_OPERATORS += ("Range", "ConstantOfShape", "NonZero", "Split", "Einsum", "Nonsense")

Change = Callable[[onnx.ModelProto, random.Random], str]


def changed(data: bytes, rng: random.Random) -> tuple[bytes, list[str]]:
    """Return the file after one to four changes, and their descriptions."""
    if rng.random() < 0.25:
        return _damaged(data, rng)
    model = onnx.ModelProto.FromString(data)
    notes = []
    for _ in range(rng.randint(1, 4)):
        change = rng.choice(_CHANGES)
        try:
            notes.append(change(model, rng))
        except (IndexError, ValueError, TypeError):  # nothing there to change, or not so
            continue
    return model.SerializeToString(), notes


def _damaged(data, rng):
    result, notes = bytearray(data), []
    for _ in range(rng.randint(1, 4)):
        # The first bytes hold most of the structure, the rest weights.
        at = rng.randrange(min(len(result), rng.choice((64, 512, len(result)))))
        kind = rng.randrange(4)
        if kind == 0:
            result[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del result[at : at + rng.randint(1, 40)]
        elif kind == 2:
            result[at:at] = rng.randbytes(rng.randint(1, 40))
        else:
            result[at:at] = result[at : at + rng.randint(1, 200)]
        notes.append(f"byte {at}, kind {kind}")
        if not result:
            break
    return bytes(result), notes


def _node(model, rng):
    return rng.choice(model.graph.node)


def _operator(model, rng):
    node = _node(model, rng)
    node.op_type = rng.choice(_OPERATORS)
    return f"operator {node.op_type}"


def _attribute(model, rng):
    a = rng.choice(_node(model, rng).attribute)
    if a.ints and rng.random() < 0.8:
        a.ints[rng.randrange(len(a.ints))] = rng.choice(_INTS)
    elif a.type == onnx.AttributeProto.INT:
        a.i = rng.choice(_INTS)
    elif a.type == onnx.AttributeProto.FLOAT:
        a.f = rng.choice(_FLOATS)
    elif a.floats:
        a.floats[rng.randrange(len(a.floats))] = rng.choice(_FLOATS)
    else:
        a.type = rng.randrange(15)
    return f"attribute {a.name}"


def _attribute_away(model, rng):
    attributes = _node(model, rng).attribute
    del attributes[rng.randrange(len(attributes))]
    return "an attribute less"


def _edge(model, rng):
    node, other = _node(model, rng), _node(model, rng)
    name = rng.choice([*other.output, *other.input, *_NAMES])
    node.input[rng.randrange(len(node.input))] = name
    return f"input {name[:20]!r}"


def _result(model, rng):
    node = _node(model, rng)
    node.output[rng.randrange(len(node.output))] = rng.choice([*_NAMES, *_node(model, rng).input])
    return "another output"


def _node_away(model, rng):
    del model.graph.node[rng.randrange(len(model.graph.node))]
    return "a node less"


def _node_twice(model, rng):
    model.graph.node.append(_node(model, rng))
    return "a node twice"


def _dims(model, rng):
    t = rng.choice(model.graph.initializer)
    t.dims[rng.randrange(len(t.dims))] = rng.choice(_INTS)
    return f"dims of {t.name}"


def _data(model, rng):
    t = rng.choice(model.graph.initializer)
    if t.raw_data:
        t.raw_data = t.raw_data[: rng.randrange(len(t.raw_data) + 1)]
    return f"data of {t.name} cut"


def _contents(model, rng):
    """Replace the contents of a small constant of integers: shapes, axes, counts."""
    small = [t for t in model.graph.initializer if t.data_type == TensorProto.INT64]
    t = rng.choice(small)
    n = len(t.raw_data) // 8 or len(t.int64_data)
    values = [rng.choice(_INTS) for _ in range(n)]
    t.ClearField("raw_data")
    t.int64_data[:] = values
    return f"contents of {t.name}"


def _dtype(model, rng):
    t = rng.choice(model.graph.initializer)
    t.data_type = rng.randrange(30)
    return f"dtype of {t.name}"


def _shape(model, rng):
    info = rng.choice([*model.graph.input, *model.graph.output, *model.graph.value_info])
    dim = rng.choice(info.type.tensor_type.shape.dim)
    dim.dim_value = rng.choice(_INTS)
    return f"shape of {info.name}"


def _type(model, rng):
    info = rng.choice([*model.graph.input, *model.graph.output])
    info.type.tensor_type.elem_type = rng.randrange(30)
    return f"type of {info.name}"


def _opset(model, rng):
    o = rng.choice(model.opset_import)
    o.version = rng.choice([*range(1, 30), *_INTS])
    return f"opset {o.version}"


def _name(model, rng):
    _node(model, rng).name = rng.choice(_NAMES)
    return "a name"


_CHANGES: tuple[Change, ...] = (
    *(_operator, _attribute, _attribute, _attribute_away, _edge, _edge, _result, _node_away),
    *(_node_twice, _dims, _data, _contents, _dtype, _shape, _type, _opset, _name),
)
