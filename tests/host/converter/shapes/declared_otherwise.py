"""Mutations of a model's declarations: shapes, and dtypes of inner values."""

from __future__ import annotations

import random

import onnx
from onnx import TensorProto

from tools.converter.protos import bodies_of, copied, nodes_of


def mutated(model: onnx.ModelProto, seed: int) -> onnx.ModelProto:
    """Return a copy that declares wrong shapes, and wrong dtypes of inner values.

    onnxruntime ignores these shapes, but refuses wrong dtypes of inner values.
    """
    rng = random.Random(seed)
    result = _with_inner_types(model)
    for info in result.graph.output:
        _mutate(info, rng)
    inner = [result.graph.value_info]
    for body in (body for node in nodes_of(result.graph) for body in bodies_of(node)):
        inner += [body.value_info, body.output]
    for info in (info for infos in inner for info in infos):
        _mutate(info, rng)
        if rng.random() < 0.2 and info.type.HasField("tensor_type"):
            info.type.tensor_type.elem_type = rng.choice((TensorProto.INT64, TensorProto.FLOAT))
    return result


def _with_inner_types(model):
    try:
        return onnx.shape_inference.infer_shapes(model)
    except Exception:  # for some cases it raises what it likes
        return copied(model)


def _mutate(info, rng):
    """Declare another number of dims, other dims or none for a tensor."""
    if not info.type.HasField("tensor_type"):
        return
    shape = info.type.tensor_type.shape
    dims = [d.dim_value if d.HasField("dim_value") else 3 for d in shape.dim]
    kind = rng.choice(("longer", "shorter", "other", "turned", "split", "none", "untyped", "free"))
    if kind == "untyped":
        info.ClearField("type")
        return
    if kind == "none":
        info.type.tensor_type.ClearField("shape")
        return
    if kind == "longer":
        dims.insert(rng.randint(0, len(dims)), rng.choice((1, 2)))
    elif kind == "shorter" and dims:
        dims.pop(rng.randrange(len(dims)))
    elif kind == "other" and dims:
        dims[rng.randrange(len(dims))] += rng.choice((1, 5))
    elif kind == "turned":
        dims.reverse()
    elif kind == "split" and dims:
        dims = [1, *dims[:-2], dims[-1], *dims[-2:-1]]
    del shape.dim[:]
    for size in dims:
        if kind == "free":
            shape.dim.add(dim_param=f"free{rng.randrange(3)}")
        else:
            shape.dim.add(dim_value=size)
