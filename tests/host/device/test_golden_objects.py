"""Golden vectors of models that end in string labels and a ZipMap, as skl2onnx exports them."""

import json
import struct

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.host import zoo
from tests.host.device import small
from tests.host.fake_board import FakeBoard
from tools.converter.convert import convert
from tools.converter.file import writer
from tools.converter.reference import golden
from tools.format import layout
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
LABELS = ["fig", "péar", 'a "quoted" \\'], [-3, 5, 1 << 40]
VERIFY = """
from mpconnxr import ModelError, golden
for name in NAMES:
    try:
        r = golden.verify(name + ".bin")
        print(name, r.ok, r.vectors, r.max_error < 1e-5, r.largest)
    except ModelError as e:
        print(name, e)
"""


def classifier(labels=LABELS[0], rows=2) -> onnx.ModelProto:
    """Return a LogisticRegression as skl2onnx exports it: labels, and a list of maps."""
    kind = "strings" if isinstance(labels[0], str) else "ints"
    key = TensorProto.STRING if kind == "strings" else TensorProto.INT64
    weights = {"coefficients": small.floats(12).tolist(), "intercepts": [0.1, 0.2, -0.3]}
    zipped = "classlabels_strings" if kind == "strings" else "classlabels_int64s"
    nodes = [
        helper.make_node(
            "LinearClassifier",
            ["x"],
            ["label", "p"],
            domain="ai.onnx.ml",
            post_transform="SOFTMAX",
            **{f"classlabels_{kind}": labels},
            **weights,
        ),
        helper.make_node("ZipMap", ["p"], ["maps"], domain="ai.onnx.ml", **{zipped: labels}),
    ]
    number = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(key, number))
    outputs = [small.value("label", (rows,), key), helper.make_value_info("maps", maps)]
    return small.model(nodes, [small.value("x", (rows, 4))], outputs)


def with_chunk(converted, chunk):
    return writer.model_bytes(
        converted.graph, converted.plan.arena_bytes, [(layout.CHUNK_GOLDEN, chunk)]
    )


@every_target
@pytest.mark.parametrize("labels", LABELS)
def test_labels_and_maps_are_compared(target, labels):
    converted = convert(classifier(labels))
    assert not [note for note in converted.notes if "golden" in note]
    inputs = golden.random_inputs(converted.graph)
    label, maps = golden.reference(classifier(labels), inputs)
    other = label.copy()
    other[-1] = next(x for x in labels if x != label[-1])
    far = [maps[0], {k: v + np.float32(0.001) for k, v in maps[1].items()}]
    keys = [maps[0], {**dict(list(maps[1].items())[1:]), type(labels[0])(7): 0.5}]
    cases = {
        "right": (label, maps),
        "label": (other, maps),
        "far": (label, far),
        "keys": (label, keys),
        "few": (label, maps[:1]),
    }
    files = {n: with_chunk(converted, golden.chunk(inputs, [*y])) for n, y in cases.items()}
    files["file"] = converted.data
    script = f"NAMES = {[*files]}\n{VERIFY}"
    results = dict(line.split(" ", 1) for line in small.lines(target, script, **files))
    for name in ("file", "right"):
        assert results[name].startswith("True 1 True ")
    for name in ("label", "far", "keys", "few"):
        assert results[name].startswith("False 1 False "), name


@every_target
def test_damaged_vectors_are_refused(target):
    converted = convert(classifier())
    [x] = golden.random_inputs(converted.graph)
    start = struct.pack("<I2f4x", 1, 0.0, 1.0) + x.tobytes()
    good = b'["a","b"]'

    def value(text, n=None):
        data = struct.pack("<I", len(text) if n is None else n) + text
        return data + bytes(-len(data) % 16)

    maps = {
        "json": b"[[",
        "text": b"[\xff]",
        "number": b"7",
        "deep": b"[" * 500,
        "pairs": b"[[1,2,3],[1,2,3]]",
        "none": b"[[[null,1],[2,3],[4,5]],[]]",
        "key": b'[[[[],1],["b",2],["c",3]],[]]',
    }
    files = {name: start + value(good) + value(text) for name, text in maps.items()}
    files["long"] = start + value(good) + value(b"[]", 1 << 30)
    files["short"] = start + value(good)
    files["many"] = struct.pack("<I", 1 << 31) + start[4:] + value(good) * 2
    files = {name: with_chunk(converted, data) for name, data in files.items()}
    script = f"NAMES = {[*files]}\n{VERIFY}"
    for line in small.lines(target, script, **files):
        name, message = line.split(" ", 1)
        refused = message.startswith("not a valid model file: ")
        assert refused or (name == "none" and message.startswith("False 1 False")), line


def test_a_map_with_nan_has_no_vector():
    maps = [{"a": np.float32(np.nan)}]
    with pytest.raises(ValueError, match="not JSON compliant"):
        golden.chunk([], [maps])
    chunk = golden.chunk([], [[{"a": np.float32(0.1)}]])
    assert json.loads(chunk[20 : 20 + chunk[16]]) == [[["a", 0.1]]]


@pytest.mark.parametrize("labels", LABELS)
def test_flash_verifies(ready_target, tmp_path, labels, monkeypatch, capsys):
    folder, model = tmp_path / "board", tmp_path / "model.bin"
    folder.mkdir()
    model.write_bytes(convert(classifier(labels)).data)
    with FakeBoard(ready_target("unix32").build(), folder) as board:
        assert board.deploy(model) == 0
        assert "\nverified: error " in capsys.readouterr().out
        assert "mpconnxr/inspect/golden_objects.mpy" in board.files()
        right = golden.named_reference

        def wrong(*arguments):
            (name, label), (_, maps) = right(*arguments)
            other = label[::-1] if label[0] != label[1] else label
            return [(name, other), ("maps", maps[::-1])]

        monkeypatch.setattr(golden, "named_reference", wrong)
        model.write_bytes(convert(classifier(labels)).data)
        assert board.deploy(model) == 1
        assert "\nNOT verified: error " in capsys.readouterr().out


@zoo.needs_zoo
@every_target
def test_a_forest_of_the_zoo_reproduces_its_vector(target):
    path = zoo.model_path("skl_rf_wine_zipmap")
    if not path.exists():
        pytest.skip("not in this collection")
    data = convert(onnx.load(path)).data
    [line] = small.lines(target, f"NAMES = ['m']\n{VERIFY}", m=data)
    assert line.startswith("m True 1 True ")
