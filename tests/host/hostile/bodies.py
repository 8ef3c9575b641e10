"""Graphs in nodes, and functions."""

from __future__ import annotations

import numpy as np
from onnx import helper

from .case import BOOL, INT64, Case, Cases, model, node, value


def cases() -> Cases:
    for depth in (9, 15, 30):
        yield Case(f"nest_{depth}", _nest(depth))
    yield from _branches()
    yield from _loops()
    yield from _scans()
    yield from _functions()


def _graph(nodes, inputs, outputs, constants=()):
    return helper.make_graph(nodes, "body", inputs, outputs, constants)


def _nest(depth):
    """Return If in If in If, with a condition that a run decides."""
    inner = _graph([node("Relu", "x", "o0")], [], [value("o0")])
    for i in range(1, depth):
        other = _graph([node("Relu", "x", f"e{i}")], [], [value(f"e{i}")])
        choice = node("If", "c", f"o{i}", then_branch=inner, else_branch=other)
        inner = _graph([choice], [], [value(f"o{i}")])
    other = _graph([node("Relu", "x", "e")], [], [value("e")])
    choice = node("If", "c", then_branch=inner, else_branch=other)
    return model(choice, [value("x"), value("c", [], BOOL)])


def _if(**branches):
    return model(node("If", "c", **branches), [value("x"), value("c", [], BOOL)])


def _branches():
    sound = _graph([node("Relu", "x", "a")], [], [value("a")])
    yield Case("If_without_else", _if(then_branch=sound))
    yield Case("If_branch_is_a_number", _if(then_branch=1, else_branch=2))
    none = _graph([], [], [])
    yield Case("If_of_nothing", _if(then_branch=none, else_branch=none))
    two = _graph([node("Relu", "x", "a"), node("Abs", "x", "b")], [], [value("a"), value("b")])
    yield Case("If_of_two_and_one", _if(then_branch=two, else_branch=sound))
    unknown = _graph([node("Relu", "nothing", "a")], [], [value("a")])
    yield Case("If_takes_nothing", _if(then_branch=unknown, else_branch=sound))
    itself = _graph([node("Add", "x y", "a")], [], [value("a")])
    yield Case("If_takes_its_result", _if(then_branch=itself, else_branch=sound))
    floats = model(node("If", "x", then_branch=sound, else_branch=sound))
    yield Case("If_of_floats", floats)
    shapes = _graph([node("Concat", "x x", "a", axis=0)], [], [value("a", [8])])
    yield Case("If_of_two_shapes", _if(then_branch=shapes, else_branch=sound))


def _loop(body, first="_ t x", **constants):
    constants = {"t": np.array(True), **constants}
    return model(node("Loop", first, body=body), constants=constants)


def _round(nodes, outputs=None, state="v"):
    inputs = [value("i", [], INT64), value("c", [], BOOL), value(state)]
    return _graph(nodes, inputs, outputs or [value("go", [], BOOL), value("w")])


def _loops():
    on = node("Identity", "c", "go")
    forever = _round([on, node("Abs", "v", "w")])
    yield Case("Loop_forever", _loop(forever))
    yield Case("Loop_of_2_62_rounds", _loop(forever, "m t x", m=np.array(1 << 62)))
    growing = [value("go", [], BOOL), value("w", ["n"])]
    grows = _round([on, node("Concat", "v v", "w", axis=0)], growing)
    yield Case("Loop_doubles", _loop(grows, "m t x", m=np.array(60)))
    yield Case("Loop_without_body", model(node("Loop", "_ _ x")))
    few = _graph([on], [value("c", [], BOOL)], [value("go", [], BOOL)])
    yield Case("Loop_body_of_1_input", _loop(few))
    yield Case("Loop_body_of_no_output", _loop(_graph([on], forever.input, [])))
    yield Case("Loop_body_lacks_a_state", _loop(_graph([on], forever.input, forever.output[:1])))
    yield Case("Loop_of_floats", _loop(forever, "x x x"))
    inner = node(
        "Loop",
        "_ c v",
        "w",
        body=_round(
            [node("Identity", "c2", "go2"), node("Abs", "v2", "w2")],
            [value("go2", [], BOOL), value("w2")],
            "v2",
        ),
    )
    inner.attribute[0].g.input[0].name, inner.attribute[0].g.input[1].name = "i2", "c2"
    yield Case("Loop_in_a_Loop_forever", _loop(_round([on, inner]), "m t x", m=np.array(3)))


def _scan(n, inputs="x", body=None, **more):
    body = body or _graph([node("Abs", "a", "b")], [value("a", [])], [value("b", [])])
    return model(node("Scan", inputs, num_scan_inputs=n, body=body, **more))


def _scans():
    for n in (0, -1, 2, 99, 1 << 40):
        yield Case(f"Scan_of_{n}", _scan(n))
    yield Case("Scan_axis_9", _scan(1, scan_input_axes=[9]))
    yield Case("Scan_axes_of_none", _scan(1, scan_output_axes=[5, 5, 5]))
    yield Case("Scan_without_body", model(node("Scan", "x", num_scan_inputs=1)))


def _functions():
    for name, calls in {
        "itself": {"F0": ["F0"]},
        "each_other": {"F0": ["F1"], "F1": ["F0"]},
        "laughs_30": {f"F{i}": [f"F{i + 1}"] * 2 for i in range(30)} | {"F30": []},
        "laughs_3_of_100": {f"F{i}": [f"F{i + 1}"] * 100 for i in range(3)} | {"F3": []},
    }.items():
        yield Case(f"function_{name}", _calling(calls))
    twice = _calling({"F0": []})
    twice.functions.append(twice.functions[0])
    yield Case("function_twice", twice)
    unknown = _calling({"F0": []})
    unknown.functions[0].node[0].op_type = "Nonsense"
    yield Case("function_of_nonsense", unknown)
    lost = _calling({"F0": []})
    lost.functions[0].output[0] = "lost"
    yield Case("function_gives_nothing", lost)
    wrong = _calling({"F0": []})
    wrong.graph.node[0].input.extend(["x", "x"])
    yield Case("function_of_3_inputs", wrong)


def _calling(calls):
    """Return a model of F0; `calls` are the functions that each function calls in turn."""
    result = model(node("F0", "x", domain="my"), my=1)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    for name, called in calls.items():
        steps = [node(one, f"v{i}", f"v{i + 1}", domain="my") for i, one in enumerate(called)]
        steps = steps or [node("Relu", "v0", "v1")]
        result.functions.append(
            helper.make_function("my", name, ["v0"], [f"v{len(steps)}"], steps, imports)
        )
    return result
