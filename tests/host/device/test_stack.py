"""Where the stack ends in load or run there is a typed error, as where memory ends."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.device import small
from tools.micropython import UNIX_TARGETS

SCRIPT = """
import mpconnxr

data = open("model.bin", "rb").read()

def at(n, call):
    return at(n - 1, call) if n else call()

def nothing():
    return 0

deepest = 0
try:
    while True:
        at(deepest + 1, nothing)
        deepest += 1
except RuntimeError:
    pass

def attempts(call):
    found = []
    for left in range(deepest):
        try:
            at(deepest - left, call)
            found.append("done")
        except mpconnxr.MpconnxrError as e:
            found.append("typed" if "stack" in str(e) else str(e))
        except RuntimeError:
            found.append("call")
        if found[-1] == "done":
            return found
    return found

model = mpconnxr.load(data)
for call in (lambda: mpconnxr.load(data), lambda: model.run([1.0])):
    found = attempts(call)
    print(" ".join([name + ":%d" % found.count(name) for name in sorted(set(found))]))
"""


def nested(depth):
    """y = -x, in an If in an If in an If."""
    nodes = [helper.make_node("Neg", ["x"], [f"y{depth}"])]
    if depth:
        body = helper.make_graph(nested(depth - 1), f"body{depth}", [], [value(depth - 1)])
        branches = {"then_branch": body, "else_branch": body}
        nodes = [helper.make_node("If", ["c"], [f"y{depth}"], **branches)]
    return nodes


def value(depth):
    return helper.make_tensor_value_info(f"y{depth}", TensorProto.FLOAT, [1])


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_the_stack_ends(target):
    nodes = [helper.make_node("Less", ["x", "zero"], ["c"]), *nested(3)]
    zero = helper.make_tensor("zero", TensorProto.FLOAT, [1], np.zeros(1, np.float32))
    graph = helper.make_graph(nodes, "nested", [small.value("x", [1])], [value(3)], [zero])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    said = small.run(target, SCRIPT, {"model.bin": small.binary(proto)})
    for line in said.splitlines():
        found = dict(word.split(":") for word in line.split())
        # A call needs some frames of its own before it can type anything.
        assert found.keys() == {"call", "typed", "done"}, line
        assert int(found["typed"]) > 4 > int(found["call"]) - 6, line
