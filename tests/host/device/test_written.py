"""A file in which a step reads bytes of the arena that nothing has written is refused."""

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


def verdict_of(target, converted):
    """Return what a board says about a file of these steps."""
    data = writer.model_bytes(converted.graph, converted.plan.arena_bytes)
    return small.run(target, SCRIPT, {"model.bin": data}).strip()


def test_steps_in_another_order_are_refused(target):
    conversion = converted([("Exp", "x", "a", {}), ("Add", "a x", "y", {})])
    values = [t for t in conversion.graph.tensors() if t.data is None]
    for i, t in enumerate(values):  # else one may lie in the place of another
        t.offset = 4096 * i
    conversion.plan.arena_bytes = 4096 * len(values)
    assert verdict_of(target, conversion) == "loaded"
    conversion.graph.steps.reverse()
    assert "which nothing wrote" in verdict_of(target, conversion)


def test_an_unwritten_part_is_refused(target):
    """It is the second part of a Concat."""
    nodes = [("Exp", "x", "a", {}), ("Sin", "x", "b", {}), ("Concat", "a b", "c", {"axis": 0})]
    nodes += [("Abs", "c", "d", {}), ("ReduceMax", "d", "m", {}), ("Add", "x m", "y", {})]
    conversion = converted(nodes)
    assert verdict_of(target, conversion) == "loaded"
    steps = conversion.graph.steps
    steps[:] = [s for s in steps if "Sin" not in s.node and s.kernel != "move"]
    assert "which nothing wrote" in verdict_of(target, conversion)


def test_an_unwritten_output_is_refused(target):
    conversion = converted(
        [("Exp", "x", "a", {}), ("Transpose", "a", "y", {"perm": [1, 0]})], shape=(2, 2)
    )
    del conversion.graph.steps[-1]
    conversion.graph.outputs[0].offset = conversion.plan.arena_bytes
    conversion.plan.arena_bytes *= 2
    assert "the caller reads tensor" in verdict_of(target, conversion)


def test_views_of_written_values_count_as_written(target):
    nodes = [("Exp", "x", "a", {}), ("Reshape", "a s", "b", {}), ("Sin", "b", "c", {})]
    nodes.append(("Reshape", "c t", "y", {}))
    conversion = converted(nodes, s=np.int64([2, 4]), t=np.int64([8]))
    assert verdict_of(target, conversion) == "loaded"


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


def test_a_value_written_by_one_branch_only_is_accepted(target):
    converted = branch()
    assert verdict_of(target, converted) == "loaded"
    [step] = [s for s in converted.graph.steps if s.bodies]
    result = step.bodies[0][-1].outputs[0].root
    for t in converted.graph.tensors():
        if t.root is result:
            t.offset = converted.plan.arena_bytes
    converted.plan.arena_bytes += 64
    assert verdict_of(target, converted) == "loaded"
    del step.bodies[1][-1]
    assert "which nothing wrote" in verdict_of(target, converted)
