"""Quantized models with an open dim are right, or refused as the same floats are.

Each has one dim of its inputs opened, and runs in up to five sizes. MPCONNXR_LONG=1: many more.
"""

import functools
import itertools
import os
from dataclasses import replace

import numpy as np
import pytest

from tests.host.converter.opened import Case, cases_of, converted, differences
from tests.host.converter.rewrites import test_qdq
from tests.host.converter.rewrites.qdq_net import U8, Net
from tests.host.converter.rewrites.random_graphs.families import BOARDS, QUANTIZED, graphs
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError

LONG = os.environ.get("MPCONNXR_LONG") == "1"
N = 60 if LONG else 2  # graphs of each family
OFTEN = 0.99  # of all integers are the same; others are a step away
A, Y = 0.031007, 0.050021
FAMILIES = {**QUANTIZED, "fixed": BOARDS["fixed"], "nets": BOARDS["nets"]}


def convolution_over_time():
    net = Net()
    x = net.qdq(net.input([2, 3, 16], np.float32), A)
    y = net.op("Conv", x, net.weights([4, 3, 5], 0.01), pads=[2, 2], strides=[2])
    return net, net.qdq(net.op("Relu", y), Y)


def residual():
    net = Net()
    x = net.qdq(net.input([16, 8], np.float32), A)
    y = net.op("Add", net.qdq(net.op("Relu", x), A), x)
    return net, net.qdq(y, Y)


def images():
    """Return a network of pools over a batch of images of any width."""
    net = Net()
    x = net.qdq(net.input([3, 3, 8, 12], np.float32), A, 7)
    y = net.op("Conv", x, net.weights([6, 3, 3, 3], 0.01), pads=[1, 1, 1, 1])
    y = net.op("MaxPool", net.qdq(y, Y), kernel_shape=[2, 2], strides=[2, 2])
    y = net.qdq(net.op("AveragePool", y, kernel_shape=[2, 2]), Y)
    return net, net.qdq(net.op("GlobalAveragePool", y), Y)


def attention():
    """Return the attention of a sequence to itself."""
    net = Net()
    x = net.qdq(net.input([2, 9, 8], np.float32), A)
    q, k = (net.qdq(net.op("MatMul", x, net.weights([8, 8], 0.01)), Y) for _ in range(2))
    scores = net.qdq(net.op("MatMul", q, net.op("Transpose", k, perm=[0, 2, 1])), 0.1)
    powers = net.qdq(net.op("Softmax", scores, axis=-1), 1 / 256, -128)
    return net, net.qdq(net.op("MatMul", powers, q), Y)


def mixed():
    """Return layer normalization, a table, Concat, Slice, Reshape and Transpose."""
    net = Net()
    x = net.qdq(net.input([2, 7, 8], np.float32), A)
    scale, bias = (net.constant(net.rng.normal(v, 0.2, 8)) for v in (1, 0))
    y = net.qdq(net.op("LayerNormalization", x, scale, bias), Y)
    z = net.qdq(net.op("Sigmoid", y), Y)
    y = net.op("Concat", y, z, axis=2)
    ends = (net.constant(v, np.int64) for v in ([1], [2**31], [2]))
    y = net.op("Slice", net.qdq(y, Y), *ends)
    y = net.op("Reshape", y, net.constant([0, 0, 3, 5], np.int64))
    return net, net.qdq(net.op("Transpose", y, perm=[2, 0, 1, 3]), Y)


def recurrent():
    """Return an LSTM of floats between layers of integers."""
    net = Net()
    x = net.qdq(net.input([11, 2, 4], np.float32), A)
    w = [net.constant(net.rng.normal(0, 0.5, shape)) for shape in ((1, 12, 4), (1, 12, 3))]
    y, _ = net.op("LSTM", x, *w, outputs=2, hidden_size=3)
    y = net.op("Squeeze", net.qdq(y, 0.01), net.constant([1], np.int64))
    return net, net.qdq(net.op("MatMul", y, net.weights([3, 5], 0.01)), Y)


def dynamic():
    """Return a product as onnxruntime's quantize_dynamic writes it."""
    net = Net()
    x, w = net.input([2, 6, 8], np.float32), net.constant(net.rng.integers(-99, 99, (8, 4)), "i1")
    values, scale, zero = net.op("DynamicQuantizeLinear", x, outputs=3)
    y = net.op("MatMulInteger", values, w, zero)
    y = net.op("Mul", net.op("Cast", y, to=1), net.op("Mul", scale, net.constant(0.01)))
    return net, net.op("Tanh", net.op("Add", y, net.constant(net.rng.normal(0, 1, 4))))


def enlarged(mode):
    net = Net()
    x = net.dq(net.input([3, 2, 4, 5], U8), A, 9, U8)
    scales = net.constant([1, 1, 2, 2])
    return net, net.q(net.op("Resize", x, "", scales, mode=mode), A, 9, U8)


