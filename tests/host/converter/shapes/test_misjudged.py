"""Where onnx's shape inference is wrong, shapes are those that onnxruntime computes.

Declarations do not matter. MPCONNXR_LONG=1: many random forms of each operator.
"""

import os
import zlib

import numpy as np
import onnx
import pytest
from onnx import defs, helper
from onnx.reference import ReferenceEvaluator

from tests.host.ops.against_ort import Node, compare
from tools.conformance.ms.making import Draw
from tools.converter.context import PLAIN
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError
from tools.converter.reference.ort_session import OrtError, open_session
from tools.converter.shapes import infer, misjudged

from .random_forms import FORMS, form

N = 200 if os.environ.get("MPCONNXR_LONG") == "1" else 3  # random forms of a version
NEWEST_STFT = 26  # opset of ONNX that onnxruntime runs STFT at


def floats(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


IMAGE, SIGNAL, FRAME = floats(1, 1, 6, 6), floats(1, 16, 1), np.array(8)
# The operator of a fault: nodes that meet it.
EXAMPLES = {
    "pools": [
        Node(op, [IMAGE], {"kernel_shape": [1, 1], "strides": [4, 4], "ceil_mode": 1}, opset)
        for op in ("AveragePool", "MaxPool", "LpPool")
        for opset in (18, 21, 22)
    ]
    + [
        Node(op, [IMAGE], {"kernel_shape": [2, 2], "auto_pad": "VALID", "pads": [1] * 4}, opset)
        for op in ("AveragePool", "MaxPool", "LpPool")
        for opset in (11, 22)
    ],
    "ConvTranspose": [
        Node(
            "ConvTranspose",
            [IMAGE, floats(1, 2, 3, 3)],
            {"auto_pad": auto_pad, "strides": [2, 3], "output_padding": [1, 1]},
            opset,
            fixed=(1,),
        )
        for auto_pad in ("SAME_UPPER", "SAME_LOWER")
        for opset in (7, 11, 22)
    ],
    "Einsum": [
        Node("Einsum", [floats(3), floats(4, 3, 2)], {"equation": equation}, 12)
        for equation in ("...k,...kj->...j", "... k, ...kj")
    ],
    "MeanVarianceNormalization": [
        Node("MeanVarianceNormalization", [floats(1, 2, 3, 3)], {}, opset) for opset in (13, 21)
    ],
    "STFT": [
        Node("STFT", [SIGNAL, np.array(4), *rest], attrs, opset, fixed=fixed)
        for opset in range(17, NEWEST_STFT + 1)
        for attrs in ({}, {"onesided": 1}, {"onesided": 0})
        for rest, fixed in (([None, FRAME], (1, 3)), ([floats(8)], (1,)))
    ],
    "Slice": [
        Node("Slice", [np.arange(3), *map(np.array, ([0], [3], [0], [step]))], {}, opset,
             (1, 2, 3, 4), (np.int64,))
        for opset in (11, 13)
        for step in (2**31 - 1, 2**31, 2**62, 2**63 - 1)
    ],
    "Squeeze": [
        Node("Squeeze", [floats(2, 3, 1, 1)], {"axes": axes}, opset)
        for axes in ([3, 2], [2, 3], [-2])
        for opset in (7, 10, 11)
    ],
    "Unsqueeze": [
        Node("Unsqueeze", [floats(2, 3)], {"axes": axes}, opset)
        for axes in ([-1], [0, -2])
        for opset in (7, 10, 11)
    ],
}  # fmt: skip


def due(node):
    """Return the right outputs: onnxruntime's, or onnx's reference evaluator's for Einsum."""
    pytest.importorskip("onnxruntime")
    model = node.model()
    names = [info.name for info in model.graph.input]
    feed = dict(zip(names, node.values(), strict=True))
    if node.op == "Einsum":
        return ReferenceEvaluator(model).run(None, feed)
    return open_session(model).run(None, feed)


@pytest.mark.parametrize("operator", EXAMPLES)
@pytest.mark.parametrize("target", ["unix"], indirect=True)
def test_values_and_shapes_are_right(operator, target):
    nodes = EXAMPLES[operator]
    expected = [due(node) for node in nodes]
    compare(target, nodes, expected, 1e-4, 1e-5)
    for node, [y] in zip(nodes, expected, strict=True):
        longer, other = [*y.shape, 1], [d + 1 for d in y.shape]
        for declared in (None, longer, other):
            converted = convert(node.model([declared]), Options(strip=True))
            assert converted.graph.outputs[0].shape == y.shape, f"{node}, declared {declared}"


def faulty_examples():
    results = {fault: [] for fault in misjudged.FAULTS}
    for node in (node for nodes in EXAMPLES.values() for node in nodes):
        model = node.model()
        constants = misjudged.constants_of(model)
        if fault := misjudged.fault_of(model.graph.node[0], node.opset, constants):
            results[fault].append(node)
    return results


@pytest.mark.parametrize(
    ("fault", "nodes"),
    [
        (f, n) for f, n in faulty_examples().items() if f.operators != ("Slice",)
    ],  # takes all memory
)
def test_onnx_still_infers_wrong_shapes(fault, nodes):
    """If this fails, the entry in misjudged.py can go. Slice is omitted: it takes all memory."""
    assert nodes, f"no example of {fault}"
    assert any(is_misjudged(node) for node in nodes), f"onnx has mended: {fault.text}"


def is_misjudged(node):
    try:
        result = onnx.shape_inference.infer_shapes(node.model(), strict_mode=True)
    except onnx.shape_inference.InferenceError:
        return True
    return shape_of(result) != list(due(node)[0].shape)


def shape_of(model):
    return [d.dim_value for d in model.graph.output[0].type.tensor_type.shape.dim]


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (
            Node("STFT", [floats(1, 16, 2), np.array(4), None, FRAME], {}, 17, (1, 3)),
            "onesided, 1 by default, is for real samples",
        ),
        (Node("Squeeze", [floats(1, 2), np.array([], np.int64)], {}, 13, (1,)), "empty axes"),
        (Node("PRelu", [floats(2, 3), floats(1, 2, 3)], {}, 16, (1,)), "broadcasts it one way"),
        (
            Node("Slice", [floats(4), *map(np.array, ([3], [2**63 - 1], [0], [-1]))], {}, 13,
                 (1, 2, 3, 4)),
            "by ONNX's rules the slice is empty",
        ),
    ],
)  # fmt: skip
def test_where_onnxruntime_contradicts_onnx_the_node_is_refused(node, reason):
    with pytest.raises(ConvertError, match=reason):
        convert(node.model())


