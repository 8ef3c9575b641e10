"""Small files that demand gigabytes, or hours."""

from __future__ import annotations

import numpy as np
from onnx import helper

from .case import FLOAT, Case, Cases, model, node, value

_W = np.arange(4, dtype=np.float32)


def cases() -> Cases:
    yield from _doubling()
    for name, op, inputs, constants, attributes in _ONES:
        yield Case(f"bomb_{name}", _summed(node(op, inputs, "c", **attributes), constants))
    chain = [node("Expand", "w s", "a"), node("ReduceSum", "a", "b", keepdims=0)]
    many = [node("Add", "x b", "y")]
    yield Case("bomb_of_a_run", _of_a_run())
    giga = {"w": np.float32(1), "s": np.array([(1 << 28) + 4])}
    yield Case("bomb_Expand_1_gb", model(chain + many, constants=giga))
    yield Case("bomb_broadcast", _broadcast())
    yield Case("bomb_outer_products", _outer())
    yield Case(
        "bomb_Einsum",
        _summed(
            node("Einsum", "w w w w w w w w", "c", equation=_EINSUM),
            {"w": np.ones(64, np.float32)},
        ),
    )
    yield Case("bomb_in_a_body", _in_a_body())
    yield Case("bomb_in_a_function", _in_a_function())


_EINSUM = "a,b,c,d,e,f,g,h->abcdefgh"
_GIGA = np.array([1 << 30])
# name, operator, inputs, constants, attributes
_ONES = (
    ("Tile", "Tile", "w r", {"w": _W, "r": np.array([1 << 28])}, {}),
    ("Tile_huge", "Tile", "w r", {"w": _W, "r": np.array([1 << 62])}, {}),
    ("Pad", "Pad", "w p", {"w": _W, "p": np.array([1 << 32, 1 << 32])}, {}),
    ("Pad_minus", "Pad", "w p", {"w": _W, "p": np.array([-(1 << 40), 0])}, {}),
    ("Expand", "Expand", "w s", {"w": _W, "s": np.array([1 << 28, 4])}, {}),
    ("Range", "Range", "a b d", {"a": 0, "b": 1 << 40, "d": 1}, {}),
    ("Range_step_0", "Range", "a b d", {"a": 0, "b": 1, "d": 0}, {}),
    ("Range_floats", "Range", "a b d", {"a": 0.0, "b": 1e30, "d": 1e-30}, {}),
    ("ConstantOfShape", "ConstantOfShape", "s", {"s": np.array([1 << 20, 1 << 14])}, {}),
    ("ConstantOfShape_wrap", "ConstantOfShape", "s", {"s": np.array([1 << 32, 1 << 32])}, {}),
    ("ConstantOfShape_minus", "ConstantOfShape", "s", {"s": np.array([-1])}, {}),
    (
        "OneHot",
        "OneHot",
        "w d v",
        {"w": np.arange(4), "d": _GIGA, "v": np.array([0.0, 1.0], "f")},
        {},
    ),
    ("Resize", "Resize", "w _ s", {"w": _W, "s": np.array([1e9], np.float32)}, {}),
    ("Resize_sizes", "Resize", "w _ _ s", {"w": _W, "s": np.array([1 << 40])}, {}),
    ("Upsample_infinite", "Resize", "w _ s", {"w": _W, "s": np.array([np.inf], np.float32)}, {}),
    ("HannWindow", "HannWindow", "n", {"n": np.array(1 << 40)}, {}),
    ("BlackmanWindow", "BlackmanWindow", "n", {"n": np.array(1 << 33)}, {}),
    ("RandomNormal", "RandomNormal", "", {}, {"shape": [1 << 20, 1 << 20]}),
    ("CenterCropPad", "CenterCropPad", "w s", {"w": _W, "s": np.array([1 << 36])}, {"axes": [0]}),
    ("Reshape_of_Expand", "Expand", "w s", {"w": np.float32(1), "s": np.array([1 << 16] * 3)}, {}),
    ("SequenceRepeat", "SplitToSequence", "w s", {"w": _W, "s": np.array(0)}, {}),
)


def _summed(n, constants):
    """Return a model that adds the sum of a node's output to x."""
    last = [node("Cast", "c", "f", to=FLOAT), node("ReduceSum", "f", "d", keepdims=0)]
    return model([n, *last, node("Add", "x d")], constants=constants, opset=18)


def _doubling():
    nodes = [node("Concat", "w w", "c0", axis=0)]
    nodes += [node("Concat", f"c{i} c{i}", f"c{i + 1}", axis=0) for i in range(40)]
    last = [node("ReduceSum", "c40", "d", keepdims=0), node("Add", "x d")]
    yield Case("bomb_Concat", model([*nodes, *last], constants={"w": _W}))
    integers = {"w": np.arange(4, dtype=np.int64)}
    casts = [node("Cast", "c26", "f", to=FLOAT), node("ReduceSum", "f", "d", keepdims=0)]
    yield Case(
        "bomb_Concat_of_integers", model([*nodes[:27], *casts, last[1]], constants=integers)
    )
    powers = [node("Add", f"s{i} s{i}", f"s{i + 1}") for i in range(40)]
    ends = [node("ConstantOfShape", "s40", "c"), node("ReduceSum", "c", "d", keepdims=0), last[1]]
    yield Case("bomb_shape_doubles", model([*powers, *ends], constants={"s0": np.array([1])}))
    shapes = [node("Concat", f"t{i} t{i}", f"t{i + 1}", axis=0) for i in range(9)]
    ranks = [node("ConstantOfShape", "t9", "c"), node("ReduceSum", "c", "d", keepdims=0), last[1]]
    yield Case("bomb_rank_1024", model([*shapes, *ranks], constants={"t0": np.array([2, 2])}))


def _of_a_run():
    wide = [1 << 14, 1 << 14]
    nodes = [node("MatMul", "x x", "a"), node("Concat", "a a", axis=0)]
    return model(nodes, [value("x", wide)], [value("y", [1 << 15, 1 << 14])])


def _broadcast():
    nodes = [node("Add", "a b", "c"), node("ReduceSum", "c", "d", keepdims=0), node("Add", "x d")]
    sides = {"a": np.ones((1 << 15, 1), np.float32), "b": np.ones((1, 1 << 15), np.float32)}
    return model(nodes, constants=sides)


def _outer():
    nodes = [
        node("MatMul", "a b", "c"),
        node("ReduceSum", "c", "d", keepdims=0),
        node("Add", "x d"),
    ]
    sides = {"a": np.ones((20000, 1), np.float32), "b": np.ones((1, 20000), np.float32)}
    return model(nodes, constants=sides)


def _in_a_body():
    tile = [
        node("Tile", "w r", "c"),
        node("ReduceSum", "c", "d", keepdims=0),
        node("Add", "x d", "a"),
    ]
    body = helper.make_graph(tile, "body", [], [value("a")])
    other = helper.make_graph([node("Relu", "x", "a")], "other", [], [value("a")])
    choice = node("If", "k", then_branch=body, else_branch=other)
    constants = {"w": _W, "r": np.array([1 << 28])}
    return model(choice, [value("x"), value("k", [], 9)], constants=constants)


def _in_a_function():
    nodes = [
        node("Expand", "v s", "a"),
        node("ReduceSum", "a", "b", keepdims=0),
        node("Add", "v b", "w"),
    ]
    result = model(node("F", "x s", domain="my"), my=1, constants={"s": np.array([1 << 40, 4])})
    imports = [helper.make_opsetid("", 17)]
    result.functions.append(helper.make_function("my", "F", ["v", "s"], ["w"], nodes, imports))
    return result
