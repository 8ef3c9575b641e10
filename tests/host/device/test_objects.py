"""Strings and maps on the device: inputs, outputs, and damaged files."""

import math
import struct

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.file import tensorfile
from tools.format import layout, reader
from tools.format.objects import string_bytes
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
STRING = TensorProto.STRING


def words():
    """Return a model of strings (2, 2): concatenated, and the first row without a stopword."""
    nodes = [
        ("StringConcat", "x mark", "y", {}),
        ("Slice", "x zero one", "row", {}),
        ("StringNormalizer", "row", "kept", {"case_change_action": "LOWER", "stopwords": ["NO"]}),
    ]
    outputs = [small.value("y", (2, 2), STRING), small.value("kept", (1, None), STRING)]
    constants = {
        "mark": np.array(["!", "é"], object),
        "zero": np.array([0]),
        "one": np.array([1]),
    }
    return small.model(nodes, [small.value("x", (2, 2), STRING)], outputs, opset=20, **constants)


def mapped():
    """Return a model from a map of two numbers to their doubles as a list of maps."""
    ml = {"domain": "ai.onnx.ml"}
    entry = helper.make_map_type_proto(STRING, helper.make_tensor_type_proto(1, []))
    out = helper.make_sequence_type_proto(entry)
    nodes = [
        ("DictVectorizer", "m", "v", {"string_vocabulary": ["a", "b"], **ml}),
        ("Add", "v v", "w", {}),
        ("ZipMap", "w", "z", {"classlabels_strings": ["x", "y"], **ml}),
    ]
    infos = [helper.make_value_info("m", entry)], [helper.make_value_info("z", out)]
    return small.model(nodes, *infos)


def casts():
    """Return a model from numbers to strings and back, with choices between strings."""
    nodes = [
        ("Cast", "x", "t", {"to": STRING}),
        ("Gather", "t i", "g", {"axis": 1}),
        ("Where", "c g t", "w", {}),
        ("Cast", "w", "y", {"to": 1}),
        ("Reshape", "w flat", "v", {}),
        ("StringNormalizer", "v", "n", {"stopwords": ["1.0"]}),
        ("Unsqueeze", "n zero", "u", {}),
        ("RegexFullMatch", "w", "r", {"pattern": r"-?\d\.\d+"}),
    ]
    constants = {"zero": np.array([0]), "flat": np.array([-1])}
    inputs = [
        small.value("x", (2, 2)),
        small.value("i", (2,), TensorProto.INT64),
        small.value("c", (2, 1), TensorProto.BOOL),
    ]
    outputs = [
        small.value("y", (2, 2)),
        small.value("u", (1, None), STRING),
        small.value("r", (2, 2), TensorProto.BOOL),
    ]
    return small.model(nodes, inputs, outputs, opset=20, **constants)


def tokens():
    """Return a model of the words of two strings, and which strings match a pattern."""
    ms = {"domain": "com.microsoft", "mark": 1, "mincharnum": 1, "pad_value": "#"}
    nodes = [
        ("Tokenizer", "x", "y", {"tokenexp": "[a-c]+1?", **ms}),
        ("Tokenizer", "x", "parts", {"separators": [" +", "[bc]"], **ms}),
        ("RegexFullMatch", "x", "r", {"pattern": "[a-c]+1?"}),
    ]
    outputs = [
        small.value("y", (2, None), STRING),
        small.value("parts", (2, None), STRING),
        small.value("r", (2,), TensorProto.BOOL),
    ]
    return small.model(nodes, [small.value("x", (2,), STRING)], outputs, opset=20)


def binary(model):
    return convert(model, Options(strip=False)).data


@every_target
@pytest.mark.parametrize(
    "x", ['["a", "No", "é", ""]', '[["a", "No"], ["é", ""]]', '{"x": list("anop")}']
)
def test_strings_are_inputs_and_outputs(target, x):
    script = f"""
import mpconnxr
m = mpconnxr.load("m.bin")
x = {x}
t, = m.inputs
print(t.name, t.dtype, t.shape, t.nelem, t.data)
y, kept = m.run(x)
print(y.name, y.dtype, y.shape, y.data)
print(kept.shape, kept.data)
t.data[0] = "NO"
m.run()
print(y.data[0], kept.shape, kept.data)
"""
    flat = list("anop") if "anop" in x else ["a", "No", "é", ""]
    kept = [s.lower() for s in flat[:2] if s.upper() != "NO"]
    again = (kept[1:] if flat[0] != "NO" else kept) or [""]
    joined = [s + mark for s, mark in zip(flat, ["!", "é"] * 2, strict=True)]
    assert small.lines(target, script, m=binary(words())) == [
        "x string (2, 2) 4 ['', '', '', '']",
        f"y string (2, 2) {joined!a}",
        f"(1, {len(kept)}) {kept!a}",
        f"NO! (1, {len(again)}) {again!a}",
    ]


@every_target
def test_maps_are_inputs_and_outputs(target):
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
z, = m.run([{"a": 1, "b": -0.25, "c": 9}])
print(m.inputs[0].dtype, m.inputs[0].shape, z.dtype, z.shape, z.data[0]["x"], z.data[0]["y"])
m.run({"m": {"b": 4.0}})
print(len(z.data), z.data[0]["x"], z.data[0]["y"])
print(mpconnxr.InferenceSession("m.bin").run(["z"], {"m": {"a": 3.0}})[0][0]["x"])
"""
    assert small.lines(target, script, m=binary(mapped())) == [
        "map(string,float32) () seq(map(string,float32)) (1,) 2.0 -0.5",
        "1 0.0 8.0",
        "6.0",
    ]


@every_target
def test_strings_and_numbers_mix_in_one_model(target):
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
y, u, r = m.run([[1, 2.5, -0.25, 1e-7], [1, -1], [True, False]])
print(list(y.data)[:3], 0 < y.data[3] < 2e-7)
print(u.shape, u.data)
print(list(r.data))
"""
    lines = small.lines(target, script, m=binary(casts()))
    assert lines[0] == "[2.5, 2.5, -0.25] True"
    assert lines[1] == "(1, 4) ['2.5', '2.5', '-0.25', '1e-07']"
    assert lines[2].replace("True", "1").replace("False", "0") == "[1, 1, 1, 0]"


