"""Transposes cancel after being pushed through graphs, or are merged into dense weights."""

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

X = randn(1, 6, 7, 3)  # NHWC
WEIGHTS = {"w": randn(3, 3, 3, 3), "bias": randn(3), "slope": randn(1, 1, 1, 3), "row": randn(3)}
SCALE = {"s": np.float32(0.1), "z": np.uint8(7), "ss": np.float32([0.1, 0.2, 0.3])}
SCALE["zz"] = np.uint8([5, 6, 7])


def to_nchw(x, y):
    return node("Transpose", x, y, perm=[0, 3, 1, 2])


def to_nhwc(x, y):
    return node("Transpose", x, y, perm=[0, 2, 3, 1])


def conv(x, y):
    return node("Conv", f"{x} w bias", y, pads=[1, 1, 1, 1])


def between_convs(*middle, constants=None, **kwargs):
    """Return operators after rewriting of NHWC nodes from a to c between Keras's convs."""
    nodes = [conv("x", "u"), to_nhwc("u", "a"), *middle, to_nchw("c", "v"), conv("v", "y")]
    x = X.transpose(0, 3, 1, 2)
    return Case(nodes, {"x": x}, {**WEIGHTS, **SCALE, **(constants or {})}, **kwargs).rewritten()


@pytest.mark.parametrize(
    ("middle", "constants"),
    [
        ([node("Elu", "a", "c")], {}),
        ([node("Mul", "a a", "c")], {}),
        ([node("Max", "a row", "c")], {}),
        ([node("PRelu", "a slope", "c")], {}),
        ([node("Softmax", "a", "c", axis=-1)], {}),
        ([node("Softmax", "a", "c", axis=1)], {}),
        ([node("Softplus", "a", "d"), node("Sub", "a d", "c")], {}),
        ([node("Slice", "a i j k", "c")], {"i": [0], "j": [4], "k": [1]}),
        ([node("Slice", "a i j", "c")], {"i": [0, 1], "j": [1, 4]}),
        (
            [node("Slice", "a i j", "d"), node("Pad", "d p r", "c")],
            {"i": [0, 1], "j": [1, 4], "p": [0, 2, 1, 0, 0, 0, 3, 0], "r": np.float32(1)},
        ),
        ([node("Split", "a", "d e", axis=1), node("Concat", "e d", "c", axis=2)], {}),
        ([node("QuantizeLinear", "a s z", "d"), node("DequantizeLinear", "d s z", "c")], {}),
        (
            [
                node("QuantizeLinear", "a ss zz", "d", axis=3),
                node("DequantizeLinear", "d ss zz", "c", axis=-1),
            ],
            {},
        ),
    ],
)
def test_pairs_around_a_node_cancel(middle, constants):
    constants = {
        n: v if isinstance(v, np.ndarray) else np.asarray(v) for n, v in constants.items()
    }
    constants = {n: v.astype(np.int64) if v.dtype == int else v for n, v in constants.items()}
    result = between_convs(*middle, constants=constants)
    assert "Transpose" not in result


def test_a_residual_block_needs_no_transpose():
    nodes = [to_nchw("x", "t"), conv("t", "a"), to_nhwc("a", "b"), node("Relu", "b", "c")]
    nodes += [to_nchw("c", "d"), conv("d", "e"), to_nhwc("e", "f"), node("Add", "f c", "g")]
    nodes += [node("Elu", "g", "h"), to_nchw("h", "i"), conv("i", "j"), to_nhwc("j", "y")]
    result = Case(nodes, {"x": X}, WEIGHTS).rewritten()
    assert result["Transpose"] == 2  # of the graph's input and output


def test_squeeze_and_excitation_needs_no_transpose():
    mean = node("ReduceMean", "a", "m", axes=[1, 2], keepdims=1)
    gate = [to_nchw("m", "mt"), conv("mt", "g"), to_nhwc("g", "gt"), node("Sigmoid", "gt", "h")]
    result = between_convs(mean, *gate, node("Mul", "a h", "c"))
    assert "Transpose" not in result


@pytest.mark.parametrize("keepdims", [0, 1])
def test_a_mean_over_the_plane_needs_no_transpose(keepdims):
    nodes = [conv("x", "a"), to_nhwc("a", "b"), node("Relu", "b", "c")]
    nodes += [node("ReduceMean", "c", "d", axes=[1, 2], keepdims=keepdims), node("Neg", "d", "y")]
    result = Case(nodes, {"x": X.transpose(0, 3, 1, 2)}, WEIGHTS).rewritten()
    assert "Transpose" not in result


