"""The programs that `flash` and `new` write run as they are on MicroPython."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from examples.digits.demo import HERE
from tests.host.device import small
from tools import starter
from tools.cli import new
from tools.cli.commands import COMMANDS
from tools.converter.convert import Options, convert
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
STRINGS = TensorProto.STRING


def digits():
    return convert(HERE / "digits.onnx").data


def two_inputs():
    """Return a model of inputs whose names are no names of variables."""
    x, y = small.value("class", (1, 3)), small.value("2 y", (1, 3), TensorProto.INT64)
    cast = helper.make_node("Cast", ["2 y"], ["c"], to=1)
    nodes = [cast, helper.make_node("Add", ["class", "c"], ["z"])]
    return convert(small.model(nodes, [x, y], [small.value("z", (1, 3))])).data


def open_size():
    """Return a model whose input has a size that each run decides."""
    x, y = small.value("x", ["n", 2]), small.value("y", ["n", 2])
    return convert(small.model([("Relu", "x", "y", {})], [x], [y]), Options(bounds={"n": 3})).data


def texts():
    node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml")
    node.attribute.append(helper.make_attribute("keys_strings", ["text", "b"]))
    node.attribute.append(helper.make_attribute("values_int64s", [7, 8]))
    x, y = small.value("x", (2,), STRINGS), small.value("y", (2,), TensorProto.INT64)
    return convert(small.model([node], [x], [y])).data


def maps():
    node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml")
    node.attribute.append(helper.make_attribute("string_vocabulary", ["key", "b"]))
    kind = helper.make_map_type_proto(STRINGS, helper.make_tensor_type_proto(1, []))
    x = helper.make_value_info("x", kind)
    return convert(small.model([node], [x], [small.value("y", (1, 2))])).data


MODELS = {f.__name__: f for f in (digits, two_inputs, open_size, texts, maps)}


@pytest.mark.parametrize("kind", MODELS)
@every_target
def test_the_script_runs_as_it_is(target, kind):
    script = starter.starter_of(MODELS[kind](), "m.bin").script()
    printed = small.lines(target, script.replace("PAUSE = 0.1", "PAUSE = 0"), m=MODELS[kind]())
    assert len(printed) == 10 and len(set(printed)) == 1


@pytest.mark.parametrize("kind", MODELS)
@every_target
def test_the_lines_run_as_they_are(target, kind):
    data = MODELS[kind]()
    lines = starter.starter_of(data, "m.bin").lines()
    assert len(lines) == 3
    assert len(small.lines(target, "\n".join(lines), m=data)) == 1


def test_the_lines_name_shape_and_labels():
    data = convert(small.relu((1, 3)), Options(class_names=("off", "één", "on"))).data
    (*_, last) = starter.starter_of(data, "m.bin").lines()
    assert last == "print(model.predict([0.0] * 3))  # x: float32 (1, 3) -> off, één, on"


def test_many_labels_are_cut():
    names = tuple(f"c{i}" for i in range(40))
    data = convert(small.relu((1, 40)), Options(class_names=names)).data
    assert (
        starter.starter_of(data, "m.bin")
        .lines()[-1]
        .endswith("-> c0, c1, c2, c3, c4, c5, c6, c7, ...")
    )


def test_another_folder_is_put_on_the_path():
    lines = starter.starter_of(digits(), "m.bin").lines("/apps/")
    assert lines[0] == 'import sys; sys.path.insert(0, "/apps/")'
    assert 'load("/apps/m.bin")' in lines[2]


def test_new_writes_a_script_and_never_over_another(tmp_path, capsys):
    model, script = tmp_path / "digits.bin", tmp_path / "main.py"
    model.write_bytes(digits())
    assert COMMANDS["new"].main([str(model), "--to", str(script)]) == 0
    out = capsys.readouterr().out
    assert str(script) in out and f"mpconnxr flash {model}" in out
    assert 'array("f", [0.0] * 64)' in script.read_text()
    script.write_text("mine")
    assert new.main([str(model), "--to", str(script)]) == 1
    assert "--force" in capsys.readouterr().err and script.read_text() == "mine"
    assert new.main([str(model), "--to", str(script), "--force"]) == 0
    assert new.main([str(model), "--to", str(model), "--force"]) == 1
    assert model.read_bytes() == digits()


def test_new_refuses_what_is_no_model(tmp_path, capsys):
    path = tmp_path / "x.npy"
    np.save(path, np.ones(3))
    assert new.main([str(path), "--to", str(tmp_path / "main.py")]) == 1
    assert "array of numpy" in capsys.readouterr().err
