"""Train a random forest with scikit-learn on simulated days; write forest.onnx beside this file.

    python -m examples.forest.train

The seeds are fixed: on one computer the results repeat.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from sklearn.ensemble import RandomForestClassifier

from . import data

HERE = Path(__file__).parent
TREES, DEPTH, LEAF, TRAIN_DAYS, TEST_DAYS = 10, 6, 20, 12, 4


def main() -> int:
    x, y = of_days(range(TRAIN_DAYS))
    forest = RandomForestClassifier(TREES, max_depth=DEPTH, min_samples_leaf=LEAF, random_state=0)
    forest.fit(x, y)
    x, y = of_days(range(100, 100 + TEST_DAYS))
    print(f"test accuracy: {forest.score(x, y):.1%} of {len(y):,} readings")
    onnx.save(onnx_forest(forest), HERE / "forest.onnx")
    return 0


def of_days(seeds) -> tuple[np.ndarray, np.ndarray]:
    """Return features and classes of some days."""
    days = [data.day(seed) for seed in seeds]
    x = np.concatenate([data.features(readings) for readings, _ in days])
    return x, np.concatenate([labels[data.SPAN :] for _, labels in days])


def onnx_forest(forest) -> onnx.ModelProto:
    """Return the model: features float32 (1, 7) -> label int64 (1), probabilities (1, 4)."""
    attributes: dict[str, list] = {
        f"{group}_{name}": []
        for group, names in (
            ("nodes", "treeids nodeids featureids modes values truenodeids falsenodeids"),
            ("class", "treeids nodeids ids weights"),
        )
        for name in names.split()
    }
    for number, estimator in enumerate(forest.estimators_):
        _add_tree(attributes, number, estimator.tree_, len(forest.estimators_))
    node = helper.make_node(
        "TreeEnsembleClassifier",
        ["features"],
        ["label", "probabilities"],
        domain="ai.onnx.ml",
        classlabels_int64s=[int(c) for c in forest.classes_],
        post_transform="NONE",
        **attributes,
    )
    value = helper.make_tensor_value_info
    x = value("features", TensorProto.FLOAT, (1, len(data.FEATURES)))
    label = value("label", TensorProto.INT64, (1,))
    p = value("probabilities", TensorProto.FLOAT, (1, len(data.LABELS)))
    graph = helper.make_graph([node], "forest", [x], [label, p])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="mpconnxr")
    onnx.checker.check_model(model)
    return model


def _add_tree(attributes, number, tree, n_trees):
    """Add a tree's nodes; a leaf adds to each class its share of the forest's mean."""
    for i in range(tree.node_count):
        is_leaf = tree.children_left[i] < 0
        node = {
            "treeids": number,
            "nodeids": i,
            "featureids": max(0, int(tree.feature[i])),
            "modes": "LEAF" if is_leaf else "BRANCH_LEQ",
            "values": 0.0 if is_leaf else _at_most(tree.threshold[i]),
            "truenodeids": max(0, int(tree.children_left[i])),
            "falsenodeids": max(0, int(tree.children_right[i])),
        }
        for name, value in node.items():
            attributes[f"nodes_{name}"].append(value)
        counts = tree.value[i][0]
        for c in np.flatnonzero(counts) if is_leaf else ():
            entry = (number, i, int(c), float(counts[c] / counts.sum() / n_trees))
            for name, value in zip(("treeids", "nodeids", "ids", "weights"), entry, strict=True):
                attributes[f"class_{name}"].append(value)


def _at_most(threshold):
    """Return the largest float32 up to a double: x <= threshold is unchanged for all float32 x."""
    single = np.float32(threshold)
    return float(single if single <= threshold else np.nextafter(single, np.float32(-np.inf)))


if __name__ == "__main__":
    sys.exit(main())
