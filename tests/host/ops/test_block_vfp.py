"""Products of float32 in a Cortex-M's FPU are near onnxruntime's; a user can decline them."""

import numpy as np
import pytest

from tests.host.device import small
from tools import package
from tools.converter.convert import Options, convert
from tools.converter.reference import golden
from tools.harness import Job, run_jobs

on_fpus = pytest.mark.parametrize("target", ["mps2-an386", "mps2-an505"], indirect=True)
RELU, CLIP = ("Relu", "a", "r", {}), ("Clip", "a low high", "r", {})
NEAR = 2e-6  # of the largest result: some rounding errors of float32

# What FPU and integers computed, by the forms of the loops that a model took.
SHOW = """
import mpconnxr
for prefer in ("", "thumb"):
    model = mpconnxr.load("model.bin", prefer=prefer)
    with open("x", "rb") as f:
        f.readinto(model.inputs[0].view("B"))
    model.run()
    taken = [forms.get("fpu", "exact") for _, _, forms in model.kernels()]
    print(taken[0], bytes(model.outputs[0].view("B")).hex())
"""


def conv(x, w, behind=None, pool=None, **attributes):
    rng = np.random.default_rng(1)
    nodes = [("Conv", "x w b", "a", attributes)]
    if behind:
        nodes.append(behind)
    if pool:
        attributes = {"kernel_shape": pool, "strides": pool}
        nodes.append(("MaxPool", nodes[-1][2], "p", attributes))
    limits = {"low": np.float32(-0.5), "high": np.float32(9)} if behind is CLIP else {}
    out = small.value(nodes[-1][2], [None] * len(x))
    w = rng.standard_normal(w).astype(np.float32)
    bias = rng.standard_normal(len(w)).astype(np.float32)
    return small.model(nodes, [small.value("x", x)], [out], w=w, b=bias, **limits)


def gemm(m, n, k, behind=None):
    rng = np.random.default_rng(2)
    nodes = [("Gemm", "x w b", "a", {}), *([behind] if behind else [])]
    limits = {"low": np.float32(-0.5), "high": np.float32(9)} if behind is CLIP else {}
    out = small.value(nodes[-1][2], [m, n])
    arrays = {"w": rng.standard_normal((k, n)), "b": rng.standard_normal(n)}
    arrays = {name: v.astype(np.float32) for name, v in arrays.items()}
    return small.model(nodes, [small.value("x", (m, k))], [out], **arrays, **limits)


def matmul(x, w):
    """Return a product of matrices of several batches."""
    weights = np.random.default_rng(3).standard_normal(w).astype(np.float32)
    shape = [*np.broadcast_shapes(x[:-2], w[:-2]), x[-2], w[-1]]
    nodes = [("MatMul", "x w", "y", {})]
    return small.model(nodes, [small.value("x", x)], [small.value("y", shape)], w=weights)


def recurrent(kind, gates, batch=1, hidden=5, direction="forward"):
    """Return an LSTM, GRU or RNN of 7 time steps, with biases.

    Its sums are clipped, so that the kernel is not `gated`, which computes in integers.
    """
    rng = np.random.default_rng(4)
    n = 1 + (direction == "bidirectional")
    shapes = (("w", gates * hidden, 6), ("r", gates * hidden, hidden), ("b", 2 * gates * hidden))
    arrays = {name: rng.standard_normal((n, *shape)) for name, *shape in shapes}
    # States of larger weights grow apart, as far as that goes, from rounding errors alone.
    arrays = {name: (v / v.shape[-1] ** 0.5).astype(np.float32) for name, v in arrays.items()}
    attributes = {"hidden_size": hidden, "direction": direction, "clip": 3.0}
    nodes = [(kind, "x w r b", "y", attributes)]
    y = small.value("y", (7, n, batch, hidden))
    return small.model(nodes, [small.value("x", (7, batch, 6))], [y], **arrays)


