"""int64 values of a proved range become int32, with onnxruntime's outputs."""

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.ir import walk
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

INT64, INT32 = TensorProto.INT64, TensorProto.INT32
on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)


def converted(proto):
    return convert(proto, Options(strip=True))


def steps_of(converted):
    """Return (kernel, dtypes of inputs, dtypes of outputs) of each step."""
    return [
        (step.kernel, [t.dtype for t in step.inputs], [t.dtype for t in step.outputs])
        for step in walk(converted.graph.steps)
    ]


def numbers(target, proto, *inputs):
    """Run a model, compare its outputs with onnxruntime's, and return its conversion."""
    conversion = converted(proto)
    [outcome] = run_jobs(target, [Job(conversion.data, [[x.tobytes() for x in inputs]])])
    assert not outcome.error, outcome.message
    want = small.expected(proto, *inputs)
    for raw, t, y in zip(outcome.runs[0].outputs, conversion.graph.outputs, want, strict=True):
        got = np.frombuffer(raw, t.np_dtype).reshape(t.shape)
        assert got.dtype == y.dtype
        np.testing.assert_array_equal(got, y)
    return conversion


def indexing():
    """Return the row of a table that a chain of indices selects, as trees in tensor form do."""
    nodes = [
        ("ArgMax", "x", "best", {"axis": 1, "keepdims": 0}),
        ("TopK", "x k", "values places", {"axis": 1}),
        ("Greater", "x zero", "is", {}),
        ("Cast", "is", "bits", {"to": INT64}),
        ("ReduceSum", "bits one", "count", {"keepdims": 0}),
        ("Gather", "places zero_index", "first", {"axis": 1}),
        ("Mul", "best two", "double", {}),
        ("Add", "double count", "sum", {}),
        ("Sub", "sum first", "signed", {}),
        ("Neg", "signed", "other", {}),
        ("Max", "signed other", "size", {}),
        ("Mod", "size rows", "row", {}),
        ("Div", "signed two", "half", {}),
        ("Where", "is0 half row", "either", {}),
        ("Concat", "either row", "both", {"axis": 0}),
        ("Unsqueeze", "both one", "column", {}),
        ("Gather", "table column", "y", {"axis": 0}),
    ]
    constants = {"k": [2], "one": [1], "two": 2, "rows": 7, "zero_index": 0}
    arrays = {name: np.array(v, np.int64) for name, v in constants.items()}
    arrays |= {"zero": np.float32(0), "table": small.floats(9, 2)}
    arrays["is0"] = np.array([False, True, False])
    return small.model(
        nodes, [small.value("x", (3, 4))], [small.value("y", (6, 1, 2))], opset=18, **arrays
    )


@on_targets
def test_a_chain_of_indices_becomes_int32(target):
    converted = numbers(target, indexing(), small.floats(3, 4, seed=5))
    assert INT64 not in {d for _, inputs, outputs in steps_of(converted) for d in inputs + outputs}


def arithmetic(op, least, greatest, dtype=INT32, **attrs):
    """Return op of an int32 input, cast to int64, and a constant."""
    nodes = [("Cast", "x", "a", {"to": INT64}), (op, "a c", "b", attrs)]
    nodes.append(("Cast", "b", "y", {"to": dtype}))
    c = np.array([least, greatest, 3], np.int64)
    values = [small.value("x", (3,), INT32)], [small.value("y", (3,), dtype)]
    return small.model(nodes, *values, c=c)


@on_targets
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
def test_values_that_may_exceed_32_bits_stay(target, op):
    """Inputs are any int32: even the quotient of -2**31 and -1 exceeds it."""
    x = np.array([(1 << 31) - 1, -(1 << 31), -7], np.int32)
    converted = numbers(target, arithmetic(op, 1, -1, TensorProto.INT64), x)
    kept = {kernel: inputs for kernel, inputs, _ in steps_of(converted)}["binary"]
    assert kept == [INT64, INT64]
    x = np.array([100, -100, 0], np.int32)
    numbers(target, arithmetic(op, -9, 1 << 40, TensorProto.INT64), x)


@on_targets
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Mod", "Min", "Max"])
def test_values_within_32_bits_become_int32(target, op):
    """They are computed from bytes and small constants."""
    nodes = [("Cast", "x", "a", {"to": INT64}), (op, "a c", "b", {}), ("Gather", "t b", "y", {})]
    constants = {"c": np.array([-3, 4, 2], np.int64), "t": small.floats(4000)}
    values = [small.value("x", (3,), TensorProto.UINT8)], [small.value("y", (3,))]
    x = np.array([255, 0, 17], np.uint8)
    converted = numbers(target, small.model(nodes, *values, **constants), x)
    kept = {kernel: inputs for kernel, inputs, _ in steps_of(converted)}["binary"]
    assert kept == [INT32, INT32]


def test_outputs_of_the_model_stay_int64():
    """No step narrows and widens them again."""
    node = ("ArgMax", "x", "y", {"axis": 1})
    proto = small.model([node], [small.value("x", (2, 3))], [small.value("y", (2, 1), INT64)])
    assert steps_of(converted(proto)) == [("arg_reduce", [1], [INT64])]


@on_targets
def test_operators_without_int32_keep_int64(target):
    """BitwiseAnd reads the value as int64, Gather as int32."""
    nodes = [
        ("ArgMax", "x", "i", {"axis": 1, "keepdims": 0}),
        ("BitwiseAnd", "i one", "odd", {}),
        ("Gather", "t i", "y", {}),
    ]
    constants = {"one": np.array(1, np.int64), "t": small.floats(5)}
    outputs = [small.value("odd", (4,), INT64), small.value("y", (4,))]
    proto = small.model(nodes, [small.value("x", (4, 5))], outputs, opset=18, **constants)
    converted = numbers(target, proto, small.floats(4, 5))
    assert ("binary", [INT64, INT64], [INT64]) in steps_of(converted)


@on_targets
def test_a_maximum_of_nothing_is_the_least_int64(target):
    nodes = [
        ("Cast", "x", "a", {"to": INT64}),
        ("Slice", "a zero zero", "none", {}),
        ("ReduceMax", "none", "y", {"keepdims": 0}),
    ]
    values = [small.value("x", (3,), TensorProto.UINT8)], [small.value("y", (), INT64)]
    proto = small.model(nodes, *values, opset=20, zero=np.array([0], np.int64))
    conversion = converted(proto)
    [outcome] = run_jobs(target, [Job(conversion.data, [[bytes(3)]])])
    assert int.from_bytes(outcome.runs[0].outputs[0], "little", signed=True) == -(1 << 63)
