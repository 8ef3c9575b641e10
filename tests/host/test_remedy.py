"""The remedy that flash names for a model that does not fit works."""

import re
import shlex

import numpy as np
import onnx
import pytest
from onnx import TensorProto
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
    """Return one operator of floats between an input x and an output y."""
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
    """Return a model with one large value, between its first two layers."""
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
    """Return a forest: trees are in memory as a whole, and only in place take no heap."""
    digits = load_digits()
    labels = np.random.default_rng(0).integers(0, 9, len(digits.data))
    trained = RandomForestClassifier(36, random_state=1).fit(digits.data, labels)
    outputs = [small.value("label", [1], TensorProto.INT64), small.value("p", [1, 9])]
    return small.model([forest_node(trained)], [small.value("x", [1, 64])], outputs)


@pytest.fixture
def warning_of(tmp_path, capsys):
    """Return a function: flash's warning for a model and BOARD, the .onnx beside the model."""

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
def test_a_suggested_command_makes_the_model_fit(
    model, lack, option, warning_of, tmp_path, capsys
):
    text = warning_of(model())
    assert text.startswith(f"flash: warning: too large for {BOARD}: ") and lack in text
    [command] = re.findall(r"It fits with mpconnxr convert (.*) and mpconnxr flash \S+\.\n$", text)
    assert option in command
    assert convert_main(shlex.split(command)) == 0
    assert warning(tmp_path, capsys) == ""


@pytest.mark.slow
def test_a_suggested_place_makes_the_model_fit(warning_of, tmp_path):
    text = warning_of(forest())
    [nbytes] = re.findall(r"It fits with mpconnxr flash \S+ --reserve (\d+)\.\n$", text)
    model, board = read_model(tmp_path / "model.bin"), boards.named(BOARD)
    assert len(model.data) <= int(nbytes) <= board.flash_bytes - board.filesystem_bytes
    deployment = plan_deployment(model, Package(), board.machine, in_place=True)
    needs = fit.needs_of(
        model, deployment.files, in_place=True, program_for=deployment.program_for
    )
    assert fit.shortage(needs, 0, fit.memory_of(board)) == ""


def test_no_option_is_suggested_for_a_too_large_image(warning_of):
    text = warning_of(large_picture())
    assert "the whole file system has" not in text and "--" not in text
    assert "its inputs or outputs alone take 940,800 bytes of heap; about 209,936 are" in text
    assert text.endswith("No option makes it fit: export the model for smaller inputs\n")


@pytest.mark.slow
def test_unknown_options_are_not_guessed(warning_of):
    """The file was made with options, or its .onnx is absent."""
    text = warning_of(wide_layer(), "--float", "fast16")
    assert text.endswith(f"model.onnx --board {BOARD} tries what would help.\n")
    assert "--window" not in text
    text = warning_of(wide_layer(), source=False)
    assert "mpconnxr advise " in text and "with the path of the .onnx, tries" in text
