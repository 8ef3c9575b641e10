"""Files of other kinds are recognized by their contents; messages say how to make an .onnx."""

import gzip
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from onnx import TensorProto, helper

from tools import flash, foreign
from tools.converter.__main__ import main as convert
from tools.errors import ConvertError
from tools.run.__main__ import main as run


def archive(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        for name in names:
            z.writestr(name, b"")
    return file.getvalue()


def array(x):
    file = io.BytesIO()
    np.save(file, x)
    return file.getvalue()


def weights():
    head = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return len(head).to_bytes(8, "little") + head + bytes(4)


KINDS = {
    "tflite": (b"\x1c\0\0\0TFL3" + bytes(50), "tf2onnx.convert --tflite"),
    "keras": (archive("metadata.json", "config.json", "model.weights.h5"), "keras.models.load_"),
    "h5": (b"\x89HDF\r\n\x1a\n" + bytes(50), "keras.models.load_model"),
    "pkl": (pickle.dumps({"coef_": 1}), "skl2onnx.to_onnx"),
    "joblib": (gzip.compress(pickle.dumps({"coef_": 1})), "skl2onnx.to_onnx"),
    "pt": (archive("m/data.pkl", "m/data/0", "m/version"), "torch.onnx.export"),
    "pth": (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02", "torch.onnx.export"),
    "ts": (archive("m/data.pkl", "m/code/__torch__.py"), "TorchScript"),
    "pt2": (archive("m/archive_format", "m/models/model.json"), "torch.export.load"),
    "safetensors": (weights(), "weights without a model"),
    "npz": (archive("x.npy", "y.npy"), "arrays of numpy"),
    "npy": (array(np.ones(3)), "an array of numpy"),
    "gguf": (b"GGUF\3\0\0\0", "language model"),
    "ort": (b"\x20\0\0\0ORTM" + bytes(50), "onnxruntime's own format"),
    "txt": (b"tree\nversion=v4\n", "onnxmltools.convert_lightgbm"),
    "json": (b'{"learner":{}}', "onnxmltools.convert_xgboost"),
    "cbm": (b"CBM1" + bytes(50), "model.save_model("),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    "html": (b"\n<!DOCTYPE html>\n", "page of HTML"),
    "bin": (b"MPCONNXR" + bytes(50), "is converted already"),
}


@pytest.fixture
def onnx_file(tmp_path):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    path = tmp_path / "relu.onnx"
    path.write_bytes(helper.make_model(graph, ir_version=9).SerializeToString())
    return path


@pytest.mark.parametrize("suffix", KINDS)
def test_a_model_of_another_kind_is_named_whatever_it_is_called(suffix, tmp_path):
    data, expected = KINDS[suffix]
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(ConvertError, match=f"^{path} .*"):
        foreign.check_onnx(path)
    with pytest.raises(ConvertError) as refusal:
        foreign.check_onnx(path)
    assert expected in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize("suffix", ["tflite", "keras", "h5", "pkl", "joblib", "pt", "safetensors"])
@pytest.mark.parametrize(
    "command",
    [
        lambda p: convert([p]),
        lambda p: convert(["quantize", p]),
        lambda p: convert(["report", p]),
        lambda p: convert(["inspect", p]),
        lambda p: convert(["sign", p, "--hmac", p]),
        lambda p: run([p]),
        lambda p: flash.main([p, "--port", "/dev/there-is-none"]),
    ],
)
def test_every_command_says_how_to_export(command, suffix, tmp_path, capsys):
    data, expected = KINDS[suffix]
    path = tmp_path / f"m.{suffix}"
    path.write_bytes(data)
    assert command(str(path)) == 1
    error = capsys.readouterr().err
    assert expected in error and error.count("\n") == 1


def test_a_real_model_of_another_library_is_recognized(tmp_path):
    joblib = pytest.importorskip("joblib", reason="joblib writes the file")
    path = tmp_path / "model.onnx"
    for compress in (0, 3):
        joblib.dump({"coef_": np.ones(3)}, path, compress=compress)
        with pytest.raises(ConvertError, match="is a Python pickle"):
            foreign.check_onnx(path)


def test_a_saved_model_is_a_folder(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(ConvertError, match="tf2onnx.convert --saved-model"):
        foreign.check_onnx(tmp_path)


def test_an_onnx_where_a_bin_is_needed_is_to_be_converted(onnx_file, capsys):
    assert convert(["inspect", str(onnx_file)]) == 1
    error = capsys.readouterr().err
    assert f"mpconnxr convert {onnx_file} makes relu.bin" in error


def test_an_onnx_is_no_other_kind(onnx_file):
    foreign.check_onnx(onnx_file)


def test_a_damaged_file_of_no_known_kind_is_left_to_the_reader(tmp_path):
    path = tmp_path / "x.onnx"
    for data in (b"", b"PK\x03\x04", b"\x80", b"\x1f\x8b\x08", b"{", bytes(100)):
        path.write_bytes(data)
        foreign.check_onnx(path)
