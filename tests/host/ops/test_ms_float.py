"""Float operators of domain com.microsoft on MicroPython, against onnxruntime."""

import ml_dtypes
import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.against_ort import compare
from tests.host.ops.ms_node import MsNode
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError

on_targets = pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
rng = np.random.default_rng(11)
F = np.float32


def floats(*shape):
    return rng.standard_normal(shape).astype(F)


ACTIVATIONS = [
    ("Relu", []),
    ("Tanh", []),
    ("Sigmoid", []),
    ("LeakyRelu", [0.2]),
    ("Clip", [-0.5, 1.5]),
    ("HardSigmoid", [0.3, 0.4]),
]


@on_targets
def test_fused_conv_agrees(target):
    x, w, b = floats(2, 4, 6, 7), floats(6, 2, 3, 2), floats(6)
    shape = {"group": 2, "pads": [1, 0, 1, 1], "strides": [2, 1]}
    nodes = [
        MsNode("FusedConv", [x, w, b], {**shape, "activation": name, "activation_params": params})
        for name, params in ACTIVATIONS
        if params
    ]
    nodes += [
        MsNode("FusedConv", [x, w, b], {**shape, "activation": name}, fixed=(1, 2))
        for name, params in ACTIVATIONS
        if not params
    ]
    z = floats(2, 6, 3, 7)
    nodes += [
        MsNode("FusedConv", [x, w, b, z], {**shape, "activation": "Relu"}),
        MsNode("FusedConv", [x, w, None, z], {**shape, "activation": "Relu"}, fixed=(1,)),
        MsNode("FusedConv", [x, w], shape),
    ]
    compare(target, nodes, rtol=1e-5, atol=1e-5)


@on_targets
def test_fused_gemm_agrees(target):
    a, b, c = floats(3, 5), floats(5, 4), floats(4)
    attributes = [
        {"activation": "Relu"},
        {"activation": "Tanh", "alpha": 0.5, "beta": 2.0},
        {"activation": "Sigmoid"},
        {"activation": "Softplus"},
        {"activation": "Softsign"},
        {"activation": "LeakyRelu", "activation_alpha": 0.2},
        {"activation": "Elu", "activation_alpha": 0.7},
        {"activation": "ThresholdedRelu", "activation_alpha": 0.7},
        {"activation": "HardSigmoid", "activation_alpha": 0.3, "activation_beta": 0.4},
    ]
    nodes = [MsNode("FusedGemm", [a, b, c], attrs) for attrs in attributes]
    turned = {"activation": "Relu", "transA": 1, "transB": 1}
    nodes.append(MsNode("FusedGemm", [floats(5, 3), floats(4, 5)], turned, fixed=(1,)))
    compare(target, nodes, rtol=1e-5, atol=1e-5)


@on_targets
def test_cdist_agrees(target):
    a, b = floats(5, 7), floats(40, 7)
    nodes = [
        MsNode("CDist", [a, b], {"metric": metric}, fixed=fixed)
        for metric in ("euclidean", "sqeuclidean")
        for fixed in ((), (1,))
    ]
    # onnxruntime takes |a|^2 + |b|^2 - 2ab, which loses digits where a is near b
    compare(target, nodes, rtol=1e-5, atol=1e-5)


def test_cdist_of_another_metric_is_refused():
    node = MsNode("CDist", [floats(2, 3), floats(4, 3)], {"metric": "cityblock"})
    with pytest.raises(ConvertError, match="metric cityblock"):
        convert(node.model([(2, 4)]))


@on_targets
def test_fused_matmul_agrees(target):
    def node(a, b, fixed=(), **attrs):
        return MsNode("FusedMatMul", [floats(*a), floats(*b)], attrs, fixed=fixed)

    nodes = []
    for fixed in ((), (1,)):
        nodes += [
            node((3, 4), (4, 5), fixed, alpha=0.25),
            node((4, 3), (5, 4), fixed, transA=1, transB=1),
            node((2, 3, 4), (2, 5, 4), fixed, transB=1, alpha=2.0),
            node((2, 2, 4, 3), (4, 5), fixed, transA=1),
            node((3, 2, 4), (2, 4, 5), fixed, transBatchA=1),
            node((4, 2, 3), (5, 2, 4), fixed, transBatchA=1, transA=1, transBatchB=1, transB=1),
            node((4, 2, 6, 3), (2, 6, 4, 5), fixed, transBatchA=1, transA=1),
        ]
    compare(target, nodes, rtol=1e-5, atol=1e-5)


