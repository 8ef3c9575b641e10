"""Pools with auto_pad SAME that onnxruntime refuses, or pads otherwise than ONNX."""

import numpy as np
import pytest
from onnx import TensorProto, helper, parser

from tests.host.device.small import floats, model, value
from tools.converter.check import check
from tools.converter.convert import Options, convert
from tools.converter.reference.exact.nodes import OrtError
from tools.converter.reference.ort_session import open_session

X = floats(1, 2, 8)


def run(op, x=X, dtype=TensorProto.FLOAT, opset=19, **attributes):
    inputs, outputs = [value("x", x.shape, dtype)], [value("y", None, dtype)]
    proto = model([(op, "x", "y", attributes)], inputs, outputs, opset=opset)
    return open_session(proto).run(None, {"x": x})[0]


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("stride", [2, 3, 4, 7])
def test_strides_may_exceed_the_window(op, stride, ceil_mode, auto_pad):
    got = run(op, kernel_shape=[1], strides=[stride], auto_pad=auto_pad, ceil_mode=ceil_mode)
    due = X[:, :, ::stride]
    np.testing.assert_allclose(got, np.abs(due) if op == "LpPool" else due, 1e-6)


@pytest.mark.parametrize(("auto_pad", "begin"), [("SAME_UPPER", 2), ("SAME_LOWER", 3)])
def test_dilated_windows_have_onnx_pads(auto_pad, begin):
    got = run("MaxPool", kernel_shape=[4], dilations=[2], strides=[2], auto_pad=auto_pad)
    padded = np.pad(X, [(0, 0), (0, 0), (begin, 5 - begin)], constant_values=-np.inf)
    due = np.max([padded[:, :, 2 * k : 2 * k + 7 : 2] for k in range(4)], axis=0)
    np.testing.assert_array_equal(got, due)


REACH = {"kernel_shape": [4], "dilations": [3]}  # pads: 9, more than the window's items


