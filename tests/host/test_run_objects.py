"""python -m tools.run with strings and maps: .npy and .json, in and out."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.host.device import small
from tools.run.__main__ import main


@pytest.fixture(autouse=True)
def _built(target):
    """Skip the tests if `unix`, on which all run, cannot be built."""


def saved(path, nodes, inputs, outputs):
    onnx.save(small.model(nodes, inputs, outputs, 20), path)
    return str(path)


def strings(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.STRING, shape)


def map_type(keys):
    return helper.make_map_type_proto(keys, helper.make_tensor_type_proto(TensorProto.FLOAT, []))


@pytest.fixture
def split(tmp_path):
    """Return the path of an .onnx that splits strings at commas."""
    node = helper.make_node("StringSplit", ["x"], ["y", "n"], delimiter=",")
    counts = helper.make_tensor_value_info("n", TensorProto.INT64, ["n"])
    outputs = [strings("y", ["n", "m"]), counts]
    return saved(tmp_path / "split.onnx", [node], [strings("x", ["n"])], outputs)


def test_strings_are_run_and_saved(split, tmp_path, capsys):
    x = np.array(["a,b", "é", ",,日本"])
    np.save(tmp_path / "x.npy", x)
    options = ["--output-dir", str(tmp_path), "--compare", split, "--json"]
    assert main([split, str(tmp_path / "x.npy"), *options]) == 0
    got = np.load(tmp_path / "output_0.npy")
    assert got.tolist() == [["a", "b", ""], ["é", "", ""], ["", "", "日本"]]
    assert np.load(tmp_path / "output_0_1.npy").tolist() == [2, 1, 3]
    report = json.loads(capsys.readouterr().out)
    assert [e["max_abs"] for e in report["errors"]] == [0, 0]
    first = report["samples"][0]["outputs"][0]
    assert (first["dtype"], first["shape"]) == ("string", [3, 3])


def test_strings_are_printed(split, tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.array(["a,b"]))
    assert main([split, str(tmp_path / "x.npy")]) == 0
    assert "[['a' 'b']]" in capsys.readouterr().out


@pytest.mark.parametrize("x", [np.array([1.0]), np.array([["a"]])])
def test_other_arrays_are_refused(split, tmp_path, x, capsys):
    np.save(tmp_path / "x.npy", x)
    assert main([split, str(tmp_path / "x.npy")]) == 2
    assert "input x string [n]" in capsys.readouterr().err


@pytest.fixture
def maps(tmp_path):
    """Return the path of an .onnx from a map to a list of maps."""
    ml = {"domain": "ai.onnx.ml"}
    nodes = [
        helper.make_node("DictVectorizer", ["x"], ["v"], int64_vocabulary=[3, -1], **ml),
        helper.make_node("ZipMap", ["v"], ["y"], classlabels_strings=["three", "é"], **ml),
    ]
    out = helper.make_sequence_type_proto(map_type(TensorProto.STRING))
    inputs = [helper.make_value_info("x", map_type(TensorProto.INT64))]
    return saved(tmp_path / "maps.onnx", nodes, inputs, [helper.make_value_info("y", out)])


def test_maps_are_run_and_saved(maps, tmp_path, capsys):
    (tmp_path / "input_4.json").write_text('{"3": 0.5, "-1": -2}')
    options = ["--samples", str(tmp_path), "--output-dir", str(tmp_path), "--compare", maps]
    assert main([maps, *options]) == 0
    assert json.loads((tmp_path / "output_4.json").read_text()) == [{"three": 0.5, "é": -2.0}]
    assert "error of y: max 0" in capsys.readouterr().out


@pytest.mark.parametrize("text", ['{"a": 1}', "[1]", "{", '{"3": "x"}'])
def test_other_json_is_refused(maps, tmp_path, text, capsys):
    (tmp_path / "x.json").write_text(text)
    assert main([maps, str(tmp_path / "x.json")]) != 0
    assert capsys.readouterr().err.startswith("run: ")
