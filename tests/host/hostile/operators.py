"""Nodes with attributes and inputs that their operators do not allow."""

from __future__ import annotations

import numpy as np
from onnx import helper

from .case import Case, Cases, changed, model, node, relu, value

_X = (1, 4, 6, 6)
_W = np.ones((4, 4, 3, 3), np.float32)
_POOLS = ("MaxPool", "AveragePool", "LpPool")
# operator: (more inputs, its attributes, {attribute: what it cannot be})
_WRONG = {
    "Conv": (
        {"w": _W},
        {"kernel_shape": [3, 3]},
        {
            "kernel_shape": ["three", [3], [0, 0], [-3, 3], [99, 99], 3.5, [1 << 40] * 2],
            "strides": ["2", [0, 0], [-1, -1], [2]],
            "pads": [[1], [-9, -9, -9, -9], [1.5, 1.5, 1.5, 1.5], [-(1 << 62)] * 4],
            "dilations": [[0, 0], [1 << 33, 1 << 33]],
            "group": [0, -1, 3, 1 << 62, "two"],
            "auto_pad": ["SOMEHOW", 3],
        },
    ),
    "MaxPool": (
        {},
        {"kernel_shape": [2, 2]},
        {"kernel_shape": [[0, 2], [2], "2x2", [1 << 62] * 2]},
    ),
    "AveragePool": ({}, {"kernel_shape": [2, 2]}, {"strides": [[0, 1], [2.5, 1.0], "2"]}),
    "Transpose": ({}, {}, {"perm": [[0, 0, 1, 2], [0, 1], [0, 1, 2, 9], [-1, 0, 1, 2], "0123"]}),
    "Softmax": ({}, {}, {"axis": [4, -5, "last", 1.0, 1 << 62]}),
    "Flatten": ({}, {}, {"axis": [9, -9, [1]]}),
    "Gather": ({"i": np.array([99])}, {}, {"axis": [0, 7]}),
    "LeakyRelu": ({}, {}, {"alpha": ["steep", [1.0], 1]}),
    "Cast": ({}, {}, {"to": [0, 99, -1, "float"]}),
    "Concat": ({"w": np.ones((1, 4, 6, 6), np.float32)}, {}, {"axis": [7, "0"]}),
    "Split": ({"s": np.array([1, 99])}, {}, {"axis": [1, 9]}),
    "LRN": ({}, {}, {"size": [0, -3, "3", 1 << 40]}),
    "DepthToSpace": ({}, {}, {"blocksize": [0, 3, -2, 1 << 40]}),
    "Clip": ({"lo": np.ones(3, np.float32)}, {}, {"made_up": [1]}),
    "ArgMax": ({}, {}, {"axis": [4, -5], "keepdims": ["yes"]}),
    "TopK": ({"k": np.array([99])}, {}, {"axis": [3, 4]}),
}


def cases() -> Cases:
    for op, (constants, attributes, wrong) in _WRONG.items():
        for name, values in wrong.items():
            for i, bad in enumerate(values):
                yield Case(f"{op}_{name}_{i}", _image(op, constants, {**attributes, name: bad}))
    yield from _arity()
    yield from _graphs()


def _image(op, constants, attributes):
    outputs = [value("y", ["a", "b", "c", "d"])]
    extra = {"Split": "y z", "TopK": "y z"}.get(op, "y")
    n = node(op, " ".join(["x", *constants]), extra, **attributes)
    return model(n, [value("x", _X)], outputs, constants)


def _arity():
    for op, inputs, outputs in (
        ("Relu", "", "y"),
        ("Relu", "x x", "y"),
        ("Relu", "x", "y z"),
        ("Relu", "_", "y"),
        ("Abs", "x", "_"),
        ("Add", "x", "y"),
        ("Conv", "x", "y"),
        ("Concat", "", "y"),
        ("Identity", "x", ""),
        ("Where", "x x x", "y"),
        ("BatchNormalization", "x x", "y"),
        ("LSTM", "x", "y"),
        ("Reshape", "x", "y"),
    ):
        yield Case(
            f"arity_{op}_{len(inputs.split())}_{len(outputs.split())}_{'_' in inputs + outputs}",
            model(node(op, inputs, outputs)),
        )
    for shape in ([-2], [5], [0, 0], [-1, -1], [1 << 62, 1 << 62], [1.5]):
        what = "_".join(str(d).replace(".", "p") for d in shape)
        yield Case(f"Reshape_{what}", model(node("Reshape", "x s"), constants={"s": shape}))
    yield Case(
        "MatMul_shapes", model(node("MatMul", "x w"), constants={"w": np.ones((5, 4), "f")})
    )
    yield Case("Add_shapes", model(node("Add", "x w"), constants={"w": np.ones((3,), "f")}))
    yield Case("Add_dtypes", model(node("Add", "x w"), constants={"w": np.ones((4,), "i8")}))


def _graphs():
    ring = [node("Relu", f"v{(i - 1) % 100}", f"v{i}") for i in range(100)]
    yield Case("circle_of_1", model([node("Add", "x y"), node("Relu", "x", "z")]))
    yield Case(
        "circle_of_2", model([node("Add", "x b", "a"), node("Relu", "a", "b"), node("Relu", "b")])
    )
    yield Case("circle_of_100", model([*ring, node("Add", "x v0")]))
    yield Case("input_of_nothing", model(node("Add", "x nothing")))
    yield Case("output_of_nothing", model(node("Relu", "x", "z")))
    yield Case("no_nodes_no_outputs", model([], [], []))
    yield Case("no_outputs", model(node("Relu", "x"), None, []))
    yield Case("no_graph", changed(lambda m: m.ClearField("graph")))
    yield Case("attribute_twice", changed(_twice))
    yield Case("attribute_refers", changed(_refers))
    yield Case("attribute_of_two_kinds", changed(_of_two_kinds))
    yield Case(
        "attribute_without_kind", changed(lambda m: m.graph.node[0].attribute.add(name="a"))
    )


def _twice(m):
    m.graph.node[0].CopyFrom(node("LeakyRelu", "x", alpha=0.5))
    m.graph.node[0].attribute.append(helper.make_attribute("alpha", 0.25))


def _refers(m):
    m.graph.node[0].CopyFrom(node("LeakyRelu", "x", alpha=0.5))
    m.graph.node[0].attribute[0].ref_attr_name = "of_no_function"


def _of_two_kinds(m):
    m.graph.node[0].CopyFrom(node("LeakyRelu", "x", alpha=0.5))
    m.graph.node[0].attribute[0].ints.extend([1, 2])
    m.graph.node[0].attribute[0].g.CopyFrom(relu().graph)
