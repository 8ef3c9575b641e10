"""A stack overflow in load or run raises a typed error, as a lack of memory does."""

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
    """Return nodes of y = -x, in an If in an If in an If."""
    nodes = [helper.make_node("Neg", ["x"], [f"y{depth}"])]
    if depth:
        body = helper.make_graph(nested(depth - 1), f"body{depth}", [], [value(depth - 1)])
        branches = {"then_branch": body, "else_branch": body}
        nodes = [helper.make_node("If", ["c"], [f"y{depth}"], **branches)]
    return nodes


def value(depth):
    return helper.make_tensor_value_info(f"y{depth}", TensorProto.FLOAT, [1])


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_a_stack_overflow_raises_a_typed_error(target):
    nodes = [helper.make_node("Less", ["x", "zero"], ["c"]), *nested(3)]
    proto = small.model(nodes, [small.value("x", [1])], [value(3)], zero=np.zeros(1, np.float32))
    printed = small.run(target, SCRIPT, {"model.bin": small.binary(proto)})
    for line in printed.splitlines():
        results = dict(word.split(":") for word in line.split())
        # A call needs some frames of its own before it can type anything.
        assert results.keys() == {"call", "typed", "done"}, line
        assert int(results["typed"]) > 4 > int(results["call"]) - 6, line
