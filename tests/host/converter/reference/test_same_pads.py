"""Pools with auto_pad SAME that onnxruntime refuses or pads otherwise than ONNX says."""

import numpy as np
import pytest
from onnx import TensorProto, helper, parser

from tests.host.device.small import floats, model, value
from tools.converter.reference.ort_error import OrtError
from tools.converter.reference.ort_session import open_session

X = floats(1, 2, 8)


def run(op, x=X, **attributes):
    proto = model(
        [(op, "x", "y", attributes)], [value("x", x.shape)], [value("y", None)], opset=19
    )
    return open_session(proto).run(None, {"x": x})[0]


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("stride", [2, 3, 4, 7])
def test_strides_beyond_the_window(op, stride, ceil_mode, auto_pad):
    got = run(op, kernel_shape=[1], strides=[stride], auto_pad=auto_pad, ceil_mode=ceil_mode)
    due = X[:, :, ::stride]
    np.testing.assert_allclose(got, np.abs(due) if op == "LpPool" else due, 1e-6)


@pytest.mark.parametrize(("auto_pad", "begin"), [("SAME_UPPER", 2), ("SAME_LOWER", 3)])
def test_dilated_windows(auto_pad, begin):
    got = run("MaxPool", kernel_shape=[4], dilations=[2], strides=[2], auto_pad=auto_pad)
    padded = np.pad(X, [(0, 0), (0, 0), (begin, 5 - begin)], constant_values=-np.inf)
    due = np.max([padded[:, :, 2 * k : 2 * k + 7 : 2] for k in range(4)], axis=0)
    np.testing.assert_array_equal(got, due)


def test_pads_beyond_the_window_are_refused():
    with pytest.raises(OrtError, match="Pad should be smaller than kernel"):
        run("MaxPool", kernel_shape=[4], dilations=[3], auto_pad="SAME_UPPER")


SAME = {"kernel_shape": [1], "strides": [3], "auto_pad": "SAME_LOWER"}


def test_pools_in_a_branch():
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


@pytest.mark.parametrize("given", ["auto_pad, kernel_shape, strides", ""])
def test_pools_in_a_function(given):
    """With attributes of the call, and with its own."""
    refers = "auto_pad: string = @auto_pad, kernel_shape: ints = @kernel_shape, "
    own = 'auto_pad = "SAME_LOWER", kernel_shape = [1], strides = [3]'
    attributes = refers + "strides: ints = @strides" if given else own
    proto = model(
        [("Pool", "x", "y", {"domain": "own", **(SAME if given else {})})],
        [value("x", X.shape)],
        [value("y", X[:, :, ::3].shape)],
        opset=19,
    )
    function = parser.parse_function(
        f"""<opset_import: ["" : 19], domain: "own">
        Pool {f"<{given}>" if given else ""} (x) => (y) {{ y = AveragePool <{attributes}> (x) }}"""
    )
    proto.functions.append(function)
    proto.opset_import.append(helper.make_opsetid("own", 1))
    got = open_session(proto).run(None, {"x": X})[0]
    np.testing.assert_allclose(got, X[:, :, ::3], 1e-6)
