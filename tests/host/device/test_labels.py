"""Labels in the file, model.labels and model.predict, as docs/api.md has it."""

import pytest

from tests.host.device import small
from tests.host.program import programs
from tools.converter.__main__ import main
from tools.converter.convert import Options, convert
from tools.converter.errors import UsageError
from tools.format import layout, reader
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
NAMES = ("zero", "één", "two words")
SCRIPT = """
import mpconnxr
m = mpconnxr.load("m.bin")
print(m.labels is m.labels, type(m.labels).__name__, *(m.labels or ()))
print(m.predict([0.5, 3, 2]), m.predict([[9, -1, 2]]))
m.inputs[0].data[2] = 20
print(m.predict())
"""


def scores(names=NAMES, shape=(1, 3)):
    return convert(small.relu(shape), Options(class_names=names)).data


@every_target
def test_labels_of_kernels_and_of_programs(target):
    data = scores()
    wanted = ["True tuple zero één two words", "één zero", "two words"]
    assert small.lines(target, SCRIPT, m=data) == wanted
    assert programs.run(target, SCRIPT, [programs.made(data, target)], {"m.bin": data}) == wanted


@every_target
def test_without_labels_a_class_is_its_number(target):
    wanted = ["True NoneType", "1 0", "2"]
    assert small.lines(target, SCRIPT, m=scores(())) == wanted


@every_target
def test_rows_are_a_list_and_other_models_have_values(target):
    script = """
import mpconnxr
print(*mpconnxr.load("rows.bin").predict([[0, 5, 1], [3, 2, 1]]))
print(mpconnxr.load("one.bin").predict([2.5]))
print(mpconnxr.load("labels.bin").predict([2.5, 7]))
"""
    label = small.model(
        [("ArgMax", "x", "label", {"axis": 1, "keepdims": 0}), ("Relu", "x", "p", {})],
        [small.value("x", (1, 2))],
        [small.value("label", (1,), 7), small.value("p", (1, 2))],
    )
    files = {
        "rows": scores(shape=(2, 3)),
        "one": small.binary(small.relu((1, 1))),
        "labels": small.binary(label),
    }
    assert small.lines(target, script, **files) == ["één zero", "2.5", "1"]


@every_target
def test_labels_that_are_no_text_are_refused_when_they_are_asked_for(target):
    data = bytearray(scores())
    at = bytes(data).index("één".encode())
    data[at] = 0xFF
    script = """
import mpconnxr
m = mpconnxr.load("m.bin", verify=False)
print(list(m.run([1, 2, 3])[0].data))
try:
    print(m.labels)
except mpconnxr.ModelError as e:
    print("ModelError")
"""
    assert small.lines(target, script, m=bytes(data)) == ["[1.0, 2.0, 3.0]", "ModelError"]


def test_a_file_without_labels_keeps_its_bytes():
    data = scores(())
    assert not any(c.kind == layout.CHUNK_LABELS for c in reader.read(data).chunks)
    assert convert(small.relu((1, 3))).data == data


def test_the_number_has_to_be_that_of_an_output():
    with pytest.raises(UsageError, match=r"4 labels, but y has \[1, 3\]"):
        convert(small.relu((1, 3)), Options(class_names=["a", "b", "c", "d"]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "is empty"),
        (b"a\n\nb\n", "line 2: an empty label"),
        (b"a\nb\na\n", "line 3: a appears twice"),
        (b"a\n\xff\n", "is not UTF-8, at byte 2"),
        (b"a\nb\x07\nc", "line 2: a control character"),
        (b"a\nb\n", "2 labels, but y has [1, 3]"),
    ],
)
def test_a_file_of_names_that_does_not_fit_is_wrong_usage(text, said, tmp_path, capsys):
    (tmp_path / "names.txt").write_bytes(text)
    (tmp_path / "m.onnx").write_bytes(small.relu((1, 3)).SerializeToString())
    argv = [str(tmp_path / "m.onnx"), "--labels-file", str(tmp_path / "names.txt")]
    assert main(argv) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "m.bin").exists()


def test_the_command_line_puts_them_into_the_file(tmp_path, capsys):
    (tmp_path / "names.txt").write_bytes("\ufeffzero\r\néén\r\ntwo words\r\n\r\n".encode())
    (tmp_path / "m.onnx").write_bytes(small.relu((1, 3)).SerializeToString())
    argv = [str(tmp_path / "m.onnx"), "--labels-file", str(tmp_path / "names.txt")]
    assert main(argv) == 0
    (chunk,) = (
        c
        for c in reader.read((tmp_path / "m.bin").read_bytes()).chunks
        if c.kind == layout.CHUNK_LABELS
    )
    assert bytes(chunk.data).decode().split("\0") == [*NAMES, ""]
    capsys.readouterr()
    assert main(["inspect", str(tmp_path / "m.bin")]) == 0
    assert "labels   zero, één, two words" in capsys.readouterr().out
