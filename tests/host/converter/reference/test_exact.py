"""The reference's products of integers are exact on every computer; all else is onnxruntime's."""

import itertools
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host.converter.reference.falsified import falsified  # noqa: F401
from tools.conformance import ms
from tools.conformance.ms import making
from tools.converter import external_weights
from tools.converter.reference import exact, golden, ort_session, self_test
from tools.converter.reference.exact.nodes import Inexact, Nodes
from tools.converter.reference.ort_session import OrtError, open_plain, open_session

U8, S8, F = np.uint8, np.int8, np.float32
# What is inexact on x86 without VNNI, as measured with onnxruntime 1.31.1
SATURATING = {"ConvInteger s8*u8"} | {
    f"{op} u8*s8"
    for op in (
        *("MatMulInteger", "QLinearMatMul", "QLinearConv", "QGemm", "MatMulIntegerToFloat"),
        *("DynamicQuantizeMatMul", "QAttention", "DynamicQuantizeLSTM"),
    )
}
rng = np.random.default_rng(5)


def octets(dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def value(name, x):
    dtype = helper.np_dtype_to_tensor_dtype(np.asarray(x).dtype)
    return helper.make_tensor_value_info(name, dtype, np.shape(x))


def model_of(nodes, inputs, constants, opset=21, **options):
    """Return a model with the output y, whose dtype onnxruntime infers."""
    tensors = [numpy_helper.from_array(np.asarray(x), name) for name, x in constants.items()]
    graph = helper.make_graph(
        nodes,
        "g",
        [value(name, x) for name, x in inputs.items()],
        [helper.make_empty_tensor_value_info("y")],
        tensors,
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, **options)


def one_node(op, *arrays, fixed=(), opset=21, **attributes):
    """Return a model of one node and its feed.

    Arrays of None are omitted inputs; those with the numbers in `fixed` are constants.
    """
    names = ["" if x is None else f"x{i}" for i, x in enumerate(arrays)]
    inputs = {name: x for name, x in zip(names, arrays, strict=True) if name}
    constants = {f"x{i}": arrays[i] for i in fixed}
    feed = {name: np.asarray(x) for name, x in inputs.items() if name not in constants}
    node = helper.make_node(op, names, ["y"], **attributes)
    return model_of([node], feed, constants, opset), feed


def result(model, feed):
    return open_session(model).run(["y"], feed)[0]


def nodes_around(*middle):
    """Return nodes of one input and output, chained from x to y."""
    names = ["x", *(f"v{i}" for i in range(len(middle) - 1)), "y"]
    return [
        helper.make_node(op, [a, *rest], [b], **attributes)
        for (op, rest, attributes), a, b in zip(middle, names[:-1], names[1:], strict=True)
    ]


def extreme():
    """Return (model, feed, right result) of 64 products of 255 and 127."""
    model, feed = one_node("MatMulInteger", np.full((1, 64), 255, U8), np.full((64, 1), 127, S8))
    return model, feed, 64 * 255 * 127


def test_extreme_products_are_exact():
    model, feed, expected = extreme()
    assert result(model, feed).tolist() == [[expected]]


def test_falsified_answers_saturate_and_the_reference_is_exact(falsified):  # noqa: F811
    model, feed, expected = extreme()
    assert open_plain(model).run(None, feed)[0].tolist() == [[32 * 32767]]
    assert result(model, feed).tolist() == [[expected]]


@pytest.mark.parametrize("operator", self_test.operators())
def test_the_self_test_detects_falsified_products(operator, falsified):  # noqa: F811
    alone = self_test.of_onnxruntime(operator, open_plain)
    assert {name for name, is_exact in alone.items() if not is_exact} == SATURATING & alone.keys()
    assert all(self_test.of_reference(operator, open_plain).values())


def test_names_of_the_worker_do_not_collide(falsified, monkeypatch):  # noqa: F811
    """Both count from 0 if the first model of a process has weights to replace."""
    with monkeypatch.context() as m:  # undone before the fixture is
        m.setattr(Nodes, "_numbers", itertools.count())
        m.setattr(ort_session, "_running", None)
        assert all(self_test.of_reference("DynamicQuantizeLSTM", open_plain).values())


def test_a_reference_that_fails_its_self_test_is_not_used(monkeypatch):
    model, feed, _ = extreme()
    wrong = {"MatMulInteger u8*s8": False}
    monkeypatch.setattr(self_test, "of_reference", lambda *_: wrong)
    with pytest.raises(OrtError, match=r"does not compute MatMulInteger u8\*s8 exactly"):
        open_session(model)
    assert golden.reference(model, list(feed.values())) is None
    assert "MatMulInteger u8*s8" in golden.why_none(model, list(feed.values()))


def test_another_mode_is_refused(monkeypatch):
    from tools.converter.errors import ConvertError

    monkeypatch.setenv("MPCONNXR_ORT", "fast")
    monkeypatch.setattr(ort_session, "_running", None)
    with pytest.raises(ConvertError, match="MPCONNXR_ORT is 'fast': use exact or falsified"):
        open_session(extreme()[0])


def test_a_model_without_integer_products_is_not_changed(monkeypatch):
    def fail(*_):
        raise AssertionError("replaced")

    monkeypatch.setattr(exact, "replaced", fail)
    model, feed = one_node("MatMul", np.ones((2, 3), F), np.ones((3, 2), F))
    assert result(model, feed).tolist() == [[3, 3], [3, 3]]


# Against sums of integers


@pytest.mark.parametrize("of_a", [U8, S8])
@pytest.mark.parametrize("of_b", [U8, S8])
@pytest.mark.parametrize("opset", [10, 13, 21])
def test_matmul_integer_is_exact(of_a, of_b, opset):
    for zeros, fixed in (((), ()), ((0,), (1,)), ((0, 1), (1, 2, 3)), ((0, 7), (1, 2, 3))):
        a, b = octets(of_a, 2, 3, 65), octets(of_b, 65, 7)
        a_zero = octets(of_a) if zeros else None
        b_zero = octets(of_b, *zeros[1:]) if len(zeros) > 1 else None
        inputs = [a, b, a_zero, b_zero][: 2 + len(zeros)]
        model, feed = one_node("MatMulInteger", *inputs, fixed=fixed, opset=opset)
        a, b = a.astype(np.int64) - (a_zero or 0), b.astype(np.int64)
        expected = a @ (b if b_zero is None else b - b_zero)
        got = result(model, feed)
        assert got.dtype == np.int32 and np.array_equal(got, expected)


def test_sums_beyond_32_bits_wrap():
    count = 40_000
    nodes = nodes_around(("MatMulInteger", ["w"], {}), ("Cast", [], {"to": TensorProto.DOUBLE}))
    feed = {"x": np.full((1, count), 255, U8), "w": np.full((count, 1), 255, U8)}
    assert result(model_of(nodes, feed, {}), feed).item() == 255 * 255 * count - 2**32


@pytest.mark.parametrize("of_w", [U8, S8])
@pytest.mark.parametrize("of_x", [U8, S8])
@pytest.mark.parametrize("count", [1, 257, 258, 4_112, 4_113, 9_000, 17_000, 32_896])
def test_conv_integer_is_exact_for_any_number_of_products(of_x, of_w, count):
    """Cases lie at each bound of the number of digits; the first rows and columns are extreme."""
    x, w = octets(of_x, 3, count, 1), octets(of_w, 4, count, 1)
    for array in (x, w):
        array[0], array[1] = np.iinfo(array.dtype).max, np.iinfo(array.dtype).min
    x_zero, w_zero = (np.asarray(np.iinfo(d).max, d) for d in (of_x, of_w))
    model, feed = one_node("ConvInteger", x, w, x_zero, w_zero, fixed=(1, 2, 3))
    x, w = x[..., 0].astype(np.int64) - x_zero, w[..., 0].astype(np.int64) - w_zero
    assert np.array_equal(result(model, feed)[..., 0], x @ w.T)


def test_too_many_products_of_one_output_are_refused():
    model, _ = one_node(
        "ConvInteger", octets(U8, 1, 32_897, 1), octets(S8, 1, 32_897, 1), fixed=(1,)
    )
    with pytest.raises(Inexact, match="32,897 products of one output, 32,896 is the most"):
        open_session(model)


@pytest.mark.parametrize("dtype", [F, np.float64, np.int64, np.uint16])
def test_a_cast_before_a_product_still_saturates_or_wraps(dtype):
    """onnxruntime merges two Casts in a row if it considers them equal to one."""
    x = np.array([[3.7, 300, -5, 200.2]]).astype(dtype)
    casts = nodes_around(("Cast", [], {"to": TensorProto.UINT8}), ("MatMulInteger", ["w"], {}))
    model = model_of(casts, {"x": x}, {"w": np.eye(4, dtype=U8)})
    alone = open_plain(model).run(None, {"x": x})[0]
    assert np.array_equal(result(model, {"x": x}), alone)


def test_conv_integer_has_zero_points_by_channel():
    x, w, zeros = octets(U8, 1, 2, 5), octets(S8, 3, 2, 1), octets(S8, 3)
    model, feed = one_node("ConvInteger", x, w, None, zeros)
    expected = np.einsum("ncp,mc->nmp", x.astype(int), w[..., 0].astype(int) - zeros[:, None])
    assert np.array_equal(result(model, feed), expected)


# Against onnxruntime's own kernels, where these are exact on this computer


def compare(operator, model, feed):
    if not all(self_test.of_onnxruntime(operator, open_plain).values()):
        pytest.skip(f"onnxruntime does not compute {operator} exactly on this CPU")
    [expected], got = open_plain(model).run(["y"], feed), result(model, feed)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    assert got.tobytes() == expected.tobytes(), operator


def a_scale(*shape):
    return rng.uniform(0.005, 0.05, shape).astype(F)


@pytest.mark.parametrize("pair", [(U8, U8), (U8, S8), (S8, S8)])
@pytest.mark.parametrize("opset", [10, 13, 21])
def test_qlinear_matmul_is_exact(pair, opset):
    of_a, of_b = pair
    for batch, many, is_fixed in (((), (), 1), ((2,), (7,), 1), ((2, 2), (), 0), ((), (1,), 1)):
        a, b = octets(of_a, *batch, 5, 33), octets(of_b, 33, 7)
        zeros = octets(of_a), octets(of_b, *many), octets(of_a)
        of_y = [np.asarray(F(0.4)), zeros[2]]
        inputs = [a, a_scale(), zeros[0], b, a_scale(*many), zeros[1], *of_y]
        model, feed = one_node(
            "QLinearMatMul", *inputs, fixed=range(1, 8) if is_fixed else (), opset=opset
        )
        compare("QLinearMatMul", model, feed)


@pytest.mark.parametrize("pair", [(U8, U8), (U8, S8), (S8, S8)])
def test_qlinear_conv_is_exact(pair):
    of_x, of_w = pair
    forms = [
        {"kernel_shape": [3, 3], "pads": [1, 0, 1, 1], "strides": [2, 1]},
        {"auto_pad": "SAME_LOWER"},
        {"dilations": [2, 2]},
        {"group": 2, "strides": [2, 2]},
        {"group": 6},
    ]
    for i, form in enumerate(forms * 2):
        is_by_channel, has_bias, group = i % 2, i % 3, form.get("group", 1)
        m = 12 if group > 1 else 8
        many = (m,) if is_by_channel else ()
        w_zero = np.full(many, octets(of_w), of_w)
        inputs = [octets(of_x, 2, 6, 9, 8), a_scale(), octets(of_x)]
        inputs += [octets(of_w, m, 6 // group, 3, 3), a_scale(*many), w_zero]
        inputs += [np.asarray(F(1.5)), octets(of_x)]
        if has_bias:
            inputs.append(rng.integers(-20000, 20000, m).astype(np.int32))
        model, feed = one_node(
            "QLinearConv", *inputs, fixed=range(1, len(inputs)), opset=13, **form
        )
        compare("QLinearConv", model, feed)


MICROSOFT = ["QLinearConv", "QGemm", "DynamicQuantizeMatMul", "MatMulIntegerToFloat"]


@pytest.mark.parametrize("operator", [*MICROSOFT, "DynamicQuantizeLSTM", "QAttention"])
def test_operators_of_com_microsoft_keep_their_bits(operator, monkeypatch):
    """The cases are those of mpconnxr conformance."""
    if not all(self_test.of_onnxruntime(operator, open_plain).values()):
        pytest.skip(f"onnxruntime does not compute {operator} exactly on this CPU")
    ms.operators()  # makes them known
    runs = []
    for opener in (open_session, open_plain):
        monkeypatch.setattr(making, "open_session", opener)
        specs = enumerate(making.specs_of(operator))
        runs.append([making.run(operator, i, spec) for i, spec in specs])
    assert len(runs[0]) >= 20 and any(runs[0])
    for got, expected in zip(*runs, strict=True):
        assert (got is None) == (expected is None)
        assert got is None or [y.tobytes() for y in got.outputs] == [
            y.tobytes() for y in expected.outputs
        ]


# Wherever the node is


X = np.full((1, 64), 255, U8)
W = np.full((64, 1), 127, S8)
RIGHT = 64 * 255 * 127


def test_products_in_a_subgraph_are_exact(falsified):  # noqa: F811
    branches = {}
    for name, output in (("then_branch", "p"), ("else_branch", "q")):
        node = helper.make_node("MatMulInteger", ["x", "w"], [output])
        out = helper.make_tensor_value_info(output, TensorProto.INT32, [1, 1])
        branches[name] = helper.make_graph([node], name, [], [out])
    nodes = [
        helper.make_node("If", ["c"], ["z"], **branches),
        helper.make_node("Identity", ["z"], ["y"]),
    ]
    model = model_of(nodes, {"x": X, "c": np.array(True)}, {"w": W})
    for chosen in (True, False):
        assert result(model, {"x": X, "c": np.array(chosen)}).item() == RIGHT


def test_products_in_a_local_function_are_exact(falsified):  # noqa: F811
    function = helper.make_function(
        "local",
        "Product",
        ["a", "b"],
        ["c"],
        [helper.make_node("MatMulInteger", ["a", "b"], ["c"])],
        [helper.make_opsetid("", 21)],
    )
    nodes = [helper.make_node("Product", ["x", "w"], ["y"], domain="local")]
    model = model_of(nodes, {"x": X}, {"w": W}, functions=[function])
    model.opset_import.append(helper.make_opsetid("local", 1))
    assert result(model, {"x": X}).item() == RIGHT


def test_computed_weights_are_exact(falsified):  # noqa: F811
    """Their dtype is stated nowhere, and their shape is inferred."""
    nodes = nodes_around(
        ("Transpose", [], {"perm": [1, 0]}),
        ("Unsqueeze", ["axes"], {}),
    )
    nodes[-1].output[0] = "w"
    nodes.append(helper.make_node("ConvInteger", ["image", "w"], ["y"]))
    image = np.full((1, 64, 1), -128, S8)
    weights = np.full((64, 1), 255, U8)
    model = model_of(nodes, {"x": weights, "image": image}, {"axes": np.array([2])})
    assert result(model, {"x": weights, "image": image}).item() == -64 * 255 * 128


def test_external_weights(falsified, monkeypatch):  # noqa: F811
    monkeypatch.setattr(external_weights, "LEAST_MODEL", 0)
    monkeypatch.setattr(external_weights, "LEAST", 0)
    weights = external_weights.ExternalWeights()
    model = model_of(nodes_around(("MatMulInteger", ["w"], {})), {"x": X}, {"w": W})
    model = weights.with_placeholders(model)
    assert external_weights.constants_of(model)
    assert result(model, {"x": X}).item() == RIGHT


def test_a_model_without_onnx_operators_is_exact(falsified):  # noqa: F811
    model, feed = one_node(
        "MatMulIntegerToFloat", X, W, np.asarray(F(1)), np.asarray(F(1)), domain="com.microsoft"
    )
    del model.opset_import[0]
    assert result(model, feed).item() == RIGHT


def test_an_attribute_of_the_functions_caller_is_refused():
    node = helper.make_node("QGemm", list("abcdef"), ["y"], domain="com.microsoft")
    attribute = onnx.AttributeProto(name="transB", type=onnx.AttributeProto.INT)
    attribute.ref_attr_name = "flag"
    node.attribute.append(attribute)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    function = helper.make_function("local", "Q", list("abcdef"), ["y"], [node], opsets, ["flag"])
    model = model_of([], {}, {}, functions=[function])
    with pytest.raises(Inexact, match="QGemm y: its products are not computed exactly"):
        open_session(model)


# What is made with it


def integer_models():
    """Yield models that a CPU without VNNI would compute wrongly, with an input each."""
    yield extreme()[:2]
    inputs = [octets(U8, 1, 16, 6, 6), a_scale(), octets(U8), octets(S8, 8, 16, 3, 3)]
    inputs += [a_scale(8), np.zeros(8, S8), np.asarray(F(1)), octets(U8)]
    yield one_node("QLinearConv", *inputs, fixed=range(1, 8))


def test_golden_vectors_have_the_same_bytes_under_falsified_answers(request):
    from tools.converter.convert import Options, convert

    def run():
        results = []
        for model, feed in models:
            inputs = list(feed.values())
            results.append(convert(model, Options(golden=inputs)).data)
        return results

    models = [(_with_output(m, f), f) for m, f in integer_models()]
    expected = run()
    assert all(expected)
    request.getfixturevalue("falsified")
    for model, feed in models:
        [alone], right = open_plain(model).run(None, feed), result(model, feed)
        assert not np.array_equal(alone, right)
    assert run() == expected


def _with_output(model, feed):
    info = value("y", result(model, feed))
    del model.graph.output[:]
    model.graph.output.append(info)
    return model


OTHERS = {
    "tools/converter/reference/ort_worker.py",  # the reference itself
    "tools/conformance/ms/making.py",  # outputs in an input's memory: attention of floats
}


def test_only_the_reference_opens_onnxruntime():
    root = Path(exact.__file__).parents[4]
    opens = re.compile(r"(\bort|onnxruntime)\.InferenceSession|from onnxruntime import")
    results = {
        path.relative_to(root).as_posix()
        for folder in ("tools", "tests", "examples")
        for path in (root / folder).rglob("*.py")
        if opens.search(path.read_text().replace("from onnxruntime import quantization", ""))
    }
    assert results - {Path(__file__).relative_to(root).as_posix()} == OTHERS