def test_a_maximum_over_channels_needs_a_small_transpose_at_most():
    nodes = [conv("x", "a"), to_nhwc("a", "b"), node("ArgMax", "b", "y", axis=3, keepdims=0)]
    result = Case(nodes, {"x": X.transpose(0, 3, 1, 2)}, WEIGHTS).rewritten()
    assert "Transpose" not in result


def test_dims_of_1_that_come_and_go_do_no_harm():
    """tf2onnx writes Conv1D layers so: NWC -> N1WC -> NC1W."""
    turned = {"perm": [0, 3, 1, 2]}
    nodes, constants = [], {"w": randn(4, 4, 1, 3), "one": np.int64([1])}
    value = "x"
    for i in range(3):
        nodes += [
            node("Unsqueeze", f"{value} one", f"a{i}"),
            node("Transpose", f"a{i}", f"b{i}", **turned),
            node("Conv", f"b{i} w", f"c{i}", pads=[0, 1, 0, 1]),
            node("Transpose", f"c{i}", f"d{i}", perm=[0, 2, 3, 1]),
            node("Squeeze", f"d{i} one", f"e{i}"),
            node("Elu", f"e{i}", f"f{i}"),
        ]
        value = f"f{i}"
    nodes.append(node("Neg", value, "y"))
    result = Case(nodes, {"x": randn(1, 9, 4)}, constants).rewritten()
    assert result["Transpose"] == 2


def test_transposes_stay_if_no_bytes_are_saved():
    turned = node("Transpose", "x", "t", perm=[0, 3, 1, 2])
    result = Case([turned, node("Elu", "t", "y")], {"x": X}).rewritten()
    assert result == {"Transpose": 1, "Elu": 1}


def test_softmax_of_old_opsets_stays():
    result = between_convs(node("Softmax", "a", "c", axis=1), opset=11)
    assert result["Transpose"] == 2


def test_bytes_are_transposed_rather_than_floats():
    nodes = [node("DequantizeLinear", "x s z", "a"), to_nchw("a", "b"), conv("b", "y")]
    case = Case(nodes, {"x": (X * 40).astype(np.uint8)}, {**WEIGHTS, **SCALE})
    case.rewritten()
    assert [n.op_type for n in case.done.graph.node] == ["Transpose", "DequantizeLinear", "Conv"]


def test_padding_moves_behind_and_is_merged():
    nodes = [node("Pad", "x p", "a"), to_nchw("a", "b"), conv("b", "y")]
    constants = {**WEIGHTS, "p": np.int64([0, 1, 2, 0, 0, 0, 3, 0])}
    assert Case(nodes, {"x": X}, constants).rewritten() == {"Transpose": 1, "Conv": 1}


def dense(*between, inputs=X, flat=(1, -1), last=None, **constants):
    nodes = [to_nhwc("x", "a"), node("Reshape", "a flat", "b"), *between]
    nodes.append(last or node("MatMul", "c m", "y"))
    if not between:
        nodes.insert(2, node("Relu", "b", "c"))
    constants = {"m": randn(126, 5), "flat": np.int64(flat), **SCALE, **constants}
    case = Case(nodes, {"x": inputs.transpose(0, 3, 1, 2)}, constants)
    return case.rewritten()


def test_a_dense_layer_absorbs_the_transpose():
    assert "Transpose" not in dense()
    assert "Transpose" not in dense(last=node("Gemm", "c m", "y", transB=1), m=randn(5, 126))
    assert "Transpose" not in dense(inputs=randn(2, 6, 7, 3), flat=(2, -1))


def test_a_quantized_dense_layer_absorbs_the_transpose():
    quantized = {"q": np.random.default_rng(0).integers(0, 255, (126, 5)).astype(np.uint8)}
    weights = node("DequantizeLinear", "q s5 z5", "m2", axis=1)
    quantized |= {"s5": np.abs(randn(5)) + 0.1, "z5": np.uint8([0, 9, 99, 128, 255])}
    middle = [node("QuantizeLinear", "b s z", "d"), node("DequantizeLinear", "d s z", "c")]
    result = dense(*middle, weights, last=node("MatMul", "c m2", "y"), **quantized)
    assert "Transpose" not in result


def test_transposes_that_a_dense_layer_cannot_absorb_stay():
    middle = node("Relu", "b", "c")
    assert dense(flat=(6, 21), m=randn(21, 5))["Transpose"] == 1
    second = node("Add", "c row", "y")
    assert dense(middle, last=second, row=randn(126))["Transpose"] == 1
