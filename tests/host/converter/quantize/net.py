"""A small float network to quantize, and samples for it."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tools.converter.load import prepare
from tools.converter.reference.ort_session import open_session
from tools.converter.simplify import simplify

CLASSES = 4


def array(name, x):
    return numpy_helper.from_array(np.asarray(x, np.float32), name)


def net(w=None, b=None):
    """Return Conv, Relu, depthwise Conv, Relu, pool, Gemm: 8x8 to four classes."""
    rng = np.random.default_rng(1)
    w = rng.normal(size=(6, 1, 3, 3)) / 3 if w is None else w
    weights = [
        array("w", w),
        array("b", rng.normal(size=6) / 4 if b is None else b),
        array("d", rng.normal(size=(6, 1, 3, 3)) / 3),
        array("e", rng.normal(size=6) / 4),
        array("g", rng.normal(size=(CLASSES, 6))),
        array("h", rng.normal(size=CLASSES) / 4),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["a"], "first"),
        helper.make_node("Relu", ["a"], ["r"], "relu"),
        helper.make_node("Conv", ["r", "d", "e"], ["c"], "second", group=6),
        helper.make_node("LeakyRelu", ["c"], ["l"], "leaky", alpha=0.1),
        helper.make_node("GlobalAveragePool", ["l"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "g", "h"], ["y"], "last", transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, CLASSES])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def calibration(n=48, seed=2):
    x = np.random.default_rng(seed).normal(size=(n, 1, 1, 8, 8)).astype(np.float32)
    return [{"x": one} for one in x]


def prepared(model):
    return simplify(prepare(model))


def outputs(model, samples):
    session = open_session(model)
    return np.array([session.run(None, s)[0] for s in samples])