def windows(x, fill, auto_pad, stride=1):
    """Return the elements of REACH's windows along a new last axis."""
    total = (-(-x.shape[2] // stride) - 1) * stride + 10 - x.shape[2]
    begin = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
    ends = [(0, 0), (0, 0), (begin, total - begin)]
    padded = np.pad(x, ends, constant_values=fill)
    n = -(-x.shape[2] // stride)
    return np.stack([padded[:, :, k * 3 : k * 3 + n * stride : stride] for k in range(4)], -1)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("stride", [1, 2])
def test_pads_may_exceed_the_window(auto_pad, stride):
    same = REACH | {"auto_pad": auto_pad, "strides": [stride]}
    zeros, nans = (windows(X, fill, auto_pad, stride) for fill in (0, np.nan))
    whole = (X * 20).astype(np.int8)
    due = {
        "MaxPool": np.nanmax(nans, -1),
        "AveragePool": np.nanmean(nans, -1),
        "LpPool": np.sqrt((zeros**2).sum(-1)),
    }
    for op, right in due.items():
        np.testing.assert_allclose(run(op, **same), right, 1e-6, err_msg=op)
    got = run("AveragePool", count_include_pad=1, **same)
    np.testing.assert_allclose(got, zeros.mean(-1), 1e-6, 1e-7)
    got = run("MaxPool", whole, dtype=TensorProto.INT8, **same)
    np.testing.assert_array_equal(got, windows(whole, -128, auto_pad, stride).max(-1))


def test_pads_may_exceed_the_window_on_two_axes():
    x = floats(1, 2, 8, 5)
    shape = {"kernel_shape": [4, 2], "dilations": [3, 1], "auto_pad": "SAME_UPPER"}
    rows = np.pad(x, [(0, 0), (0, 0), (4, 5), (0, 1)], constant_values=np.nan)
    elements = [rows[:, :, 3 * i : 3 * i + 8, j : j + 5] for i in range(4) for j in range(2)]
    np.testing.assert_allclose(run("AveragePool", x, **shape), np.nanmean(elements, 0), 1e-6, 1e-7)
    got = run("MaxPool", x, opset=10, **shape)
    np.testing.assert_array_equal(got, np.nanmax(elements, 0))


def test_windows_of_only_pads_are_refused():
    with pytest.raises(OrtError, match="Pad should be smaller than kernel"):
        run("MaxPool", X[:, :, :1], kernel_shape=[2], dilations=[5], auto_pad="SAME_UPPER")


def test_pools_with_same_pads_pass_the_check():
    same = REACH | {"auto_pad": "SAME_UPPER"}
    for op in ("MaxPool", "AveragePool", "LpPool"):
        interface = [value("x", X.shape)], [value("y", X.shape)]
        options = Options(vector=True)
        converted = convert(model([(op, "x", "y", same)], *interface, opset=19), options)
        assert check(converted, options).is_checked


SAME = {"kernel_shape": [1], "strides": [3], "auto_pad": "SAME_LOWER"}


def test_pools_in_a_branch_are_right():
    pool = helper.make_node("MaxPool", ["x"], ["inner"], **SAME)
    inner = helper.make_tensor_value_info("inner", TensorProto.FLOAT, None)
    body = helper.make_graph([pool], "body", [], [inner])
    proto = model(
        [
            ("ReduceMax", "x", "top", {"keepdims": 0}),
            ("Cast", "top", "yes", {"to": TensorProto.BOOL}),
            ("If", "yes", "y", {"then_branch": body, "else_branch": body}),
        ],
        [value("x", X.shape)],
        [value("y", None)],
        opset=19,
    )
    got = open_session(proto).run(None, {"x": X})[0]
    np.testing.assert_array_equal(got, X[:, :, ::3])


@pytest.mark.parametrize("names", ["padding, kernel_shape, strides", ""])
def test_pools_in_a_function_are_right(names):
    """Attributes come from the call, or from the function's node."""
    refers = "auto_pad: string = @padding, kernel_shape: ints = @kernel_shape, "
    own = 'auto_pad = "SAME_LOWER", kernel_shape = [1], strides = [3]'
    attributes = refers + "strides: ints = @strides" if names else own
    call = {name.replace("auto_pad", "padding"): v for name, v in SAME.items()}
    proto = model(
        [("Pool", "x", "y", {"domain": "own", **(call if names else {})})],
        [value("x", X.shape)],
        [value("y", X[:, :, ::3].shape)],
        opset=19,
    )
    function = parser.parse_function(
        f"""<opset_import: ["" : 19], domain: "own">
        Pool {f"<{names}>" if names else ""} (x) => (y) {{ y = AveragePool <{attributes}> (x) }}"""
    )
    proto.functions.append(function)
    got = open_session(proto).run(None, {"x": X})[0]
    np.testing.assert_allclose(got, X[:, :, ::3], 1e-6)


@pytest.mark.parametrize(("padding", "begin"), [({}, 3), ({"padding": "SAME_UPPER"}, 2)])
def test_pools_in_a_function_with_a_default_are_right(padding, begin):
    """SAME stands only among the function's defaults, which a call may replace."""
    y = np.pad(X, [(0, 0), (0, 0), (begin, 5 - begin)], constant_values=-np.inf)
    due = np.max([y[:, :, 2 * k : 2 * k + 7 : 2] for k in range(4)], axis=0)
    proto = model(
        [("Pool", "x", "y", {"domain": "own", **padding})],
        [value("x", X.shape)],
        [value("y", due.shape)],
        opset=19,
    )
    function = parser.parse_function(
        """<opset_import: ["" : 19], domain: "own">
        Pool <padding: string = "SAME_LOWER"> (x) => (y) {
            y = MaxPool <auto_pad: string = @padding, kernel_shape = [4], dilations = [2],
                strides = [2]> (x)
        }"""
    )
    proto.functions.append(function)
    np.testing.assert_array_equal(open_session(proto).run(None, {"x": X})[0], due)
    vector = convert(proto, Options(golden=[X], vector=True)).vector
    np.testing.assert_array_equal(vector.values[0], due)
