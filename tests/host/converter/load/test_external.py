"""External data may lie in the model's folder only; missing files are named."""

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.host.converter.test_convert import cli, model_of, value
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError


def test_external_data_stays_inside_the_models_folder(tmp_path):
    nodes = [helper.make_node("Gemm", ["x", "w"], ["y"])]
    w = np.ones((64, 64), np.float32)
    model = model_of(nodes, [value("x", [1, 64])], [value("y", [1, 64])], [("w", w)])
    folder = tmp_path / "model"
    folder.mkdir()
    path = folder / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="m.data", size_threshold=0)
    assert convert(path, Options(float="python")).report()["weight_bytes"] == w.nbytes
    (tmp_path / "m.data").write_bytes((folder / "m.data").read_bytes())
    escaped = onnx.load(path, load_external_data=False)
    for entry in escaped.graph.initializer[0].external_data:
        if entry.key == "location":
            entry.value = "../m.data"
    path.write_bytes(escaped.SerializeToString())
    with pytest.raises(ConvertError, match="its external data: "):
        convert(path)


def test_missing_external_data_are_named(tmp_path):
    model = model_of(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        [value("x", [64])],
        [value("y", [64])],
        [("w", np.ones(64, np.float32))],
    )
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="m.data", size_threshold=0)
    (tmp_path / "m.data").unlink()
    completed = cli(path, tmp_path / "m.bin")
    data = f"its external data file {tmp_path / 'm.data'} is missing"
    assert completed.stderr == f"converter: {path}: {data}\n"
