"""python -m tools.run: outputs, messages and failures."""

import json
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.host.zoo import ROOT, ZOO, needs_zoo
from tools.converter.convert import Options, convert
from tools.run.__main__ import main
from tools.run.compare import Errors

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def _built(target):
    """Skip the tests if `unix`, on which all run, cannot be built."""


def save_model(path, nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)
    return str(path)


@pytest.fixture
def relu(tmp_path):
    """Return the path of an .onnx with one Relu over [n, 3]."""
    return save_model(
        tmp_path / "relu.onnx",
        [helper.make_node("Relu", ["x"], ["y"], name="r")],
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
    )


@pytest.fixture
def reshape(tmp_path):
    """Return the path of an .onnx whose second input is the shape of a Reshape."""
    return save_model(
        tmp_path / "reshape.onnx",
        [
            helper.make_node("Relu", ["x"], ["r"]),
            helper.make_node("Reshape", ["r", "shape"], ["y"]),
        ],
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
            helper.make_tensor_value_info("shape", TensorProto.INT64, [2]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b"])],
    )


@pytest.fixture
def saved(tmp_path):
    """Return save(name, array), which writes NAME.npy and returns its path."""

    def save(name, array):
        path = tmp_path / f"{name}.npy"
        np.save(path, array)
        return str(path)

    return save


def test_free_dimensions_come_from_the_sample(relu, saved, tmp_path, capsys):
    assert main([relu, saved("x", X), "--output-dir", str(tmp_path / "out")]) == 0
    got = np.load(tmp_path / "out" / "output_0.npy")
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, np.maximum(X, 0))
    assert "x float32 [n, 3] taken as [2, 3]" in capsys.readouterr().err


def test_outputs_are_printed_without_a_folder(relu, saved, capsys):
    assert main([relu, saved("x", X)]) == 0
    out = capsys.readouterr().out
    assert "y float32 [2, 3]" in out
    assert "0.6" in out
    assert "bytes" in out


def test_inputs_that_fix_a_shape_are_bound(reshape, saved, tmp_path, capsys):
    shape = saved("shape", np.array([3, 2]))
    assert main([reshape, saved("x", X), shape, "--output-dir", str(tmp_path)]) == 0
    got = np.load(tmp_path / "output_0.npy")
    np.testing.assert_array_equal(got, np.maximum(X, 0).reshape(3, 2))
    assert "shape bound to the sample's [3 2]" in capsys.readouterr().err


def test_a_bin_file_runs(relu, saved, tmp_path):
    path = tmp_path / "relu.bin"
    path.write_bytes(convert(onnx.load(relu), Options(shapes={"x": [2, 3]})).data)
    assert main([str(path), saved("x", X), "--output-dir", str(tmp_path)]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "output_0.npy"), np.maximum(X, 0))


def test_converter_options_pass_through(reshape, saved, tmp_path):
    shape = saved("shape", np.array([6, 1]))
    options = ["--output-dir", str(tmp_path), "--", "--bind", f"shape={shape}"]
    assert main([reshape, saved("x", X), *options]) == 0
    assert np.load(tmp_path / "output_0.npy").shape == (6, 1)


def test_samples_of_a_folder_keep_their_numbers(reshape, tmp_path, capsys):
    for k, shape in ((2, [3, 2]), (11, [1, 6])):
        np.save(tmp_path / f"input_{k}.npy", X - k)
        np.save(tmp_path / f"input_{k}_1.npy", np.array(shape))
    (tmp_path / "out").mkdir()
    options = ["--samples", str(tmp_path), "--output-dir", str(tmp_path / "out"), "--json"]
    assert main([reshape, *options]) == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "output_11.npy",
        "output_2.npy",
    ]
    assert np.load(tmp_path / "out" / "output_11.npy").shape == (1, 6)
    report = json.loads(capsys.readouterr().out)
    assert [sample["sample"] for sample in report["samples"]] == [2, 11]
    assert report["conversions"] == 2


def test_json_has_all_results(relu, saved, capsys):
    x = X.copy()
    x[0, 0], x[1, 2] = np.inf, np.nan
    assert main([relu, saved("x", x), "--json", "--compare", relu]) == 0
    report = json.loads(capsys.readouterr().out)
    (sample,) = report["samples"]
    (y,) = sample["outputs"]
    assert y["name"] == "y"
    assert y["values"][0][0] == "inf"
    assert sample["seconds"] > 0
    assert report["arena_bytes"] >= X.nbytes
    assert report["errors"][0]["max_abs"] == 0


