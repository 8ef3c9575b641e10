"""Nodes whose values one exponent cannot hold are named, and get finer ones or floats."""

import numpy as np
import pytest
from onnx import helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs

WIDE = np.array([[3e7, 0.125, -1.5]], np.float32)  # the first value drowns the others
FINER = "its range is too wide for one block"


def model():
    """Two products of the same input: one that the large value takes part in, one without it."""
    nodes = [("MatMul", "x w", "y", {"name": "calm"}), ("MatMul", "x v", "z", {"name": "drowned"})]
    w = np.array([[1, 2], [1, 1], [2, 1]], np.float32)
    v = np.array([[0, 0], [1, 2], [3, 1]], np.float32)
    inputs = [small.value("x", (1, 3))]
    outputs = [small.value("y", (1, 2)), small.value("z", (1, 2))]
    return small.model(nodes, inputs, outputs, w=w, v=v)


def kernels_of(done):
    """Of the products."""
    return {step.node.split()[1]: step.kernel for step in done.graph.steps if step.macs}


def test_the_node_that_loses_too_much_is_named():
    pytest.importorskip("onnxruntime")
    done = convert(model(), Options(golden=[WIDE]))
    assert kernels_of(done) == {"calm": "block_gemm", "drowned": "block_gemm"}
    assert "drowned: each channel times a power of two; " + FINER in done.notes
    assert not [note for note in done.notes if "calm" in note]


def test_no_node_is_named_where_values_are_alike():
    done = convert(model(), Options(golden=[np.array([[3, 0.125, -1.5]], np.float32)]))
    assert set(kernels_of(done).values()) == {"block_gemm"}
    assert not [note for note in done.notes if "too wide" in note]


def test_python_is_floats_for_all():
    done = convert(model(), Options(float="python", golden=[WIDE]))
    assert set(kernels_of(done).values()) == {"gemm"}


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_its_result_is_onnxruntimes(target):
    wanted = small.expected(model(), WIDE)
    done = convert(model(), Options(golden=[WIDE], strip=True))
    [outcome] = run_jobs(target, [Job(done.data, [[WIDE.tobytes()]])])
    assert not outcome.error, outcome.message
    for raw, values in zip(outcome.runs[0].outputs, wanted, strict=True):
        got = np.frombuffer(raw, np.float32)
        assert np.abs(got - values.ravel()).max() <= 2e-5 * np.abs(values).max()


def test_images_are_looked_at():
    pytest.importorskip("onnxruntime")
    x = np.full((1, 2, 4, 4), 0.25, np.float32)
    x[0, 0] = 4e7  # a channel that the convolution's weights leave out
    w = np.zeros((1, 2, 3, 3), np.float32)
    w[0, 1] = 1.5
    nodes = [("Conv", "x w", "y", {"name": "conv"})]
    conv = small.model(nodes, [small.value("x", x.shape)], [small.value("y", (1, 1, 2, 2))], w=w)
    done = convert(conv, Options(golden=[x]))
    assert kernels_of(done) == {"conv": "block_conv"}
    assert "conv: each channel times a power of two; " + FINER in done.notes


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
def test_unknown_second_operands_are_looked_at(a, b, kernel, note):
    pytest.importorskip("onnxruntime")
    pair = helper.make_node("MatMul", ["a", "b"], ["y"], name="pair")
    infos = [small.value("a", (1, 3)), small.value("b", (3, 1))]
    graph = helper.make_graph([pair], "g", infos, [small.value("y", (1, 1))])
    product = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    done = convert(product, Options(golden=[a, np.array(b, np.float32)[:, None]]))
    assert kernels_of(done) == {"pair": kernel}
    assert note in done.notes


def test_the_node_that_is_too_wide_for_16_bits_is_exact():
    x = np.array([[2e2, 0.1, -1.53]], np.float32)
    done = convert(model(), Options(golden=[x], float="fast16"))
    kinds = {step.node.split()[1]: step.inputs[1].dtype for step in done.graph.steps}
    assert kernels_of(done) == {"calm": "block_gemm", "drowned": "block_gemm"}
    assert kinds == {"calm": 12, "drowned": 6}
    assert [note for note in done.notes if note.startswith("drowned: exact")]
    assert not [note for note in done.notes if note.startswith("calm")]
