"""Nodes whose values one exponent cannot hold are reported; they get several, or floats."""

import numpy as np
import pytest
from onnx import helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs

WIDE = np.array([[3e7, 0.125, -1.5]], np.float32)  # the first value drowns the others
FINER = "its range is too wide for one block"


def model():
    """Return two products of one input: a large value takes part in one only."""
    nodes = [("MatMul", "x w", "y", {"name": "calm"}), ("MatMul", "x v", "z", {"name": "drowned"})]
    w = np.array([[1, 2], [1, 1], [2, 1]], np.float32)
    v = np.array([[0, 0], [1, 2], [3, 1]], np.float32)
    inputs = [small.value("x", (1, 3))]
    outputs = [small.value("y", (1, 2)), small.value("z", (1, 2))]
    return small.model(nodes, inputs, outputs, w=w, v=v)


def kernels_of(converted):
    """Return the kernels of the products by the names of their nodes."""
    return {step.node.split()[1]: step.kernel for step in converted.graph.steps if step.macs}


def test_a_node_that_loses_too_much_is_named():
    pytest.importorskip("onnxruntime")
    converted = convert(model(), Options(golden=[WIDE]))
    assert kernels_of(converted) == {"calm": "block_gemm", "drowned": "block_gemm"}
    assert "drowned: each channel times a power of two; " + FINER in converted.notes
    assert not [note for note in converted.notes if "calm" in note]


def test_no_node_is_named_if_values_are_alike():
    converted = convert(model(), Options(golden=[np.array([[3, 0.125, -1.5]], np.float32)]))
    assert set(kernels_of(converted).values()) == {"block_gemm"}
    assert not [note for note in converted.notes if "too wide" in note]


def test_float_python_computes_all_nodes_in_floats():
    converted = convert(model(), Options(float="python", golden=[WIDE]))
    assert set(kernels_of(converted).values()) == {"gemm"}


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_wide_products_agree_with_onnxruntime(target):
    expected = small.expected(model(), WIDE)
    converted = convert(model(), Options(golden=[WIDE], strip=True))
    [outcome] = run_jobs(target, [Job(converted.data, [[WIDE.tobytes()]])])
    assert not outcome.error, outcome.message
    for raw, values in zip(outcome.runs[0].outputs, expected, strict=True):
        got = np.frombuffer(raw, np.float32)
        assert np.abs(got - values.ravel()).max() <= 2e-5 * np.abs(values).max()


def test_channels_without_weight_do_not_count():
    pytest.importorskip("onnxruntime")
    x = np.full((1, 2, 4, 4), 0.25, np.float32)
    x[0, 0] = 4e7  # a channel that the convolution's weights leave out
    w = np.zeros((1, 2, 3, 3), np.float32)
    w[0, 1] = 1.5
    nodes = [("Conv", "x w", "y", {"name": "conv"})]
    conv = small.model(nodes, [small.value("x", x.shape)], [small.value("y", (1, 1, 2, 2))], w=w)
    converted = convert(conv, Options(golden=[x]))
    assert kernels_of(converted) == {"conv": "block_conv"}
    assert "conv: each channel times a power of two; " + FINER in converted.notes


@pytest.mark.parametrize(
    ("a", "b", "kernel", "note"),
    [
        (WIDE, [0, 1, 1], "block_gemm", "pair: each channel times a power of two; " + FINER),
        (
            np.array([[3e7, 0, 1]], np.float32),
            [0, 3e7, 1],  # what is 1 counts, and neither operand can hold it
            "gemm",
            "pair: computed with floats; its range is too wide for blocks",
        ),
    ],
)
def test_computed_second_operands_are_examined(a, b, kernel, note):
    pytest.importorskip("onnxruntime")
    pair = helper.make_node("MatMul", ["a", "b"], ["y"], name="pair")
    infos = [small.value("a", (1, 3)), small.value("b", (3, 1))]
    product = small.model([pair], infos, [small.value("y", (1, 1))])
    converted = convert(product, Options(golden=[a, np.array(b, np.float32)[:, None]]))
    assert kernels_of(converted) == {"pair": kernel}
    assert note in converted.notes


def test_a_node_too_wide_for_16_bits_is_exact():
    x = np.array([[2e2, 0.1, -1.53]], np.float32)
    converted = convert(model(), Options(golden=[x], float="fast16"))
    kinds = {step.node.split()[1]: step.inputs[1].dtype for step in converted.graph.steps}
    assert kernels_of(converted) == {"calm": "block_gemm", "drowned": "block_gemm"}
    assert kinds == {"calm": 12, "drowned": 6}
    assert [note for note in converted.notes if note.startswith("drowned: exact")]
    assert not [note for note in converted.notes if note.startswith("calm")]
