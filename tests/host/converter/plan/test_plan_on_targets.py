"""A plan changes where values lie, never the outputs: targets give the same bytes."""

import random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host import zoo
from tools.converter.convert import Options, convert
from tools.converter.file import writer
from tools.converter.plan import Overlap, plan, stream
from tools.format.reader import arena_bytes
from tools.harness import Job, run_jobs

MODELS = (
    "mnist_8",
    "har_cnn1d_qop_u8",
    "mnist_8_ort_qop_u8u8",
    "sensor_features_f32",
    "skl_gnb_wine",
    "tinymaix_mnist_int8",
    "tract_lgbm_regressor_tensor",
)


def graph_of(name):
    """Return (graph, inputs) of a model of the collection, with its first sample."""
    return zoo.converted(name).graph, [x.tobytes() for x in zoo.sample(name, 0, "input")]


def planned(graph, **options):
    memory_plan = plan(graph, **options)
    stream.arrange(graph, memory_plan)
    return writer.model_bytes(graph, memory_plan.arena_bytes)


def assert_overlaps_change_no_result(target, cases):
    """Check that overlaps change no result of (graph, inputs); return the bytes that they save."""
    jobs, saved = [], 0
    for graph, sample in cases:
        files = [planned(graph, overlap=Overlap.NONE), planned(graph)]
        saved += arena_bytes(files[0]) - arena_bytes(files[1])
        jobs += [Job(data, [sample]) for data in files]
    outcomes = run_jobs(target, jobs, timeout=300)
    assert not any(o.error for o in outcomes), [o.message for o in outcomes]
    outputs = [o.runs[0].outputs for o in outcomes]
    assert outputs[::2] == outputs[1::2]
    return saved


@zoo.needs_zoo
@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_overlaps_change_no_result_of_real_models(target):
    assert assert_overlaps_change_no_result(target, map(graph_of, MODELS)) > 0


def windows(rng):
    """Return attributes of a Conv or pool, and the shape of its input."""
    kernel = [rng.randint(1, 4), rng.randint(1, 4)]
    attributes = {
        "kernel_shape": kernel,
        "strides": [rng.randint(1, 3), rng.randint(1, 3)],
        "pads": [rng.randint(0, k - 1) for k in kernel * 2],
        "dilations": [rng.randint(1, 2), rng.randint(1, 2)],
    }
    return attributes, (
        rng.randint(1, 2),
        rng.randint(1, 3),
        rng.randint(8, 13),
        rng.randint(8, 13),
    )


def random_pool(rng):
    attributes, shape = windows(rng)
    op = rng.choice(["MaxPool", "AveragePool"])
    if op == "AveragePool":
        del attributes["dilations"]
    node = helper.make_node(op, ["x"], ["y"], **attributes)
    return one_node(node, TensorProto.FLOAT, shape, 12, [])


def random_move(rng):
    shape = tuple(rng.randint(3, 9) for _ in range(3))
    if rng.random() < 0.4:
        node = helper.make_node("Transpose", ["x"], ["y"], perm=rng.sample(range(3), 3))
        return one_node(node, TensorProto.FLOAT, shape, 12, [])
    starts, ends = [rng.randint(0, 1) for _ in shape], [d - rng.randint(0, 1) for d in shape]
    bounds = {"starts": starts, "ends": ends, "axes": [0, 1, 2]}
    constants = [numpy_helper.from_array(np.array(v, np.int64), k) for k, v in bounds.items()]
    node = helper.make_node("Slice", ["x", *bounds], ["y"])
    return one_node(node, TensorProto.FLOAT, shape, 12, constants)


def random_qconv(rng):
    attributes, (n, c, h, w) = windows(rng)
    if rng.random() < 0.4:  # pointwise: over the same place
        attributes = {"kernel_shape": [1, 1]}
    groups = rng.choice([1, c])
    m = groups * rng.randint(1, 3)
    numbers = np.random.default_rng(rng.randint(0, 1 << 30))
    weights = numbers.integers(0, 255, (m, c // groups, *attributes["kernel_shape"]), np.uint8)
    constants = {
        "s": np.float32(0.1),
        "z": np.uint8(120),
        "w": weights,
        "t": np.float32(2.0),
    }
    names = ["x", "s", "z", "w", "s", "z", "t", "z"]
    node = helper.make_node("QLinearConv", names, ["y"], group=groups, **attributes)
    initializers = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    return one_node(node, TensorProto.UINT8, (n, c, h, w), 12, initializers)


def one_node(node, dtype, shape, opset, initializers):
    """Return (graph, inputs) of a model of one node, with random inputs."""
    x = helper.make_tensor_value_info("x", dtype, shape)
    y = helper.make_tensor_value_info("y", dtype, None)
    graph = helper.make_graph([node], "one", [x], [y], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model = onnx.shape_inference.infer_shapes(model)
    np_dtype = helper.tensor_dtype_to_np_dtype(dtype)
    data = (np.random.default_rng(1).normal(0, 50, shape)).astype(np_dtype)
    return convert(model, Options(strip=True)).graph, [data.tobytes()]


@pytest.mark.parametrize("make", [random_pool, random_move, random_qconv])
def test_writes_behind_reads_change_no_result(target, make):
    cases = [make(random.Random(seed)) for seed in range(60)]
    assert assert_overlaps_change_no_result(target, cases) > 10_000
