"""What flash names where a model does not fit: it is done then, and has to work."""

import re
import shlex

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from tests.device.networks import forest_node
from tests.host.device import small
from tools import flash
from tools.converter.__main__ import convert_main
from tools.deploy import boards, fit
from tools.deploy.model_file import read_model
from tools.deploy.modules import Package
from tools.program.build import plan_deployment

BOARD = "pico"


def chain(operator, shape, out, *more, **attributes):
    """One operator of floats between an input x and an output y."""
    constants = dict(more)
    nodes = [(operator, " ".join(["x", *constants]), "y", attributes)]
    return small.model(nodes, [small.value("x", shape)], [small.value("y", out)], **constants)


def large_weights():
    return chain("Gemm", (1, 800), (1, 500), ("w", small.floats(800, 500)))


def wide_layer():
    return chain("Gemm", (1, 200), (1, 500), ("w", small.floats(200, 500)))


def large_picture():
    return chain("GlobalAveragePool", (1, 3, 280, 280), (1, 3, 1, 1))


def wide_picture():
    """There is much between its first two layers alone."""
    nodes = [
        ("Conv", "x w", "a", {"pads": [1, 1, 1, 1]}),
        ("Conv", "a v", "b", {"group": 16, "strides": [2, 2]}),
        ("GlobalAveragePool", "b", "y", {}),
    ]
    return small.model(
        nodes,
        [small.value("x", (1, 1, 64, 64))],
        [small.value("y", (1, 16, 1, 1))],
        w=small.floats(16, 1, 3, 3),
        v=small.floats(16, 1, 3, 3),
    )


def forest():
    """Trees are in memory altogether: only in place they take no heap."""
    digits = load_digits()
    labels = np.random.default_rng(0).integers(0, 9, len(digits.data))
    trained = RandomForestClassifier(36, random_state=1).fit(digits.data, labels)
    outputs = [small.value("label", [1], TensorProto.INT64), small.value("p", [1, 9])]
    graph = helper.make_graph(
        [forest_node(trained)], "trees", [small.value("x", [1, 64])], outputs
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.fixture
def said(tmp_path, capsys):
    """The warning of flash for a model and BOARD; the .onnx is beside the model."""

    def warn(model, *options, source=True):
        path = tmp_path / "model.onnx"
        onnx.save(model, path)
        assert convert_main([str(path), *options]) == 0
        if not source:
            path.unlink()
        return warning(tmp_path, capsys)

    return warn


def warning(folder, capsys, *options):
    capsys.readouterr()
    model = folder / "model.bin"
    arguments = [str(model), "--to", str(folder / "files"), "--board", BOARD, *options]
    assert flash.main(arguments) == 0
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "lack", "option"),
    [
        (large_weights, "the whole file system has 1,441,792", "--weights int8 --window "),
        (wide_layer, "bytes of heap (tensors ", "--window "),
        (wide_picture, "bytes of heap (tensors ", "--arena "),
    ],
)
def test_a_command_that_is_named_makes_it_fit(model, lack, option, said, tmp_path, capsys):
    text = said(model())
    assert text.startswith(f"flash: warning: too large for {BOARD}: ") and lack in text
    [command] = re.findall(r"It fits with mpconnxr convert (.*) and mpconnxr flash \S+\.\n$", text)
    assert option in command
    assert convert_main(shlex.split(command)) == 0
    assert warning(tmp_path, capsys) == ""


def test_a_place_that_is_named_makes_it_fit(said, tmp_path):
    text = said(forest())
    [nbytes] = re.findall(r"It fits with mpconnxr flash \S+ --reserve (\d+)\.\n$", text)
    model, board = read_model(tmp_path / "model.bin"), boards.named(BOARD)
    assert len(model.data) <= int(nbytes) <= board.flash_bytes - board.filesystem_bytes
    way = plan_deployment(model, Package(), board.machine, in_place=True)
    needs = fit.needs_of(model, way.files, in_place=True, program_for=way.program_for)
    assert fit.shortage(needs, 0, fit.memory_of(board)) == ""


def test_no_option_is_named_for_a_picture_that_is_too_large(said):
    text = said(large_picture())
    assert "the whole file system has" not in text and "--" not in text
    assert "its inputs or outputs alone take 940,800 bytes of heap; about 209,936 are" in text
    assert text.endswith(
        "None of the converter's options for arena, window and weights makes it fit.\n"
    )


def test_options_that_are_not_known_are_not_guessed(said):
    """Of a file that was made with options, or whose .onnx is not there."""
    text = said(wide_layer(), "--float", "fast16")
    assert text.endswith(f"model.onnx --board {BOARD} tries what would help.\n")
    assert "--window" not in text
    text = said(wide_layer(), source=False)
    assert "mpconnxr advise " in text and "with the path of the .onnx, tries" in text
