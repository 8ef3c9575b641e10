"""--state OUTPUT=INPUT: what it refuses, and where the next state is computed."""

import pytest
from onnx import TensorProto

from tests.host.device import small
from tools.converter import __main__ as converter
from tools.converter.convert import Options, convert
from tools.converter.errors import UsageError
from tools.format.reader import read


def counting(shape=(2,), dtype=TensorProto.FLOAT):
    """Return y = x + s, whose Relu is the next s."""
    nodes = [("Add", "x s", "y", {}), ("Relu", "y", "n", {})]
    inputs = [small.value("x", (2,)), small.value("s", shape, dtype)]
    return small.model(nodes, inputs, [small.value("y", (2,)), small.value("n", (2,))])


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"t": "n"}, "no input t; there are x, s"),
        ({"s": "m"}, "no output m; there are y, n"),
    ],
)
def test_unknown_names_are_refused(state, message):
    with pytest.raises(UsageError, match=message):
        convert(counting(), Options(state=state))


def test_different_shapes_are_refused():
    with pytest.raises(UsageError, match=r"n float32 \[2\] cannot become s float32 \[1\]"):
        convert(counting((1,)), Options(state={"s": "n"}))


def test_an_input_has_one_state(tmp_path, capsys):
    path = tmp_path / "m.onnx"
    path.write_bytes(counting().SerializeToString())
    states = ["--state", "y=s", "--state", "n=s"]
    assert converter.main([str(path), str(tmp_path / "m.bin"), *states]) == 2
    assert "s is given twice" in capsys.readouterr().err


def test_states_are_reported_and_inspect_shows_them(tmp_path, capsys):
    path, binary = tmp_path / "m.onnx", tmp_path / "m.bin"
    path.write_bytes(counting().SerializeToString())
    assert converter.main([str(path), str(binary), "--state", "n=s"]) == 0
    printed = capsys.readouterr().out
    assert "state    8 bytes" in printed and "input    s" not in printed
    stored = read(binary.read_bytes())
    assert [stored.tensors[i].name for i in stored.inputs + stored.outputs] == ["x", "y"]
    assert sorted(t.storage for t in stored.tensors) == [0, 0, 3]  # the old value and the new
    assert converter.main(["inspect", str(binary)]) == 0
    assert " state " in capsys.readouterr().out


def test_the_new_state_overwrites_one_that_is_no_longer_read():
    converted = convert(counting(), Options(state={"s": "n"}))
    assert [step.kernel for step in converted.graph.steps] == ["binary", "relu"]


def test_an_in_place_step_writes_the_new_state():
    nodes = [("Add", "x s", "n", {}), ("Relu", "n", "y", {})]
    names = ("x", "s"), ("y", "n")
    proto = small.model(nodes, *([small.value(n, (2,)) for n in group] for group in names))
    converted = convert(proto, Options(state={"s": "n"}))
    assert [step.kernel for step in converted.graph.steps] == ["binary", "relu"]


def test_a_state_that_is_still_read_is_copied_at_the_end():
    """The new state is computed before the last read of the old one."""
    nodes = [("Relu", "s", "n", {}), ("Add", "n s", "y", {})]
    names = [("s",), ("y", "n")]
    proto = small.model(nodes, *([small.value(n, (2,)) for n in group] for group in names))
    converted = convert(proto, Options(state={"s": "n"}))
    assert [step.kernel for step in converted.graph.steps] == ["relu", "binary", "move"]


def test_a_step_that_reads_its_state_twice_needs_a_copy():
    """A GRU reads its state before it writes the new one, but not if the state is also its x."""
    w, r = small.floats(2, 12, 4), small.floats(2, 12, 4, seed=2)
    attributes = {"hidden_size": 4, "direction": "bidirectional"}
    inputs, outputs = [small.value("s", (2, 1, 4))], [small.value("n", (2, 1, 4))]
    for x, steps in (("s", ["gated", "gated", "move"]), ("c", ["gated", "gated"])):
        node = ("GRU", f"{x} w r", "y n", attributes)
        proto = small.model([node], inputs, outputs, w=w, r=r, c=small.floats(2, 1, 4))
        proto.graph.node[0].input.extend(["", "", "s"])
        converted = convert(proto, Options(state={"s": "n"}))
        assert [step.kernel for step in converted.graph.steps] == steps


def test_a_loop_over_its_own_state_needs_a_copy():
    """The body reads the state in every round: the result cannot share its memory."""
    body = small.model(
        [("Add", "v s", "w", {}), ("Identity", "go", "on", {})],
        [small.value(*v) for v in (("i", (), 7), ("go", (), 9), ("v", (2,)))],
        [small.value("on", (), 9), small.value("w", (2,))],
    ).graph
    loop = ("Loop", "n go s", "y", {"body": body})
    constants = {"n": small.np.array(3), "go": small.np.array(True)}
    proto = small.model([loop], [small.value("s", (2,))], [small.value("y", (2,))], **constants)
    proto.graph.output.append(small.value("z", (2,)))
    proto.graph.node.append(small.helper.make_node("Relu", ["y"], ["z"]))
    converted = convert(proto, Options(state={"s": "y"}))
    x = converted.graph.states[0]
    assert converted.graph.steps[-1].kernel == "move" and converted.graph.steps[-1].outputs == [x]
