"""Names that are not UTF-8 are refused at conversion and displayed with marks elsewhere."""

import os
import subprocess

import pytest

from tests.host.device import binfile, small
from tests.host.fake_board import FakeBoard
from tests.host.program import programs
from tools.converter.__main__ import main as converter
from tools.converter.convert import Options, convert
from tools.dist.__main__ import main as dist
from tools.micropython import UNIX_TARGETS

BAD, MARKS = b"\xff\xfe", [0xFFFD] * 2
SCRIPT = """
import mpconnxr

def shown(text):
    # points of code, which every port prints alike
    return [ord(c) for c in text][-5:]

m = mpconnxr.load("m.bin")
x = [0.0, 2.0, 1.0]
print(list(m.run(x)[0].data), shown(m.predict(x)), [shown(label) for label in m.labels])
print(shown(m.profile().steps[0].name), "\\ufffd" in str(m.profile()))
print([t.name for t in m.inputs + m.outputs], repr(m.outputs[0])[:15])
if type(m).__name__ == "Model":
    m.trace(x, write=lambda line: print(shown(line.split()[2])))
    print(list(m.run({"input_0": x})[0].data))
"""


def points(text):
    return [0xFFFD if c == "?" else ord(c) for c in text][-5:]


def network():
    ends = [small.value("image", (1, 3))], [small.value("scores", (1, 3))]
    result = small.model([("Relu", "image", "scores", {})], *ends)
    result.graph.node[0].name = "rectifier"
    return result


@pytest.fixture(scope="module")
def data():
    """Return a model file with names of a node and a class that are not UTF-8."""
    result = convert(network(), Options(class_names=("one", "second", "three"))).data
    result = binfile.with_bytes(result, b"rectifier", b"rectif" + BAD + b"r")
    return binfile.with_bytes(result, b"second", b"sec" + BAD + b"d")


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_a_board_shows_marks(target, data):
    label, node = points("sec??d"), points("tif??r")
    expected = [
        f"[0.0, 2.0, 1.0] {label} {[points('one'), label, points('three')]}",
        f"{node} True",
        "['image', 'scores'] <Tensor scores ",
    ]
    made = programs.made(data, target)
    assert programs.run(target, SCRIPT, [made], {"m.bin": data}) == expected
    nameless = binfile.with_bytes(data, b"image\0", b"ima" + BAD + b"\0")
    expected[2] = "['input_0', 'output_0'] <Tensor output_"
    expected += [str(node), "[0.0, 2.0, 1.0]"]
    assert small.lines(target, SCRIPT, m=nameless) == expected


@pytest.mark.parametrize("options", ([], ["--interpret"]))
def test_flash_shows_marks(ready_target, tmp_path, capsys, data, options):
    executable, folder = ready_target("unix").build(), tmp_path / "board"
    (tmp_path / "m.bin").write_bytes(binfile.with_bytes(data, b"image\0", b"ima" + BAD + b"\0"))
    folder.mkdir()
    with FakeBoard(executable, folder) as board:
        assert board.deploy(tmp_path / "m.bin", *options) == 0
    assert "\nverified: error 0" in capsys.readouterr().out
    script = 'import mpconnxr\nm = mpconnxr.load("m.bin")\nprint(m.predict([0.0, 2.0, 1.0]))'
    completed = subprocess.run(
        [executable, "-c", script],
        cwd=folder,
        env=os.environ | {"MICROPYPATH": ":lib"},
        capture_output=True,
    )
    assert completed.stdout.decode() == "sec\ufffd\ufffdd\n", completed


def test_dist_and_inspect_show_marks(tmp_path, capsys, data):
    (tmp_path / "m.bin").write_bytes(data)
    argv = ["--model", str(tmp_path / "m.bin"), "--board", "pico", "--to", str(tmp_path / "d")]
    assert dist(argv) == 0
    assert converter(["inspect", str(tmp_path / "m.bin")]) == 0
    assert "labels   one, sec\ufffd\ufffdd, three" in capsys.readouterr().out


@pytest.mark.parametrize("name", ("image", "scores", "rectifier"))
def test_a_conversion_refuses_names_that_are_not_utf8(tmp_path, capsys, name):
    raw = network().SerializeToString().replace(name.encode(), name[:-2].encode() + BAD)
    (tmp_path / "m.onnx").write_bytes(raw)
    assert converter([str(tmp_path / "m.onnx"), str(tmp_path / "m.bin")]) == 1
    error = capsys.readouterr().err
    assert "is not UTF-8" in error and error.count("\n") == 1


@pytest.mark.parametrize("name", ("image", "scores", "rectifier"))
@pytest.mark.parametrize("odd", ("\0\0", "\x1b[", "\n\r"))
def test_control_characters_are_escaped(tmp_path, capsys, name, odd):
    raw = network().SerializeToString().replace(name.encode(), (name[:-2] + odd).encode())
    (tmp_path / "m.onnx").write_bytes(raw)
    assert converter([str(tmp_path / "m.onnx"), str(tmp_path / "m.bin")]) == 0
    assert converter(["inspect", str(tmp_path / "m.bin")]) == 0
    assert odd not in capsys.readouterr().out
    assert name[:-2].encode() + odd.encode() not in (tmp_path / "m.bin").read_bytes()
