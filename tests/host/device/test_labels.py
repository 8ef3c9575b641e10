"""Labels in the file, model.labels and model.predict follow docs/api.md."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.device import binfile, small
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
def test_labels_work_with_kernels_and_programs(target):
    data = scores()
    expected = ["True tuple zero één two words", "één zero", "two words"]
    assert small.lines(target, SCRIPT, m=data) == expected
    assert programs.run(target, SCRIPT, [programs.made(data, target)], {"m.bin": data}) == expected


@every_target
def test_without_labels_a_class_is_its_number(target):
    expected = ["True NoneType", "1 0", "2"]
    assert small.lines(target, SCRIPT, m=scores(())) == expected


@every_target
def test_predict_returns_a_list_for_rows_and_values_without_classes(target):
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
def test_labels_that_are_not_utf8_have_marks(target):
    data = binfile.with_bytes(scores(), "één".encode(), b"\xff\xfen\xc3\xff")
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
print(list(m.run([1, 2, 3])[0].data))
print([ord(c) for c in m.labels[1]], len(m.predict([1, 3, 2])))
"""
    marks = "[65533, 65533, 110, 65533, 65533] 5"
    assert small.lines(target, script, m=data) == ["[1.0, 2.0, 3.0]", marks]


def test_a_file_without_labels_keeps_its_bytes():
    data = scores(())
    assert not any(c.kind == layout.CHUNK_LABELS for c in reader.read(data).chunks)
    assert convert(small.relu((1, 3))).data == data


def test_the_number_of_labels_must_match_an_output():
    with pytest.raises(UsageError, match=r"4 labels, but y has \[1, 3\]"):
        convert(small.relu((1, 3)), Options(class_names=["a", "b", "c", "d"]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is empty"),
        (b"a\n\nb\n", "line 2: an empty label"),
        (b"a\nb\na\n", "line 3: a appears twice"),
        (b"a\n\xff\n", "is not UTF-8, at byte 2"),
        (b"a\nb\x07\nc", "line 2: a control character"),
        (b"a\nb\n", "2 labels, but y has [1, 3]"),
    ],
)
def test_a_wrong_file_of_labels_is_wrong_usage(text, message, tmp_path, capsys):
    (tmp_path / "names.txt").write_bytes(text)
    (tmp_path / "m.onnx").write_bytes(small.relu((1, 3)).SerializeToString())
    argv = [str(tmp_path / "m.onnx"), "--labels-file", str(tmp_path / "names.txt")]
    assert main(argv) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "m.bin").exists()


def test_the_command_line_adds_labels_to_the_file(tmp_path, capsys):
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


@every_target
def test_maps_of_two_rows_have_two_labels(target):
    classes = {"classlabels_int64s": [7, 8, 9]}
    node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", **classes)
    row = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(1, ()))
    y = helper.make_value_info("y", helper.make_sequence_type_proto(row))
    data = convert(small.model([node], [small.value("x", (2, 3))], [y])).data
    script = "import mpconnxr\nprint(mpconnxr.load('m.bin').predict([1, 3, 2, 5, 0, 1]))"
    assert small.lines(target, script, m=data) == ["[8, 7]"]


@every_target
def test_predict_applies_softmax_and_thresholds(target):
    script = """
import mpconnxr
def shown(found):
    return found[0], "{:.4f}".format(found[1])
m = mpconnxr.load("m.bin")
x = [1, 3, 2]
print(m.predict(x, threshold=3), m.predict(x, threshold=3.5), *m.predict(x, score=True))
print(*shown(m.predict(x, softmax=True, score=True)), m.predict(x, softmax=True))
print(m.predict(x, softmax=True, threshold=0.6), m.predict(x, softmax=True, threshold=0.7))
rows = mpconnxr.load("rows.bin")
print(*rows.predict([[0, 5, 1], [3, 2.5, 3]], softmax=True, threshold=0.6))
labels = mpconnxr.load("labels.bin")
print(labels.predict([2.5, 7], threshold=6, score=True), labels.predict([2.5, 7], threshold=8))
for keywords in ({"threshold": 0.5}, {"softmax": True}, {"score": True}):
    try:
        mpconnxr.load("one.bin").predict([2.5], **keywords)
    except mpconnxr.InputError as e:
        print(e)
"""
    label = small.model(
        [("ArgMax", "x", "label", {"axis": 1, "keepdims": 0}), ("Relu", "x", "p", {})],
        [small.value("x", (1, 2))],
        [small.value("label", (1,), 7), small.value("p", (1, 2))],
    )
    files = {
        "m": scores(),
        "rows": scores(shape=(2, 3)),
        "labels": small.binary(label),
        "one": small.binary(small.relu((1, 1))),
    }
    assert small.lines(target, script, **files) == [
        "één None één 3.0",
        "één 0.6652 één",
        "één None",
        "één None",
        "(1, 7.0) None",
        *["predict: no output has scores of classes"] * 3,
    ]


WRONG_WAY = """
import mpconnxr
numbers, named = mpconnxr.load("numbers.bin"), mpconnxr.load("named.bin")
for x in (-1.5, 0.5):
    print(numbers.predict([x]), numbers.predict([x], score=True), named.predict([x]), end=" ")
    print(named.predict([x], score=True), numbers.predict([x], threshold=1))
"""


@every_target
def test_an_own_class_keeps_its_score_if_scores_of_two_are_in_the_wrong_order(target):
    """The scores are [x, -x], the class is 0 for x < 0: those of an exported binary SVC."""
    nodes = [
        ("Neg", "x", "n", {}),
        ("Concat", "x n", "scores", {"axis": 1}),
        ("ArgMin", "scores", "label", {"axis": 1, "keepdims": 0}),
    ]
    outputs = [small.value("label", (1,), 7), small.value("scores", (1, 2))]
    model = small.model(nodes, [small.value("x", (1, 1))], outputs)
    files = {
        "numbers": convert(model).data,
        "named": convert(model, Options(class_names=("no", "yes"))).data,
    }
    assert small.lines(target, WRONG_WAY, **files) == [
        "0 (0, -1.5) no ('no', -1.5) None",
        "1 (1, -0.5) yes ('yes', -0.5) None",
    ]


@every_target
def test_scores_of_other_classes_are_those_of_the_largest(target):
    """The classes 1, 2 and 3 of scikit-learn have the columns 0, 1 and 2."""
    nodes = [
        ("ArgMax", "x", "best", {"axis": 1, "keepdims": 0}),
        ("Add", "best one", "label", {}),
        ("Relu", "x", "scores", {}),
    ]
    outputs = [small.value("label", (1,), 7), small.value("scores", (1, 3))]
    model = small.model(nodes, [small.value("x", (1, 3))], outputs, one=np.array([1]))
    script = """
import mpconnxr
print(mpconnxr.load("m.bin").predict([0.25, 0.5, 0.25], score=True))
print(*mpconnxr.load("named.bin").predict([0.25, 0.5, 0.25], score=True))
"""
    files = {"m": convert(model).data, "named": convert(model, Options(class_names=NAMES)).data}
    assert small.lines(target, script, **files) == ["(2, 0.5)", "één 0.5"]
