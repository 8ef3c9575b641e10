"""Chains that are computed in bands of rows give the same bytes in less memory."""

import random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host import zoo
from tools.converter.__main__ import main
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError
from tools.converter.file import writer
from tools.converter.plan import plan, stream
from tools.converter.plan.patches import apply, patches
from tools.harness import Job, run_jobs


class Net:
    """A chain of nodes over images, made step by step.

    Attributes:
        dtype: of all values.
    """

    def __init__(self, seed, dtype):
        self.rng, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.dtype = dtype
        self.shape = (1, self.rng.randint(1, 2), self.rng.randint(10, 14), self.rng.randint(5, 8))
        self.input = helper.make_tensor_value_info("v0", dtype, self.shape)
        self.nodes, self.constants = [], []
        self.channels = self.shape[1]

    def constant(self, data):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(data), name))
        return name

    def add(self, op, inputs=(), **attributes):
        n = len(self.nodes)
        self.nodes.append(helper.make_node(op, [f"v{n}", *inputs], [f"v{n + 1}"], **attributes))

    def window(self):
        kernel = [self.rng.randint(1, 3), self.rng.randint(1, 3)]
        pads = [self.rng.randint(0, k - 1) for k in kernel * 2]
        strides = [self.rng.randint(1, 2), 1]
        return {"kernel_shape": kernel, "pads": pads, "strides": strides}

    def conv(self):
        attributes = self.window()
        group = self.rng.choice([1, self.channels])
        m = group * self.rng.randint(1, 3)
        shape = (m, self.channels // group, *attributes["kernel_shape"])
        if self.dtype == TensorProto.FLOAT:
            weights = [self.numbers.normal(0, 1, shape).astype(np.float32)]
            self.add("Conv", map(self.constant, weights), group=group, **attributes)
        else:
            data = self.numbers.integers(0, 255, shape, np.uint8)
            scale, zero = np.float32(0.05), np.uint8(128)
            values = [scale, zero, data, scale, zero, np.float32(0.2), zero]
            self.add("QLinearConv", map(self.constant, values), group=group, **attributes)
        self.channels = m

    def build(self):
        for _ in range(4):
            kind = self.rng.choice(["conv", "conv", "pool", "relu"])
            if kind == "pool":
                self.add("MaxPool", **self.window())
            elif kind == "relu" and self.dtype == TensorProto.FLOAT:
                self.add("LeakyRelu")
            else:
                self.conv()
        y = helper.make_tensor_value_info(f"v{len(self.nodes)}", self.dtype, None)
        graph = helper.make_graph(self.nodes, "net", [self.input], [y], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)])
        return onnx.shape_inference.infer_shapes(model)

    def sample(self):
        np_dtype = helper.tensor_dtype_to_np_dtype(self.dtype)
        return self.numbers.uniform(0, 200, self.shape).astype(np_dtype).tobytes()


def graph_of(model):
    """Return the planned graph, in Python's floats: block floats would depend on the bands."""
    return convert(model, Options(strip=True, float="python")).graph


def file_of(graph):
    planned = plan(graph)
    stream.arrange(graph, planned)
    return writer.model_bytes(graph, planned.arena_bytes)


@pytest.mark.parametrize("dtype", [TensorProto.FLOAT, TensorProto.UINT8])
def test_bands_give_the_same_bytes(target, dtype):
    jobs, n_over = [], 0
    for seed in range(8):
        net = Net(seed, dtype)
        model = net.build()
        sample = net.sample()
        graph = graph_of(model)
        jobs.append((seed, Job(file_of(graph), [[sample]])))
        results = [p for at in range(len(graph.steps)) for p in patches(graph, at, False)]
        for k in net.rng.sample(range(len(results)), min(3, len(results))):
            again = graph_of(model)
            fresh = [p for at in range(len(again.steps)) for p in patches(again, at, False)]
            n_over += fresh[k].over and fresh[k].lead < fresh[k].out.nbytes
            apply(again, fresh[k])
            jobs.append((seed, Job(file_of(again), [[sample]])))
    outcomes = run_jobs(target, [job for _, job in jobs], timeout=300)
    assert not any(o.error for o in outcomes), [o.message for o in outcomes if o.error]
    by_seed = {}
    for (seed, _), outcome in zip(jobs, outcomes, strict=True):
        by_seed.setdefault(seed, set()).add(bytes(outcome.runs[0].outputs[0]))
    assert len(jobs) > 20 and n_over > 2
    assert all(len(outputs) == 1 for outputs in by_seed.values())


@zoo.needs_zoo
@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
@pytest.mark.parametrize("name", ["mlperf_vww_mobilenet_int8", "mobilenetv2_035_96_f32"])
def test_real_models_run_in_60_percent_of_the_bound(target, name):
    whole = zoo.converted(name)
    limit = whole.plan.lower_bound_bytes * 60 // 100
    small = zoo.converted(name, arena=limit)
    assert small.report()["arena_bytes"] <= limit
    assert small.report()["macs"] - whole.report()["macs"] == small.plan.macs_again > 0
    inputs = [x.tobytes() for x in zoo.sample(name, 0, "input")]
    jobs = [Job(c.data, [inputs]) for c in (whole, small)]
    a, b = [o.runs[0].outputs[0] for o in run_jobs(target, jobs, timeout=600)]
    if name.endswith("int8"):
        assert a == b
    else:  # a band's largest value may be smaller than its image's, and its mantissas finer
        expected, got = np.frombuffer(a, np.float32), np.frombuffer(b, np.float32)
        assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()


def test_an_impossible_arena_names_the_least_and_its_cause():
    model = Net(3, TensorProto.UINT8).build()
    with pytest.raises(ConvertError) as e:
        convert(model, Options(strip=True, arena=16))
    text = str(e.value)
    least = int(text.split("--arena 16: ")[1].split()[0])
    assert "v0 uint8 [1, " in text
    assert convert(model, Options(strip=True, arena=least)).plan.arena_bytes == least


def test_the_command_line_reports_an_impossible_arena(tmp_path, capsys):
    onnx.save(Net(3, TensorProto.UINT8).build(), tmp_path / "m.onnx")
    arguments = [str(tmp_path / "m.onnx"), str(tmp_path / "m.bin"), "--arena", "16"]
    assert main(arguments) == 1
    assert capsys.readouterr().err.startswith("converter: --arena 16: ")
    assert not (tmp_path / "m.bin").exists()


def test_an_arena_that_is_large_enough_changes_nothing():
    model = Net(3, TensorProto.UINT8).build()
    plain = convert(model, Options(strip=True))
    again = convert(model, Options(strip=True, arena=plain.plan.arena_bytes))
    assert again.data == plain.data and again.plan.macs_again == 0