@on_targets
def test_gelus_agree(target):
    x, bias = 3 * floats(2, 3, 8), floats(8)
    nodes = [
        MsNode("Gelu", [x]),
        MsNode("FastGelu", [x]),
        MsNode("FastGelu", [x, bias]),
        MsNode("BiasGelu", [x, bias], fixed=(1,)),
        MsNode("QuickGelu", [x]),
        MsNode("QuickGelu", [x], {"alpha": 1.0}),
    ]
    compare(target, nodes, rtol=2e-5, atol=2e-6)


@on_targets
def test_layer_normalizations_with_a_skip_agree(target):
    x, skip, gamma, beta, bias = floats(2, 3, 8), floats(2, 3, 8), *(floats(8) for _ in range(3))
    both = {"epsilon": 1e-3}
    full, simplified = "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"
    nodes = [
        MsNode(full, [x, skip, gamma]),
        MsNode(full, [x, skip, gamma, beta], both, fixed=(2, 3)),
        MsNode(full, [x, skip, gamma, beta, bias], both),
        MsNode(full, [x, floats(3, 8), gamma, beta]),
        MsNode(full, [x, floats(1, 3, 8), gamma, None, bias]),
        MsNode(simplified, [x, skip, gamma]),
        MsNode(simplified, [x, skip, gamma, bias], both),
    ]
    compare(target, nodes, rtol=2e-5, atol=2e-6)


@on_targets
def test_the_sum_before_a_normalization_is_an_output(target):
    node = MsNode("SkipLayerNormalization", [floats(2, 8), floats(2, 8), floats(8)])
    proto = node.model([(2, 8)])
    [made] = proto.graph.node
    made.output.extend(["", "", "total"])
    total = proto.graph.output.add()
    total.CopyFrom(proto.graph.output[0])
    total.name = "total"
    x, skip, _ = node.values()

    class WithSum(MsNode):
        def model(self, shapes=None):
            return proto

    both = WithSum(node.op, node.inputs, dtypes=(F, F))
    expected = node.expected() + [x + skip]
    compare(target, [both], [expected], rtol=2e-5, atol=2e-6)


@on_targets
def test_simplified_layer_normalization_agrees(target):
    """onnxruntime has it in ONNX's domain; ONNX does not define it."""
    x = floats(2, 3, 8)

    def node(inputs, attrs, **more):
        return MsNode("SimplifiedLayerNormalization", inputs, attrs, domain="", **more)

    nodes = [
        node([x, floats(8)], {}),
        node([x, floats(3, 8)], {"axis": 1, "epsilon": 0.1}),
        node([x, floats(8)], {"axis": -1}, dtypes=(F, F)),
    ]
    compare(target, nodes, rtol=2e-5, atol=2e-6)


def packed(q, bits):
    """Return numbers (rows, n) packed into bytes (rows, ...), the lowest bits first."""
    per = 8 // bits
    q = np.pad(q, [(0, 0), (0, -q.shape[1] % per)]).reshape(len(q), -1, per)
    return (q << np.arange(0, 8, bits)).sum(axis=2).astype(np.uint8)


