"""--quantize: accuracy, figures for each layer, and the report of a bad quantization."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host.converter.quantize.net import array, calibration, net, outputs, prepared
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.quantize import qdq
from tools.converter.quantize.bias import corrected
from tools.converter.quantize.equalize import equalize
from tools.converter.quantize.layers import layers
from tools.converter.quantize.post_training import quantize
from tools.converter.quantize.ranges import ranges
from tools.converter.quantize.settings import Settings
from tools.converter.reference.ort_session import open_session


@pytest.mark.parametrize("method", ["minmax", "percentile", "entropy", "mse"])
def test_each_method_stays_close_to_float(method):
    model, samples = prepared(net()), calibration()
    quantized, outcome = quantize(model, Settings(samples=samples, method=method))
    expected, seen = outputs(model, samples), outputs(quantized, samples)
    assert np.square(seen - expected).mean() < 1e-3 * np.square(expected).mean()
    assert not [row for row in outcome.layers if row.hint]
    assert outcome.attempts[-1].top1 > 0.9  # of the samples keep float's class


@pytest.mark.parametrize("mode", ["int16x8", "dynamic"])
def test_other_modes_stay_close_to_float(mode):
    model, samples = prepared(net()), calibration()
    quantized, _ = quantize(model, Settings(mode, samples=samples))
    expected, seen = outputs(model, samples), outputs(quantized, samples)
    assert np.square(seen - expected).mean() < 1e-3 * np.square(expected).mean()
    types = {t.data_type for t in quantized.graph.initializer}
    assert TensorProto.INT8 in types
    assert (TensorProto.INT16 in types) == (mode == "int16x8")


@pytest.mark.parametrize("mode", ["int8", "int16x8", "dynamic"])
def test_an_opset_without_scales_by_channel_is_upgraded(mode):
    older, samples = net(), calibration()
    older.opset_import[0].version = 9
    model = prepared(older)
    quantized, _ = quantize(model, Settings(mode, samples=samples))
    expected, seen = outputs(model, samples), outputs(quantized, samples)
    assert np.square(seen - expected).mean() < 1e-3 * np.square(expected).mean()


def test_an_outlier_among_the_weights_is_reported():
    w = np.random.default_rng(3).normal(size=(6, 1, 3, 3)) / 3
    w[2, 0, 1, 1] = 300.0
    settings = Settings(samples=calibration(), per_channel=False)
    _, outcome = quantize(prepared(net(w)), settings)
    hints = {row.node: row.hint for row in outcome.layers}
    assert "larger than the others" in hints["first"]
    assert not hints["second"]


def test_a_saturating_activation_is_reported():
    model, samples = prepared(net()), calibration()
    result = ranges(model, samples, "minmax")
    result["r"] = (0.0, result["r"][1] / 4)
    rows = {
        row.node: row for row in layers(model, qdq.static(model, result, 8, True, []), samples)
    }
    values = np.concatenate([_inner(model, "r", s).reshape(-1) for s in samples])
    assert rows["first"].clipped == pytest.approx(
        (values > result["r"][1] * 1.01).mean(), rel=0.05
    )
    assert "saturate" in rows["first"].hint
    assert not rows["last"].clipped


def _inner(model, name, sample):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return open_session(copy).run([name], sample)[0]


def test_equalized_channels_compute_the_same():
    rng = np.random.default_rng(4)
    w = rng.normal(size=(6, 1, 3, 3)) * np.logspace(-3, 2, 6).reshape(6, 1, 1, 1)
    model, samples = prepared(net(w)), calibration(8)
    equalized = equalize(model)
    expected, seen = outputs(model, samples), outputs(equalized, samples)
    np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
    arrays = {t.name: numpy_helper.to_array(t) for t in equalized.graph.initializer}
    first, second = (np.abs(arrays[name]).reshape(6, -1).max(axis=1) for name in "wd")
    np.testing.assert_allclose(first, second, rtol=1e-4)


def test_bias_correction_removes_the_shift():
    rng = np.random.default_rng(5)
    w = np.abs(rng.normal(size=(6, 1, 3, 3))) * 0.1  # all of a sign: the rounding has a mean
    w[0] *= 60.0
    model, samples = prepared(net(w)), [{"x": np.abs(s["x"])} for s in calibration()]
    result = ranges(model, samples, "minmax")
    before = qdq.static(model, result, 8, False, [])
    after = qdq.static(corrected(model, before, samples), result, 8, False, [])
    expected = _mean_of(model, "first", samples)
    shifts = [np.abs(_mean_of(m, "first", samples) - expected).max() for m in (before, after)]
    assert shifts[1] < shifts[0] / 10


def _mean_of(model, node, samples):
    """Return the mean of a node's output for each channel."""
    [name] = [n.output[0] for n in model.graph.node if n.name == node]
    return np.mean([_inner(model, name, s) for s in samples], axis=(0, 1, 3, 4))