def several_sizes():
    """Return a folded product of rows whose batch and time are both open."""
    net = Net()
    x = net.qdq(net.input([3, 5, 8], np.float32), A)
    y = net.op("MatMul", x, net.weights([8, 6], 0.01))
    y = net.qdq(net.op("Add", y, net.constant(net.rng.normal(0, 1, 6))), Y)
    return net, y


NETS = [convolution_over_time, residual, images, attention, mixed, recurrent, dynamic]
NETS += [lambda: enlarged("linear"), lambda: enlarged("nearest"), several_sizes]


@functools.cache
def by_hand():
    return list(_by_hand())


def _by_hand():
    for make in NETS:
        net, y = make()
        yield from cases_of(make.__name__, net.model(y), net.values())
    for name, ((net, y), _) in test_qdq.FUSED.items():
        yield from cases_of(name, net.model(y), net.values())


def drawn(name, n=N, first=1000):
    for seed, builder, model in graphs(FAMILIES[name], n, first):
        yield from cases_of(f"{name} {seed}", model, list(builder.inputs.values()))


def check(target, cases, least=0):
    """Convert and run all cases; check the results, and that at least `least` converted."""
    conversions, wrong = [], []
    for case in cases:
        c, problem = converted(case)
        wrong += [problem] if problem else []
        conversions += [(case, c)] if c else []
    result, same = differences(target, conversions)
    assert not (wrong := wrong + result), "\n".join(wrong)
    assert same >= OFTEN
    assert len(conversions) >= least, len(conversions)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_patterns_by_hand_are_right_in_all_sizes(target):
    check(target, by_hand(), 90)


@pytest.mark.parametrize("name", FAMILIES)
def test_random_graphs_are_right_in_all_sizes(target, name):
    check(target, drawn(name))


def test_an_empty_slice_is_quantized_in_place(target):
    check(target, drawn("fixed", 1, 5009), 3)


@pytest.mark.skipif(not LONG, reason="minutes: MPCONNXR_LONG=1 runs it")
def test_models_of_the_quantizer_are_right_in_all_sizes(target, tmp_path):
    from tests.host.converter.random_models import random_model
    from tests.host.converter.random_operators import QUANTIZED as OPERATORS
    from tests.host.converter.test_random_quantized import quantized

    cases: list[Case] = []
    for seed in range(200):
        result = quantized(seed, tmp_path)
        if result:
            cases += cases_of(f"{seed}", *result, random_model(seed, OPERATORS)[0])
    check(target, cases, 100)


def test_two_dims_may_be_open(target):
    net, y = several_sizes()
    model = net.model(y)
    dims = model.graph.input[0].type.tensor_type.shape.dim
    dims[0].dim_param, dims[1].dim_param = "N", "T"
    for d in model.graph.output[0].type.tensor_type.shape.dim:
        d.Clear()
    converted = convert(model, Options(bounds={"N": 3, "T": 5}, strip=True))
    assert "qconv" in {step.kernel for step in converted.graph.steps}
    runs = []
    for n, t in itertools.product((1, 3), (1, 4)):
        x = net.rng.standard_normal((n, t, 8)).astype(np.float32)
        runs.append(([x], test_qdq.by_onnxruntime(model, [x])))
    assert differences(target, [(Case("two", model, 0, runs), converted)]) == ([], 1.0)


@pytest.mark.slow
def test_any_bound_converts():
    """The bound decides which kernels are used, equally for the model and its float twin."""
    for make in NETS:
        net, y = make()
        for case in cases_of(make.__name__, net.model(y), net.values()):
            for most in (40, 700, 3000) if converted(case)[0] else ():
                replace(case, most=most).converted()


def test_a_slice_may_end_below_the_bound():
    net = Net()
    x = net.qdq(net.input(["T", 3], np.float32), A)
    ends = [net.constant(v, np.int64) for v in ([1], [4], [0])]
    model = net.model(net.qdq(net.op("Slice", x, *ends), Y))
    for most in range(5, 9):
        assert convert(model, Options(bounds={"T": most})).graph.outputs[0].is_open


def test_a_note_names_what_stays_in_float():
    net, y = images()
    [case] = [c for c in cases_of("images", net.model(y), net.values()) if c.most == 12]
    notes = case.converted().notes
    assert any("GlobalAveragePool" in note and "a run decides" in note for note in notes)


def test_a_refusal_names_the_original_operator():
    """Sizes 8 and T cannot be broadcast; Add became QLinearAdd."""
    net = Net()
    a, b = (net.dq(net.input([n, 4]), A) for n in (8, "T"))
    model = net.model(net.q(net.op("Add", a, b), Y))
    with pytest.raises(ConvertError, match=r"\bAdd \(opset 17\): a run-time extent of T where 8"):
        convert(model, Options(bounds={"T": 8}))