@every_target
@pytest.mark.parametrize(
    ("model", "values"),
    [
        (words, ["['a']", "['a', 'b', 'c', 1]", "b'abcd'", "'a'", "[['a', 'b', 'c', 'd']]", "1"]),
        (mapped, ["[1]", "[{'a': 'x'}]", "[{1: 1.0}]", "{'a': 1.0}", "['a']", "b''"]),
    ],
)
def test_values_that_do_not_fit_are_refused(target, model, values):
    script = f"""
import mpconnxr
m = mpconnxr.load("m.bin")
for x in {", ".join(values)}:
    try:
        m.run(x)
        print("taken", x)
    except mpconnxr.InputError as e:
        print("refused", e)
"""
    printed = small.lines(target, script, m=binary(model()))
    assert len(printed) == len(values) and all(s.startswith("refused ") for s in printed), printed


def test_tensor_files_hold_strings(target):
    x = np.array([["a", "é\n"], ["", "日本"]])
    data = tensorfile.tensor_file({"t": x})
    script = """
from mpconnxr import tensorfile
t, = tensorfile.read("x.bin")
print(t.name, t.dtype, t.shape, t.data)
"""
    assert small.lines(target, script, x=data) == [f"t string (2, 2) {x.ravel().tolist()!a}"]


def test_a_file_declares_its_objects():
    data = binary(words())
    assert struct.unpack_from("<I", data, 12)[0] == layout.FEATURE_OBJECTS
    stored = reader.read(data)
    kinds = {(t.dtype == STRING, t.storage == 2, t.storage == 0) for t in stored.tensors}
    assert (True, True, False) in kinds and (True, False, False) in kinds
    open_dims = [t.shape for t in stored.tensors if -1 in t.shape]
    assert open_dims == [(1, -1)]
    mark = string_bytes(np.array(["!", "é"]))
    assert mark == b"\1\0\0\0!\2\0\0\0\xc3\xa9" and mark in data
    assert not reader.read(small.binary(small.relu())).features


def test_models_without_objects_import_no_object_code(target):
    script = """
import sys, mpconnxr
mpconnxr.load("m.bin").run()
print([name for name in sys.modules if "objects" in name or "string" in name])
"""
    assert small.lines(target, script, m=small.binary(small.relu())) == ["[]"]


def test_verify_reports_a_missing_vector(target):
    script = """
import mpconnxr
from mpconnxr import golden
try:
    golden.verify("m.bin")
except mpconnxr.ModelError as e:
    print(e)
"""
    assert "no golden vector" in small.lines(target, script, m=binary(words()))[0]


@every_target
@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (b"\1\0\0\0!\2\0\0\0\xc3\xa9", b"\1\0\0\0!\2\0\0\0\xc3\x28"),  # not UTF-8
        (b"\1\0\0\0!\2\0\0\0\xc3\xa9", b"\1\0\0\0!\3\0\0\0\xc3\xa9"),  # beyond the tensor
        (b"\1\0\0\0!\2\0\0\0\xc3\xa9", b"\1\0\0\0!\1\0\0\0aa"),  # bytes left over
        (b"\1\0\0\0!\2\0\0\0\xc3\xa9", b"\7\0\0\0!\2\0\0\0\xc3\xa9"),  # one string only
        (b"\1\0\0\0!\2\0\0\0\xc3\xa9", b"\1\0\0\0!\xff\xff\xff\xff\xc3\xa9"),
    ],
)
def test_damaged_strings_are_refused(target, good, bad):
    data = binary(words())
    assert data.count(good) == 1
    script = """
import mpconnxr
try:
    mpconnxr.load("m.bin", verify=False)
except mpconnxr.ModelError as e:
    print(e)
"""
    assert "tensor" in small.lines(target, script, m=data.replace(good, bad))[0]


@every_target
def test_a_damaged_automaton_reads_nothing_outside(target):
    data = binary(tokens())
    tables = [t for t in reader.read(data).tensors if t.dtype == TensorProto.INT32]
    ends = [(t.offset, t.offset + 4 * math.prod(t.shape)) for t in tables]
    assert len(ends) == 9
    script = f"""
import mpconnxr, struct
good = open("m.bin", "rb").read()
refused, found = 0, set()
for start, end in {ends}:
    for at in range(start, end, 4):
        for value in (0, 1, 2, 3, 9, -1, 0x7FFFFFFF, -0x80000000):
            data = bytearray(good)
            struct.pack_into("<i", data, at, value)
            try:
                model = mpconnxr.load(data, verify=False)
                found.add(str([t.data for t in model.run(["aab1 c", "ab"])]))
            except mpconnxr.ModelError:
                refused += 1
print(refused > 200, len(found) > 10)
"""
    assert small.lines(target, script, m=data) == ["True True"]


@pytest.mark.slow
@every_target
@pytest.mark.parametrize("model", [words, mapped, casts, tokens])
@pytest.mark.parametrize(("mode", "amount"), [("bits", "8"), ("words", "1"), ("several", "400")])
def test_damage_does_no_harm(target, model, mode, amount):
    data = convert(model(), Options(strip=True, keep_inputs=True)).data
    report = small.damage(target, data, mode, amount)
    assert report.ok and report.refused > 100 and report.ran > 20, report