MODELS = {
    "a row": gemm(1, 10, 37),
    "three rows, many columns": gemm(3, 70, 8, RELU),
    "rows in fours and a rest": gemm(21, 5, 14, CLIP),
    "one product": gemm(5, 3, 1),
    "batches": matmul((2, 3, 4, 9), (3, 9, 6)),
    "LSTM": recurrent("LSTM", 4),
    "LSTM of two directions": recurrent("LSTM", 4, 2, 3, "bidirectional"),
    "GRU, backwards": recurrent("GRU", 3, 3, 4, "reverse"),
    "RNN of many channels": recurrent("RNN", 1, 2, 70),
    "padded": conv((1, 3, 9, 21), (5, 3, 3, 3), pads=[1] * 4),
    "long rows": conv((1, 1, 5, 120), (8, 1, 3, 3), RELU, pads=[1] * 4),
    "short rows": conv((2, 5, 9, 3), (4, 5, 2, 3), CLIP, pads=[0, 1, 1, 1]),
    "strides and holes": conv((1, 2, 17, 25), (3, 2, 2, 3), strides=[1, 2], dilations=[2, 1]),
    "holes in rows": conv((1, 2, 7, 25), (3, 2, 2, 3), strides=[2, 3], dilations=[1, 2]),
    "negative": conv((1, 2, 12, 12), (3, 2, 5, 5), RELU, pads=[3, 0, 0, 4]),
    "depthwise": conv((2, 6, 10, 7), (12, 1, 3, 3), CLIP, pads=[1] * 4, group=6),
    "groups": conv((2, 4, 8, 9), (6, 2, 3, 2), RELU, group=2),
    "points": conv((2, 7, 9, 15), (6, 7, 1, 1)),
    "few points": conv((1, 40, 1, 5), (6, 40, 1, 1), RELU),
    "points of groups": conv((2, 4, 3, 3), (6, 2, 1, 1), group=2),
    "one dimension": conv((1, 3, 40), (7, 3, 5), RELU, pads=[2, 2]),
    "pooled": conv((1, 3, 13, 18), (5, 3, 3, 3), RELU, pool=[2, 2], pads=[1] * 4),
    "pooled of one channel": conv((2, 1, 14, 13), (4, 1, 5, 5), pool=[3, 3], pads=[2] * 4),
    "pooled in rows": conv((1, 8, 6, 37), (4, 8, 1, 3), CLIP, pool=[1, 3]),
    "pooled in columns": conv((1, 8, 9, 7), (4, 8, 3, 2), pool=[3, 1]),
    "pooled groups": conv((1, 4, 8, 9), (8, 1, 3, 2), RELU, pool=[2, 2], group=4),
}


def input_of(source):
    shape = [d.dim_value for d in source.graph.input[0].type.tensor_type.shape.dim]
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


@on_fpus
def test_products_in_the_fpu_are_near_onnxruntime(target):
    jobs, references = [], []
    for source in MODELS.values():
        x = input_of(source)
        jobs.append(Job(convert(source, Options(strip=True)).data, [[x.tobytes()]]))
        references += golden.reference(source, [x])
    outcomes = run_jobs(target, jobs)
    for name, outcome, expected in zip(MODELS, outcomes, references, strict=True):
        assert not outcome.error, (name, outcome.message)
        got = np.frombuffer(outcome.runs[0].outputs[0], np.float32).reshape(expected.shape)
        assert np.abs(got - expected).max() <= NEAR * np.abs(expected).max(), name


@on_fpus
@pytest.mark.parametrize("name", ["padded", "points", "pooled", "depthwise"])
def test_a_declined_fpu_form_gives_exact_results(target, ready_target, name):
    data = convert(MODELS[name], Options(strip=True)).data
    files = {"model.bin": data, "x": input_of(MODELS[name]).tobytes()}
    near, exact = (line.split() for line in small.run(target, SHOW, files).splitlines())
    assert (near[0], exact[0]) == ("vfp", "exact")
    assert near[1] != exact[1]
    lines = small.run(ready_target("unix"), SHOW, files).splitlines()
    assert lines[0].split() == ["exact", exact[1]]


@on_fpus
def test_unbuilt_sources_use_the_exact_loops(target, ready_target):
    """They have no assembler, which the loops for an FPU need."""
    data = convert(MODELS["padded"], Options(strip=True)).data
    script = SHOW.replace('("", "thumb")', '("",)')
    files = {"model.bin": data, "x": input_of(MODELS["padded"]).tobytes()}
    [line] = small.run(target, script, {"mpconnxr": package.SOURCES, **files}).splitlines()
    [expected] = small.run(ready_target("unix"), script, files).splitlines()
    assert line.split()[0] == "exact" and line == expected


@on_fpus
def test_infinities_and_nan_are_right(target):
    source = conv((1, 2, 6, 20), (3, 2, 3, 3), pads=[1] * 4)
    x = input_of(source)
    x[0, 0, 1, 2], x[0, 1, 4, 17], x[0, 1, 1, 9] = np.inf, -np.inf, np.nan
    [outcome] = run_jobs(target, [Job(convert(source, Options()).data, [[x.tobytes()]])])
    [expected] = golden.reference(source, [x])
    got = np.frombuffer(outcome.runs[0].outputs[0], np.float32).reshape(expected.shape)
    np.testing.assert_allclose(got, expected, 1e-5, 1e-5)
