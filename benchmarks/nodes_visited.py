"""Count the nodes of decision trees that a run visits."""

from __future__ import annotations

import operator

import numpy as np
import onnx
from onnx import helper

from tools.converter.convert import Converted
from tools.converter.reference.golden import random_inputs

_COMPARE = {
    "BRANCH_LEQ": operator.le,
    "BRANCH_LT": operator.lt,
    "BRANCH_GTE": operator.ge,
    "BRANCH_GT": operator.gt,
    "BRANCH_EQ": operator.eq,
    "BRANCH_NEQ": operator.ne,
}
_ENSEMBLES = ("TreeEnsembleClassifier", "TreeEnsembleRegressor")


def nodes_visited(model: onnx.ModelProto, converted: Converted) -> float:
    """Return the nodes that a run on the benchmark's inputs visits, leaves included.

    For an ensemble that is not fed by an input of the model, return its average over all leaves.
    """
    inputs = {}
    for tensor, x in zip(converted.graph.inputs, random_inputs(converted.graph), strict=True):
        inputs[tensor.name] = x
    return sum(
        Ensemble(node).visited(inputs.get(node.input[0]))
        for node in model.graph.node
        if node.op_type in _ENSEMBLES
    )


class Ensemble:
    """Trees of one TreeEnsembleClassifier or TreeEnsembleRegressor node."""

    def __init__(self, node: onnx.NodeProto):
        self.a = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        ids = zip(self.a["nodes_treeids"], self.a["nodes_nodeids"], strict=True)
        self.index = {key: i for i, key in enumerate(ids)}
        self.modes = [mode.decode() for mode in self.a["nodes_modes"]]
        self.roots = list({tree: i for (tree, _), i in reversed(self.index.items())}.values())

    def visited(self, x: np.ndarray | None) -> float:
        """Return the number of nodes that these samples visit.

        Without samples, return that of one sample, averaged over the leaves.
        """
        if x is None or x.dtype.kind not in "fi":
            return sum(self._mean_depth(root) for root in self.roots)
        rows = np.asarray(x, np.float32).reshape(-1, x.shape[-1])
        return sum(self._depth(root, row) for row in rows for root in self.roots)

    def _next(self, i, is_true):
        name = "nodes_truenodeids" if is_true else "nodes_falsenodeids"
        return self.index[self.a["nodes_treeids"][i], self.a[name][i]]

    def _depth(self, i, row):
        """Return the number of nodes from node i to the leaf that the sample reaches."""
        n = 1
        while self.modes[i] != "LEAF":
            value = np.float32(self.a["nodes_values"][i])
            x = row[self.a["nodes_featureids"][i]]
            i = self._next(i, _COMPARE[self.modes[i]](x, value))
            n += 1
        return n

    def _mean_depth(self, root):
        """Return the number of nodes from the root to a leaf, averaged over the leaves."""
        depths, todo = [], [(root, 1)]
        while todo:
            i, n = todo.pop()
            if self.modes[i] == "LEAF":
                depths.append(n)
            else:
                todo += [(self._next(i, True), n + 1), (self._next(i, False), n + 1)]
        return sum(depths) / len(depths)
