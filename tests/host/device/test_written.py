"""A file in which a step reads bytes of the arena that nothing wrote is refused."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.file import writer
from tools.micropython import UNIX_TARGETS

pytestmark = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
SCRIPT = """
import mpconnxr
try:
    mpconnxr.load("model.bin")
    print("loaded")
except mpconnxr.ModelError as e:
    print(e)
"""


def converted(nodes, inputs="x", shape=(8,), **constants):
    values = [small.value(name, shape) for name in (*inputs.split(), "y")]
    model = small.model(nodes, values[:-1], values[-1:], **constants)
    return convert(model, Options(strip=True, optimize=0))


def told(target, done):
    """What a board says of a file of these steps."""
    data = writer.model_bytes(done.graph, done.plan.arena_bytes)
    return small.run(target, SCRIPT, {"model.bin": data}).strip()


def test_steps_in_another_order(target):
    done = converted([("Exp", "x", "a", {}), ("Add", "a x", "y", {})])
    values = [t for t in done.graph.tensors() if t.data is None]
    for i, t in enumerate(values):  # else one may lie in the place of another
        t.offset = 4096 * i
    done.plan.arena_bytes = 4096 * len(values)
    assert told(target, done) == "loaded"
    done.graph.steps.reverse()
    assert "which nothing wrote" in told(target, done)


def test_a_part_that_is_not_written(target):
    """A Concat whose second part no step computes."""
    nodes = [("Exp", "x", "a", {}), ("Sin", "x", "b", {}), ("Concat", "a b", "c", {"axis": 0})]
    nodes += [("Abs", "c", "d", {}), ("ReduceMax", "d", "m", {}), ("Add", "x m", "y", {})]
    done = converted(nodes)
    assert told(target, done) == "loaded"
    steps = done.graph.steps
    steps[:] = [s for s in steps if "Sin" not in s.node and s.kernel != "move"]
    assert "which nothing wrote" in told(target, done)


def test_an_output_that_is_not_written(target):
    done = converted(
        [("Exp", "x", "a", {}), ("Transpose", "a", "y", {"perm": [1, 0]})], shape=(2, 2)
    )
    del done.graph.steps[-1]
    done.graph.outputs[0].offset = done.plan.arena_bytes
    done.plan.arena_bytes *= 2
    assert "the caller reads tensor" in told(target, done)


def test_views_share_memory(target):
    nodes = [("Exp", "x", "a", {}), ("Reshape", "a s", "b", {}), ("Sin", "b", "c", {})]
    nodes.append(("Reshape", "c t", "y", {}))
    done = converted(nodes, s=np.int64([2, 4]), t=np.int64([8]))
    assert told(target, done) == "loaded"


def branch():
    def body(op):
        value = helper.make_tensor_value_info("z", TensorProto.FLOAT, [8])
        return helper.make_graph([helper.make_node(op, ["x"], ["z"])], op, [], [value])

    bodies = {"then_branch": body("Exp"), "else_branch": body("Sin")}
    nodes = [
        ("ReduceMax", "x", "m", {"keepdims": 0}),
        ("Cast", "m", "go", {"to": TensorProto.BOOL}),
    ]
    return converted([*nodes, ("If", "go", "r", bodies), ("Add", "r x", "y", {})])


def test_what_one_branch_alone_writes(target):
    done = branch()
    assert told(target, done) == "loaded"
    [step] = [s for s in done.graph.steps if s.bodies]
    result = step.bodies[0][-1].outputs[0].root
    for t in done.graph.tensors():
        if t.root is result:
            t.offset = done.plan.arena_bytes
    done.plan.arena_bytes += 64
    assert told(target, done) == "loaded"
    del step.bodies[1][-1]
    assert "which nothing wrote" in told(target, done)
