"""tools.run --layers compares the values inside a model with onnxruntime's."""

import json

import numpy as np
import onnx
import pytest

from tests.host.converter.rewrites.qdq_net import Net
from tools.run.__main__ import main
from tools.run.layers import Layers, table


@pytest.fixture
def quantized(tmp_path, target):
    """Return paths of an int8 model with a Softsign between floats, and of its input."""
    net = Net()
    x = net.dq(net.input([1, 3, 6, 6]), 0.03, 4)
    y = net.qdq(net.op("Relu", net.op("Conv", x, net.weights([4, 3, 3, 3]))), 0.02, -128)
    y = net.op("Transpose", y, perm=[0, 2, 3, 1])
    y = net.op("Softsign", net.op("ReduceSum", y, net.constant([3], np.int64), keepdims=0))
    model = net.model(net.op("ReduceMax", y, keepdims=0))
    paths = [tmp_path / "model.onnx", tmp_path / "x.npy"]
    onnx.save(model, paths[0])
    np.save(paths[1], net.values()[0])
    return [str(path) for path in paths]


def run(model, x, capsys, *options):
    status = main([model, x, *options])
    streams = capsys.readouterr()
    return status, streams.out, streams.err


def test_values_of_both_sides_are_compared(quantized, capsys):
    model, x = quantized
    status, out, _ = run(model, x, capsys, "--compare", model, "--layers", "--json")
    report = json.loads(out)
    assert status == 0 and len(report["samples"][0]["outputs"]) == 1
    layers = {layer["operator"]: layer for layer in report["layers"]}
    q, end = layers["QuantizeLinear"], layers["Softsign"]
    assert (q["dtype"], q["shape"], q["steps"], q["relative"]) == ("int8", [1, 4, 4, 4], 0, None)
    assert (end["dtype"], end["shape"], end["steps"]) == ("float32", [1, 4, 4], None)
    assert 0 <= end["relative"] < 1e-6
    assert "Conv" not in layers  # it gives integers here


def test_the_table_has_a_row_for_each_layer(quantized, capsys):
    model, x = quantized
    status, out, _ = run(model, x, capsys, "--compare", model, "--layers")
    lines = [line.split() for line in out.splitlines()]
    heading = lines.index(["value", "operator", "dtype", "elements", "identical", "apart"])
    [row] = [line for line in lines[heading:] if "QuantizeLinear" in line]
    assert status == 0 and row[2:] == ["int8", "64", "100.00%", "0"]


def test_layers_requires_compare_and_an_onnx_file(quantized, tmp_path, capsys):
    model, x = quantized
    with pytest.raises(SystemExit):
        main([model, x, "--layers"])
    assert "--layers needs --compare" in capsys.readouterr().err
    packed = tmp_path / "model.bin"
    packed.write_bytes(b"MPCONNXR")
    status, _, err = run(str(packed), x, capsys, "--compare", model, "--layers")
    assert status == 2 and "--layers and --trace --compare need the .onnx" in err


def test_figures_of_a_layer_are_right():
    layers = Layers({"a": "Conv", "b": "Tanh"})
    a, b = np.int8([1, 2, 3, 4]), np.float32([1, -4, np.nan])
    layers.add([("a", a), ("b", b), ("c", a)], {"a": np.int8([1, 5, 3, 4]), "b": b * 2})
    layers.add([("a", a), ("b", b)], {"a": a, "b": b.astype(np.float64)})
    of_a, of_b = layers.figures()
    assert (of_a["operator"], of_a["identical"], of_a["steps"]) == ("Conv", 7 / 8, 3)
    assert (of_b["identical"], of_b["relative"]) == (1 / 3, 0.5)
    assert [line.split()[-3:] for line in table([of_a, of_b])[1:]] == [
        ["87.50%", "3", "steps"],
        ["of", "the", "largest"],
    ]
