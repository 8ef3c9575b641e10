"""The networks that run on every machine, with inputs and onnxruntime's outputs for them.

Those of the model collection are omitted if it is absent; the others are made here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

from examples.digits import demo
from tests.host import zoo
from tools.converter.load import prepare
from tools.converter.quantize.post_training import quantize
from tools.converter.quantize.settings import Settings
from tools.converter.reference.ort_session import open_session
from tools.converter.simplify import simplify

FLOAT = 1e-4  # of the largest output: as golden vectors are compared


@dataclass(frozen=True)
class Network:
    """A model with inputs and the expected outputs.

    Attributes:
        steps: by how many an integer output may be off; floats may be off by FLOAT.
    """

    model: onnx.ModelProto
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]
    steps: int = 0


def _answered(model, x, steps=0) -> Network:
    name = model.graph.input[0].name
    return Network(model, [x], open_session(model).run(None, {name: x}), steps)


def _digits():
    images, _ = demo.test_split()
    model = onnx.load(demo.HERE / "digits.onnx")
    return model, images.astype(np.float32).reshape(-1, 1, 1, 8, 8) / 16


def digits_float() -> Network:
    model, images = _digits()
    return _answered(model, images[0])


def digits_int8() -> Network:
    """Return the digits network in int8, outputs included: floats would hide wrong integers."""
    model, images = _digits()
    samples = [{model.graph.input[0].name: x} for x in images[:64]]
    quantized, _ = quantize(simplify(prepare(model)), Settings(samples=samples, io="int8"))
    return _answered(quantized, np.rint(images[64] * 127).astype(np.int8), steps=1)


def forest() -> Network:
    """Return ten of scikit-learn's trees, trained on its wines."""
    wine = load_wine()
    x = wine.data.astype(np.float32)
    trained = RandomForestClassifier(10, max_depth=5, random_state=1).fit(x, wine.target)
    node = forest_node(trained)
    outputs = [("label", TensorProto.INT64, [1]), ("p", TensorProto.FLOAT, [1, 3])]
    return _answered(_model([node], x[:1].shape, outputs, ml=3), x[100:101])


def forest_node(trained: RandomForestClassifier):
    """Return the node x -> label, p of a trained forest."""
    return helper.make_node(
        "TreeEnsembleClassifier",
        ["x"],
        ["label", "p"],
        domain="ai.onnx.ml",
        classlabels_int64s=trained.classes_.tolist(),
        **_trees([one.tree_ for one in trained.estimators_]),
    )


def _trees(trees):
    """Return the attributes of TreeEnsembleClassifier for scikit-learn's trees."""
    results = {f"nodes_{key}": [] for key in ("treeids", "nodeids", "featureids", "values")}
    results |= {f"nodes_{key}": [] for key in ("modes", "truenodeids", "falsenodeids")}
    results |= {f"class_{key}": [] for key in ("treeids", "nodeids", "ids", "weights")}
    for t, tree in enumerate(trees):
        for i in range(tree.node_count):
            leaf = tree.children_left[i] < 0
            node = [t, i, max(int(tree.feature[i]), 0), float(tree.threshold[i])]
            node += ["LEAF" if leaf else "BRANCH_LEQ"]
            node += [max(int(side[i]), 0) for side in (tree.children_left, tree.children_right)]
            for key, value in zip(list(results)[:7], node, strict=True):
                results[key].append(value)
            for k, share in enumerate(tree.value[i][0] / tree.value[i].sum()) if leaf else ():
                for key, value in zip(list(results)[7:], (t, i, k, share), strict=True):
                    results[key].append(value if key != "class_weights" else share / len(trees))
    return results


def lstm() -> Network:
    """Return an LSTM of 20 time steps and 16 cells with a dense layer, with random weights."""
    rng = np.random.default_rng(4)
    sizes = {"w": (1, 64, 3), "r": (1, 64, 16), "b": (1, 128), "g": (16, 5), "h": (5,)}
    weights = {name: rng.normal(0, 0.4, size).astype(np.float32) for name, size in sizes.items()}
    weights["flat"] = np.array([1, 16], np.int64)
    nodes = [
        helper.make_node("LSTM", ["x", "w", "r", "b"], ["", "y"], hidden_size=16),
        helper.make_node("Reshape", ["y", "flat"], ["f"]),
        helper.make_node("Gemm", ["f", "g", "h"], ["s"]),
        helper.make_node("Softmax", ["s"], ["p"]),
    ]
    model = _model(nodes, (20, 1, 3), [("p", TensorProto.FLOAT, [1, 5])], **weights)
    return _answered(model, rng.normal(size=(20, 1, 3)).astype(np.float32))


def _model(nodes, shape, outputs, ml=0, **weights):
    graph = helper.make_graph(
        nodes,
        "made here",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(*output) for output in outputs],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opsets = [helper.make_opsetid("", 17)] + [helper.make_opsetid("ai.onnx.ml", ml)] * (ml > 0)
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _collected(name, steps=0):
    def network() -> Network:
        if not zoo.model_path(name).is_file():
            pytest.skip(f"no model collection at {zoo.ZOO}")
        inputs, outputs = (zoo.sample(name, 0, kind) for kind in ("input", "output"))
        return Network(onnx.load(zoo.model_path(name)), inputs, outputs, steps)

    return network


NETWORKS = {
    "digits int8": digits_int8,
    "digits float32": digits_float,
    "mnist_8": _collected("mnist_8"),
    "mlperf kws int8": _collected("mlperf_kws_dscnn_int8", steps=2),
    "mlperf ad int8": _collected("mlperf_ad_fc_ae_int8", steps=2),
    "random forest": forest,
    "LSTM": lstm,
}