def test_better_methods_are_tried_until_the_accuracy_suffices():
    w = np.random.default_rng(3).normal(size=(6, 1, 3, 3)) / 3
    w[2, 0, 1, 1] = 900.0
    dead = np.where(np.arange(6) == 2, -1e5, 0.1)  # what the outlier makes is always below zero
    model, samples = prepared(net(w, dead)), calibration()
    [last] = [t for t in model.graph.initializer if t.name == "h"]  # no class is the likeliest
    middle = outputs(model, samples).mean(axis=0)[0]
    last.CopyFrom(array("h", numpy_helper.to_array(last) - middle))
    labels = outputs(model, samples).reshape(len(samples), -1).argmax(axis=1)
    settings = Settings(samples=samples, labels=labels, per_channel=False, max_drop=0.06)
    _, outcome = quantize(model, settings)
    assert len(outcome.attempts) > 1
    taken = outcome.attempts[-1]
    assert taken.top1 == max(a.top1 for a in outcome.attempts) >= 0.94
    assert outcome.attempts[0].top1 < 0.94


@pytest.mark.parametrize(
    ("mode", "name"), [("int8", "first"), ("int8", "last"), ("dynamic", "last")]
)
def test_excluded_nodes_stay_in_float(mode, name):
    settings = Settings(mode, samples=calibration(), exclude=[name])
    quantized, _ = quantize(prepared(net()), settings)
    assert {"first": "w", "last": "g"}[name] in {t.name for t in quantized.graph.initializer}


def test_unsupported_biases_keep_their_nodes_in_float():
    """C as [1, N] becomes a vector; with one number a row, or groups, nodes stay float."""
    rng = np.random.default_rng(3)
    shapes = {"row": [1, 4], "column": [4, 1], "b": [4], "g": [4, 6], "t": [2, 2, 1, 1]}
    net = helper.make_graph(
        [
            helper.make_node("Gemm", ["x", "g", "row"], ["u"], "by_row", transB=1),
            helper.make_node("Gemm", ["x", "g", "column"], ["v"], "by_column", transB=1),
            helper.make_node("ConvTranspose", ["z", "t", "b"], ["w"], "groups", group=2),
        ],
        "net",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 6]),
            helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 2, 3, 3]),
        ],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in (("u", [4, 4]), ("v", [4, 4]), ("w", [1, 4, 3, 3]))
        ],
        [array(name, rng.normal(size=shape)) for name, shape in shapes.items()],
    )
    model = helper.make_model(net, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    samples = [
        {k: rng.normal(size=s).astype(np.float32) for k, s in (("x", (4, 6)), ("z", (1, 2, 3, 3)))}
        for _ in range(4)
    ]
    model = prepared(model)
    quantized, outcome = quantize(model, Settings(samples=samples))
    assert outcome.attempts[-1].what.endswith("in float: by_column, groups")
    for got, expected in zip(
        *(open_session(m).run(None, samples[0]) for m in (quantized, model)), strict=True
    ):
        assert np.abs(got - expected).max() <= 0.03 * np.abs(expected).max()


def test_integer_outputs_may_be_read_or_shared():
    """One output is read by another node in float; two outputs have the same integers."""
    nodes = [("Sigmoid", "x", "a", {}), ("Erf", "a", "b", {}), ("Flatten", "a", "c", {"axis": 1})]
    infos = [small.value(n, [1, 8]) for n in "xabc"]
    model = small.model(nodes, infos[:1], infos[1:])
    samples = [{"x": np.linspace(-1, 1, 8, dtype=np.float32)[None]}]
    quantized, _ = quantize(prepared(model), Settings(samples=samples, io="int8"))
    onnx.checker.check_model(quantized, full_check=True)
    assert [o.name for o in quantized.graph.output] == ["a", "b", "c"]
    integers = np.linspace(-128, 127, 8).astype(np.int8)[None]
    a, b, c = open_session(quantized).run(None, {"x": integers})
    assert a.dtype == np.int8 and np.array_equal(a, c)
    assert convert(quantized, Options(strip=True)).graph.steps


def test_inputs_and_outputs_become_integers():
    settings = Settings(samples=calibration(), io="int8")
    quantized, outcome = quantize(prepared(net()), settings)
    assert not outcome.notes
    kinds = [
        v.type.tensor_type.elem_type for v in [*quantized.graph.input, *quantized.graph.output]
    ]
    assert kinds == [TensorProto.INT8, TensorProto.INT8]
    onnx.checker.check_model(quantized, full_check=True)


def test_a_quantized_scalar_converts():
    """The quantizer writes such a DequantizeLinear of one number for an Add's constant."""
    nodes = [("DequantizeLinear", "q s z", "c", {}), ("Add", "x c", "y", {})]
    constants = {"q": np.int8(3), "s": np.float32(0.5), "z": np.int8(1)}
    model = small.model(nodes, [small.value("x", [2])], [small.value("y", [2])], **constants)
    assert convert(model, Options(optimize=0)).data