def matmul_nbits(bits, n, k, size, zeros=None, **more):
    blocks = -(-k // size)
    q = rng.integers(0, 1 << bits, (n, blocks * size))
    b = packed(q, bits).reshape(n, blocks, -1)
    inputs = [floats(2, 3, k), b, np.abs(floats(n, blocks)) * F(0.1)]
    if zeros == "packed":
        inputs.append(packed(rng.integers(0, 1 << bits, (n, blocks)), bits))
    elif zeros == "floats":
        inputs.append(floats(n, blocks))
    attrs = {"N": n, "K": k, "bits": bits, "block_size": size, **more}
    fixed = tuple(range(1, len(inputs)))
    return MsNode("MatMulNBits", inputs, attrs, fixed=fixed)


@on_targets
def test_matmul_nbits_agrees(target):
    nodes = [
        matmul_nbits(4, 5, 32, 16),
        matmul_nbits(4, 5, 48, 16, "packed"),
        matmul_nbits(4, 7, 40, 32, "packed"),
        matmul_nbits(4, 3, 64, 32, accuracy_level=0),
        matmul_nbits(4, 3, 40, 32, "floats"),
        matmul_nbits(8, 5, 32, 16),
        matmul_nbits(8, 5, 48, 16, "packed"),
    ]
    biased = matmul_nbits(4, 5, 32, 16)
    biased.inputs += [None, None, floats(5)]
    biased.fixed += (5,)
    ordered = matmul_nbits(4, 5, 32, 16)
    ordered.inputs += [None, rng.permutation(np.arange(32) // 16).astype(np.int32)]
    ordered.fixed += (4,)
    compare(target, [*nodes, biased, ordered], rtol=1e-4, atol=1e-4)


def test_weights_of_few_bits_stay_packed():
    for bits in (4, 8):
        node = matmul_nbits(bits, 64, 256, 32, "packed")
        converted = convert(node.model([(2, 3, 64)]), Options(strip=True))
        assert [step.kernel for step in converted.graph.steps] == ["matmul_nbits"]
        packed_nbytes = 64 * 256 * bits // 8
        assert packed_nbytes < converted.report()["weight_bytes"] < packed_nbytes + 64 * 8 * 5 + 1


@on_targets
@pytest.mark.parametrize("mode", [("bits", "7"), ("words", "1"), ("several", "300")])
def test_damaged_weights_of_few_bits_do_no_harm(target, mode):
    data = convert(matmul_nbits(4, 3, 12, 8).model([(2, 3, 3)]), Options(strip=True)).data
    report = small.damage(target, data, *mode)
    assert report.ok and report.refused > 100 and report.ran > 10, report


class ThereAndBack(MsNode):
    """QuantizeLinear and DequantizeLinear: onnxruntime does not return numbers of 4 bits."""

    def model(self, shapes=None):
        model = super().model(shapes)
        quantize = model.graph.node[0]
        back = model.graph.node.add()
        back.CopyFrom(quantize)
        back.op_type = "DequantizeLinear"
        back.input[0] = quantize.output[0] = "q"
        return model


@on_targets
def test_float16_operators_agree(target):
    """They compute in float32: onnxruntime is off by more than a float16's last digit."""
    half = np.float16
    x, skip, gamma = (floats(*s).astype(half) for s in ((2, 3, 8), (2, 3, 8), (8,)))
    few = matmul_nbits(4, 5, 32, 16)
    few.inputs = [few.inputs[0].astype(half), few.inputs[1], few.inputs[2].astype(half)]
    few.dtypes = (half,)
    nodes = [
        MsNode("SkipLayerNormalization", [x, skip, gamma], fixed=(2,), dtypes=(half,)),
        few,
    ]
    compare(target, nodes, rtol=4e-3, atol=4e-3)


INT4 = (ml_dtypes.int4, ml_dtypes.uint4)


@on_targets
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, *INT4])
def test_quantize_and_dequantize_agree(target, dtype):
    """They work as in ai.onnx, at an opset that lacks some of these dtypes."""
    x, scale = 3 * floats(2, 3, 4), np.array([0.1, 0.2, 0.3], F)
    info = ml_dtypes.iinfo(dtype) if dtype in INT4 else np.iinfo(dtype)
    zeros = np.array([info.min // 2, 1, info.max // 2], np.int32).astype(dtype)
    q = rng.integers(info.min, info.max + 1, (2, 3, 4)).astype(dtype)
    by_axis = {"axis": 1}
    nodes = [
        ThereAndBack("QuantizeLinear", [x, scale, zeros], by_axis, fixed=(1, 2)),
        ThereAndBack("QuantizeLinear", [x, scale[0], zeros[0]], fixed=(1, 2)),
        MsNode("DequantizeLinear", [q, scale, zeros], by_axis, fixed=(0, 1, 2)),
        MsNode("DequantizeLinear", [q, scale[1], zeros[1]], fixed=(0, 1, 2)),
    ]
    if dtype not in INT4:
        more = {"fixed": (1, 2), "dtypes": (dtype,)}
        nodes += [
            MsNode("QuantizeLinear", [x, scale, zeros], by_axis, **more),
            MsNode("QuantizeLinear", [x, scale[0], zeros[0]], **more),
        ]
    compare(target, nodes)


REFUSED = [
    (MsNode("FusedConv", [floats(1, 1, 4), floats(1, 1, 2)], {"activation": "Sin"}), "activation"),
    (MsNode("FusedMatMul", [floats(2, 3), floats(3, 2)], {"transBatchA": 1}), "transBatchA"),
    (MsNode("FusedMatMul", [floats(2, 3), floats(2, 2)]), "Incompatible"),
]


@pytest.mark.parametrize(("node", "text"), REFUSED)
def test_nonsensical_nodes_are_refused(node, text):
    with pytest.raises(ConvertError, match=text):
        convert(node.model([(1, 1, 3) if node.op == "FusedConv" else (2, 2)]), Options(strip=True))
