"""--quantize on the command line: which options and calibration data it accepts and refuses."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from examples.running import EXAMPLES
from tests.host.converter.quantize.net import CLASSES, calibration, net, outputs, prepared
from tests.host.device import small
from tools.converter.__main__ import main
from tools.converter.errors import UsageError
from tools.converter.quantize.data import read_samples
from tools.converter.quantize.post_training import quantize
from tools.converter.quantize.settings import Settings
from tools.converter.reference.ort_session import open_session
from tools.converter.truth import Data, Spec, split


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(), "needs --calibration"),
        (Settings(samples=calibration(2), exclude=["nobody"]), "no node is called nobody"),
        (Settings(samples=calibration(2), max_drop=0.1), "needs --labels"),
        (Settings("dynamic", io="int8"), "not with --quantize dynamic"),
    ],
)
def test_conflicting_options_are_refused(settings, message):
    with pytest.raises(UsageError, match=message):
        quantize(prepared(net()), settings)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((0, 1, 8, 8)), "has no samples"),
        (
            np.where(np.arange(3 * 64) == 70, np.nan, 1.0),
            "sample 1 has NaN or infinity for input x",
        ),
        (
            np.where(np.arange(3 * 64) == 0, np.inf, 1.0),
            "sample 0 has NaN or infinity for input x",
        ),
    ],
)
def test_unusable_calibration_data_are_refused(tmp_path, x, message):
    np.save(tmp_path / "x.npy", x.reshape(-1, 1, 8, 8).astype(np.float32))
    with pytest.raises(UsageError, match=message):
        quantize(prepared(net()), Settings(samples=tmp_path / "x.npy"))


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([{"x": np.zeros((1, 1, 8, 8), np.float32)}] * 5, ["one value only"]),
        (calibration(1) * 5, ["the same sample 5 times"]),
        (calibration(1), []),
        (calibration(2), []),
    ],
)
def test_uninformative_calibration_data_are_reported(samples, message):
    _, outcome = quantize(prepared(net()), Settings(samples=samples))
    assert len(outcome.notes) == len(message)
    assert all(text in note for text, note in zip(message, outcome.notes, strict=True))


def test_a_quantized_model_is_not_quantized_again():
    quantized, _ = quantize(prepared(net()), Settings(samples=calibration()))
    with pytest.raises(UsageError, match="quantized already"):
        quantize(quantized, Settings(samples=calibration()))


def test_the_command_line_quantizes_and_reports_accuracy(tmp_path, capsys):
    onnx.save(net(), tmp_path / "net.onnx")
    x = np.concatenate([s["x"] for s in calibration()])
    expected = outputs(net(), calibration()).reshape(len(x), -1).argmax(axis=1)
    np.savez(tmp_path / "data.npz", x=x, labels=expected)
    data = str(tmp_path / "data.npz")
    words = [str(tmp_path / "net.onnx"), str(tmp_path / "net.bin"), "--quantize", "int8"]
    assert main([*words, "--calibration", data, "--labels", f"{data}:labels"]) == 0
    printed = capsys.readouterr().out
    assert "quantize int8, minmax, per channel: top-1" in printed and "first" in printed
    assert "\ndB       signal to noise. From a total of 20" in printed
    assert main([*words, "--calibration", data]) == 0
    printed = capsys.readouterr().out
    assert "per channel: same class as float" in printed and "top-1" not in printed
    assert "on the calibration data" in printed and "\ntest " not in printed
    np.save(tmp_path / "same.npy", np.zeros_like(x))
    assert main([*words, "--calibration", str(tmp_path / "same.npy")]) == 0
    assert capsys.readouterr().out.count("note: --calibration holds one value only") == 1
    assert main([*words, "--calibration", data, "--labels", data]) == 2
    assert "say which of x, labels" in capsys.readouterr().err
    np.save(tmp_path / "wrong.npy", x.astype(np.int8))
    assert main([*words, "--calibration", str(tmp_path / "wrong.npy")]) == 2
    assert "int8, but input x takes float32" in capsys.readouterr().err
    np.save(tmp_path / "double.npy", x.astype(np.float64))
    assert main([*words, "--calibration", data]) == 0
    written = (tmp_path / "net.bin").read_bytes()
    test = ("--test", str(tmp_path / "double.npy"), f"{data}:labels")
    assert main([*words, "--calibration", str(tmp_path / "double.npy"), *test]) == 0
    assert (tmp_path / "net.bin").read_bytes() == written


@pytest.mark.parametrize(
    ("shape", "needed", "n"),
    [
        ((64,), (1, 64), 1),
        ((5, 64), (1, 64), 5),
        ((8, 8), (1, 1, 8, 8), 1),
        ((5, 8, 8), (1, 1, 8, 8), 5),
        ((5, 1, 8, 8), (1, 1, 8, 8), 5),
        ((64,), ("batch", 64), 1),
        ((5, 64), ("batch", 64), 5),
        ((5, 8, 8), ("batch", 1, 8, 8), 5),
        ((63,), (1, 64), 0),
        ((64,), (64, 2), 0),
        ((8, 8), (1, 64), 0),
    ],
)
def test_dimensions_of_1_may_be_missing_in_samples(shape, needed, n):
    array = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    spec = Spec("x", np.dtype(np.float32), needed)
    if not n:
        with pytest.raises(UsageError, match="shape"):
            split(array, spec, "x.npy")
        return
    samples = split(array, spec, "x.npy")
    assert len(samples) == n and {x.dtype for x in samples} == {spec.dtype}
    assert {x.shape for x in samples} == {(1, *needed[1:])}
    assert np.array_equal(np.concatenate(samples).ravel(), array.ravel())


def test_a_folder_has_a_sample_in_each_file(tmp_path):
    model = small.model(
        [("Relu", "x", "y", {})], [small.value("x", [1, 4])], [small.value("y", [1, 4])]
    )
    for i in range(3):
        np.save(tmp_path / f"{i}.npy", np.full(4, i, np.float32))
    samples = read_samples(tmp_path, model.graph)
    assert [s["x"].tolist() for s in samples] == [[[i] * 4] for i in range(3)]


def test_test_data_are_judged_beside_the_calibration_data(tmp_path, capsys):
    onnx.save(net(), tmp_path / "net.onnx")
    np.save(tmp_path / "calibration.npy", np.concatenate([s["x"] for s in calibration()]))
    test = calibration(40, seed=7)
    right = outputs(net(), test).reshape(40, -1).argmax(axis=1)
    right[:10] = (right[:10] + 1) % CLASSES  # float is right in 30 of 40
    np.savez(tmp_path / "test.npz", x=np.concatenate([s["x"] for s in test]), y=right)
    words = [str(tmp_path / "net.onnx"), "--quantize", "int8"]
    words += ["--calibration", str(tmp_path / "calibration.npy")]
    assert main([*words, "--test", f"{tmp_path}/test.npz:x,y"]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("test ")]
    assert line.endswith("(float 75.0%) on 40 samples of the test data") and "top-1 7" in line
    assert main([*words, "--test", f"{tmp_path}/test.npz:x,y", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["quantized"]["test"]
    assert result["samples"] == 40 and result["float"]["accuracy"] == 0.75
    assert main([*words, "--test", f"{tmp_path}/test.npz:x,z"]) == 2
    assert "--test: " in capsys.readouterr().err
    np.save(tmp_path / "few.npy", right[:7])
    assert main([*words, "--test", f"{tmp_path}/test.npz:x", f"{tmp_path}/few.npy"]) == 2
    error = capsys.readouterr().err
    assert "40 samples, but 7 true values" in error and error.count("\n") == 1


def test_true_values_have_an_error_instead_of_an_accuracy():
    test = calibration(20, seed=7)
    values = outputs(net(), test).reshape(20, CLASSES)
    data = Data("test", {"x": [np.concatenate([s["x"] for s in test])]}, values)
    _, outcome = quantize(prepared(net()), Settings(samples=calibration(), test=data))
    result = outcome.report()["test"]
    assert result["float"]["r2"] == 1 and result["float"]["mean_absolute_error"] == 0
    assert 0.9 < result["quantized"]["r2"] < 1 and result["quantized"]["accuracy"] is None


def test_test_data_without_anything_to_quantize_give_a_note():
    data = Data("test", {"x": [np.zeros((2, 3), np.float32)]}, np.zeros(2))
    model = small.relu([3])
    model.graph.node[0].op_type = "Exp"
    settings = Settings("dynamic", test=data)
    _, outcome = quantize(prepared(model), settings)
    assert outcome.notes[-1] == "--test is not used: no accuracy is measured"


def with_label(proto):
    """Return the network with its class as an output before the scores."""
    arg = helper.make_node("ArgMax", ["y"], ["label"], "arg", axis=1, keepdims=0)
    proto.graph.node.append(arg)
    proto.graph.output.insert(0, helper.make_tensor_value_info("label", TensorProto.INT64, [1]))
    return proto


def test_labels_apply_to_the_output_with_scores():
    samples = calibration()
    labels = outputs(net(), samples).reshape(len(samples), -1).argmax(axis=1)
    settings = Settings(samples=samples, labels=labels)
    _, outcome = quantize(prepared(with_label(net())), settings)
    assert outcome.attempts[-1].top1_float == 1 and outcome.attempts[-1].top1 > 0.9
    assert not outcome.notes
    only = with_label(net())
    del only.graph.output[1]
    _, outcome = quantize(prepared(only), settings)
    assert outcome.attempts[-1].top1 is None
    assert outcome.notes[0].startswith("--labels is not used: the model has no output of class")


def test_labels_and_test_data_are_classes_that_the_model_names():
    """The largest score belongs to no answer, and the classes are 10, 20, 30 and 40."""
    proto = net()
    nodes = [
        helper.make_node("ArgMin", ["y"], ["best"], "arg", axis=1, keepdims=0),
        helper.make_node("Gather", ["classes", "best"], ["label"], "label"),
    ]
    proto.graph.node.extend(nodes)
    classes = np.array([10, 20, 30, 40])
    proto.graph.initializer.append(numpy_helper.from_array(classes, "classes"))
    proto.graph.output.insert(0, helper.make_tensor_value_info("label", TensorProto.INT64, [1]))
    samples = calibration()
    session = open_session(proto)
    labels = np.array([session.run(["label"], s)[0][0] for s in samples])
    x = np.concatenate([s["x"] for s in samples])
    data = Data("test", {"x": [x]}, labels)
    settings = Settings(samples=samples, labels=labels, test=data)
    _, outcome = quantize(prepared(proto), settings)
    assert outcome.attempts[-1].top1_float == 1 and outcome.attempts[-1].top1 > 0.9
    assert outcome.tested.of_float.accuracy == 1 and outcome.tested.quantized.accuracy > 0.9


def test_text_of_the_test_data_is_named(tmp_path):
    samples = calibration()
    numbers = outputs(net(), samples).reshape(len(samples), -1).argmax(axis=1)
    names = [*"abcd"]
    x = np.concatenate([s["x"] for s in samples])
    settings = Settings(samples=samples, test=Data("test", {"x": [x]}, np.array(names)[numbers]))
    _, outcome = quantize(prepared(net()), settings, class_names=names)
    assert outcome.tested.of_float.accuracy == 1
    with pytest.raises(UsageError, match="^--test: .* by --labels-file NAMES.txt"):
        quantize(prepared(net()), settings)


@pytest.mark.parametrize("mode", ["int8", "int16x8", "dynamic"])
def test_a_model_with_nothing_to_quantize_gives_a_note(mode, tmp_path, capsys):
    forest = EXAMPLES / "forest" / "forest.onnx"
    shape = onnx.load(forest).graph.input[0].type.tensor_type.shape.dim
    x = np.zeros((20, 1, shape[-1].dim_value), np.float32) + np.arange(20)[:, None, None]
    np.savez(tmp_path / "data.npz", x=x.astype(np.float32), y=np.zeros(20, int))
    data = str(tmp_path / "data.npz")
    words = [str(forest), str(tmp_path / "a.bin"), "--quantize", mode, "--calibration", data]
    assert main([*words, "--labels", data + ":y"]) == 0
    printed = capsys.readouterr().out
    assert f"note: --quantize {mode} changes nothing: the model has no operators that" in printed
    assert "note: --labels is not used" in printed and "\nquantize " not in printed
    assert main([str(forest), str(tmp_path / "b.bin")]) == 0
    assert len((tmp_path / "a.bin").read_bytes()) == len((tmp_path / "b.bin").read_bytes())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--io", "int8"], "--io"),
        (["--method", "mse"], "--method"),
        (["--per-tensor", "--exclude", "first"], "--per-tensor, --exclude"),
        (["--test", "x.npz:x,y"], "--test"),
        (["--labels", "y.npy", "--min-accuracy-drop", "1%"], "--labels, --min-accuracy-drop"),
    ],
)
def test_options_of_quantize_require_quantize(tmp_path, capsys, options, named):
    onnx.save(net(), tmp_path / "net.onnx")
    assert main([str(tmp_path / "net.onnx"), str(tmp_path / "net.bin"), *options]) == 2
    assert capsys.readouterr().err == f"converter: {named}: only with --quantize\n"