def test_wrong_shapes_are_corrected_in_branches_and_functions():
    """The node lies as deep as the body of a function."""
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[1, 16, 1] x, bool c) => (float[9, 9] y) <int64 step = {4}, int64 n = {8}>
        { y = own.f (x, c, step, n) }
        <opset_import: ["" : 17], domain: "own">
        f (x, c, step, n) => (y) { y = If (c) <
            then_branch = t () => (a) { s = STFT (x, step, , n) a = Neg (s) },
            else_branch = e () => (b) { b = STFT <onesided = 1> (x, step, , n) }> }""")
    assert convert(model).graph.outputs[0].shape == (1, 3, 5, 2)


def versions():
    for op in FORMS:
        known = sorted(s.since_version for s in defs.get_all_schemas_with_history()
                       if (s.domain, s.name) == ("", op) and not s.deprecated)  # fmt: skip
        for since, following in zip(known, [*known[1:], 99], strict=True):
            if following > 7:
                yield op, max(since, 7)


@pytest.mark.parametrize(("op", "opset"), list(versions()))
def test_random_forms_have_the_shape_that_onnxruntime_computes(op, opset):
    pytest.importorskip("onnxruntime")
    draw = Draw(zlib.crc32(f"{op}{opset}".encode()))
    compared = 0
    for _ in range(4 * N):
        node = form(draw, op, opset)
        model = node.model()
        try:
            expected = due(node)
        except (OrtError, TypeError):  # the evaluator knows no empty equation
            continue
        for info, y in zip(model.graph.output, expected, strict=True):
            info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(y.dtype)
        result = infer.infer(model, PLAIN)
        assert shape_of(result) == list(expected[0].shape), str(node)
        compared += 1
        if compared == N:
            return
    assert compared or opset > 21, "onnxruntime took none"