def test_compare_measures_an_error():
    errors = Errors()
    errors.add(np.array([[1.0, 2.5], [4.0, 3.0]]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    figures = errors.figures()
    assert figures["max_abs"] == 1
    assert figures["max_rel"] == 0.25
    assert figures["mean_abs"] == 2.5 / 4
    assert figures["argmax"] == 0.5
    np.testing.assert_allclose(figures["snr_db"], 10 * np.log10(30 / 2.25))


@needs_zoo
@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_a_real_model_agrees_with_onnxruntime(target, capsys):
    folder = ZOO / "digits_cnn_f32"
    model = str(folder / "model.onnx")
    options = ["--target", target.name, "--samples", str(folder), "--compare", model, "--json"]
    assert main([model, *options]) == 0
    (errors,) = json.loads(capsys.readouterr().out)["errors"]
    assert 0 < errors["max_rel"] < 1e-5
    assert errors["snr_db"] > 100
    assert errors["argmax"] == 1


def test_random_samples_are_compared_with_the_model_itself(relu, capsys):
    assert main([relu, "--random", "3", "--compare", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["samples"]) == 3 and result["errors"][0]["max_abs"] == 0
    assert main([relu, "--random", "2", "--seed", "1"]) == 0
    assert main([relu, "--random", "2", "--seed", "1", "--compare", relu]) == 0


def test_an_input_that_is_bound_is_fed_to_onnxruntime(tmp_path, saved, capsys):
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in "xcy"]
    nodes = [helper.make_node("Mul", ["x", "c"], ["y"])]
    path = save_model(tmp_path / "mul.onnx", nodes, values[:2], values[2:])
    c = saved("c", np.array([2, 3, 4], np.float32))
    options = ["--compare", "--json", "--", "--bind", f"c={c}"]
    assert main([path, saved("x", np.ones(3, np.float32)), *options]) == 0
    (errors,) = json.loads(capsys.readouterr().out)["errors"]
    assert errors["max_abs"] == 0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["none.onnx"], 1, "none.onnx: No such file or directory"),
        (["none.bin"], 1, "none.bin: No such file or directory"),
        (["{bad}"], 1, "cannot be read as an ONNX model"),
        (["{badbin}"], 1, "is not a model.bin, which mpconnxr convert makes"),
        (["{relu}"], 2, "0 inputs given, 1 needed: x float32 [n, 3]"),
        (["{relu}", "none.npy"], 1, "none.npy: No such file or directory"),
        (["{relu}", "{bad}"], 2, "bad is not a .npy file"),
        (["{relu}", "{wide}"], 2, "input x float32 [n, 3] is given shape [2, 4]"),
        (["{relu}", "{double}"], 2, "is given float64"),
        (["{relu}", "--samples", "{tmp}/none"], 2, "is not a folder"),
        (["{relu}", "--samples", "{tmp}"], 2, "holds no input_0.npy"),
        (["{relu}", "{x}", "--compare", "{bad}"], 1, "cannot be read as an ONNX"),
        (["{relu}", "{x}", "--compare", "{bad}", "--layers"], 1, "cannot be read as an ONNX"),
        (["{relu}", "{x}", "--compare", "none.onnx"], 1, "none.onnx: No such file or directory"),
        (["{relu}", "{x}", "--compare", "{reshape}"], 1, "other inputs: 1 inputs given, 2 needed"),
        (["{relu}", "{x}", "--compare", "{other}"], 1, "other inputs: input x float32 [2, 4] is"),
        (["{relu}", "{x}", "--", "--dim", "m=1"], 2, "no dimension m"),
    ],
)
def test_errors_are_one_line(arguments, status, message, relu, reshape, saved, tmp_path, capsys):
    (tmp_path / "bad").write_bytes(b"\x08rubbish")
    (tmp_path / "bad.bin").write_bytes(b"rubbish")
    paths = {
        "relu": relu,
        "reshape": reshape,
        "other": save_model(
            tmp_path / "other.onnx",
            [helper.make_node("Relu", ["x"], ["y"])],
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])],
        ),
        "tmp": tmp_path,
        "bad": tmp_path / "bad",
        "badbin": tmp_path / "bad.bin",
        "x": saved("x", X),
        "wide": saved("wide", np.zeros((2, 4), np.float32)),
        "double": saved("double", X.astype(np.float64)),
    }
    assert main([a.format(**paths) for a in arguments]) == status
    lines = [line for line in capsys.readouterr().err.splitlines() if "taken as" not in line]
    assert len(lines) == 1
    assert lines[0].startswith("run: ")
    assert message in lines[0]


def test_a_failure_on_the_device_is_reported(relu, saved, tmp_path, capsys):
    data = bytearray(convert(onnx.load(relu), Options(shapes={"x": [2, 3]})).data)
    data[24] ^= 1  # the digest of the tables
    (tmp_path / "damaged.bin").write_bytes(data)
    assert main([str(tmp_path / "damaged.bin"), saved("x", X), "--json"]) == 1
    streams = capsys.readouterr()
    assert "ModelError" in streams.err
    assert "ModelError" in json.loads(streams.out)["error"]


@pytest.mark.slow
def test_several_files_run_at_once(relu, saved, tmp_path):
    processes = []
    for i in range(4):
        out = str(tmp_path / f"out{i}")
        command = [sys.executable, "-m", "tools.run", relu, saved(f"x{i}", X + i)]
        processes.append(subprocess.Popen([*command, "--output-dir", out], cwd=ROOT))
    assert [process.wait(120) for process in processes] == [0] * 4
    for i in range(4):
        got = np.load(tmp_path / f"out{i}" / "output_0.npy")
        np.testing.assert_array_equal(got, np.maximum(X + i, 0))
