"""Models that onnxruntime runs convert, though onnx's checker or a strict reader refuses them."""

import time

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host.converter.rewrites.qdq_net import by_onnxruntime
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError, UsageError
from tools.harness import Job, input_bytes, output_value, run_jobs

F, NODE, VALUE = TensorProto.FLOAT, helper.make_node, helper.make_tensor_value_info
MOST_SECONDS = 5.0  # of the processor, for a refusal


def floats(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def model(nodes, shape, constants=None, opset=13, ir=8):
    """Return a model from x of this shape to y of none."""
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", [VALUE("x", F, shape)], [VALUE("y", F, None)], tensors)
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir)


def one(op, shape, *constants, **attributes):
    names = [f"c{i}" for i in range(len(constants))]
    opset = attributes.pop("opset", 13)
    node = NODE(op, ["x", *names], ["y"], **attributes)
    return model([node], shape, dict(zip(names, constants, strict=True)), opset)


def changed(change, found=None):
    found = found or one("Relu", [2, 3])
    change(found)
    return found


def sparse(dims, indices):
    values = numpy_helper.from_array(floats(len(indices)), "w")
    return helper.make_sparse_tensor(values, numpy_helper.from_array(np.array(indices), "i"), dims)


def sparse_constant(dims, indices):
    constant = NODE("Constant", [], ["w"], sparse_value=sparse(dims, indices))
    return model([constant, NODE("Add", ["x", "w"], ["y"])], [2, 3])


def with_sparse_initializer(found):
    found.graph.sparse_initializer.append(sparse([2, 3], [0, 4, 5]))


def same_key_twice(found):
    found.metadata_props.add(key="a", value="1")
    found.metadata_props.add(key="a", value="2")


def empty_products():
    for a, b in (((4, 0), (0, 3)), ((0, 4), (4, 3)), ((2, 4), (4, 0))):
        yield f"matmul {a} {b}", one("MatMul", a, floats(*b))
        yield f"gemm {a} {b}", one("Gemm", a, floats(*b), floats(b[1]))


MODELS = {
    "an initializer is no input at IR 3": model(
        [NODE("Add", ["x", "w"], ["y"])], [3], {"w": floats(3)}, 8, 3
    ),
    "a shape is no input at opset 6": model(
        [NODE("Reshape", ["x", "s"], ["y"])], [2, 3], {"s": [3, 2]}, 6, 3
    ),
    "a key of metadata twice": changed(same_key_twice),
    "no name of the graph": changed(lambda m: m.graph.ClearField("name")),
    "ONNX's domain by its long name": changed(
        lambda m: setattr(m.graph.node[0], "domain", "ai.onnx")
    ),
    "a sparse initializer": changed(
        with_sparse_initializer, model([NODE("Add", ["x", "w"], ["y"])], [2, 3])
    ),
    "a sparse constant": sparse_constant([2, 3], [1, 5]),
    "a sparse constant by coordinates": sparse_constant([2, 3], [[0, 1], [1, 0]]),
    "nothing beside something": one("Concat", [4, 3], floats(4, 0), axis=1),
    "something beside nothing": one("Concat", [4, 0], floats(4, 2), axis=1),
    "a sum with nothing": one("Add", [4, 1], floats(4, 0)),
    "a sum of nothing": one("ReduceSum", [4, 0], axes=[1], opset=11),
    "a softmax of nothing": one("Softmax", [4, 0]),
    "a convolution of no image": one("Conv", [0, 2, 5, 5], floats(3, 2, 3, 3)),
    **dict(empty_products()),
}


@pytest.mark.parametrize("target", ["unix"], indirect=True)
def test_lenient_models_give_onnxruntimes_outputs(target):
    pytest.importorskip("onnxruntime")
    samples = [
        floats(*(d.dim_value for d in m.graph.input[0].type.tensor_type.shape.dim))
        for m in MODELS.values()
    ]
    conversions = [convert(m) for m in MODELS.values()]
    jobs = [Job(c.data, [[input_bytes(x)]]) for c, x in zip(conversions, samples, strict=True)]
    for name, c, x, outcome in zip(
        MODELS, conversions, samples, run_jobs(target, jobs), strict=True
    ):
        assert not outcome.error, f"{name}: {outcome.message}"
        (expected,), (t,) = by_onnxruntime(MODELS[name], [x]), c.graph.outputs
        got = output_value(outcome.runs[0].outputs[0], t.dtype, t.np_dtype, t.shape)
        assert got.shape == expected.shape, name
        np.testing.assert_allclose(got, expected, 1e-5, 1e-6, err_msg=name)


@pytest.mark.parametrize("dims", [[2, 3], [1 << 40]])
def test_a_sparse_constant_that_does_not_fit_is_refused(dims):
    with pytest.raises(ConvertError, match="sparse constant w has"):
        convert(sparse_constant(dims, [3, 1]))


N = 10**8
LARGE = {
    "input": one("Relu", [N, 1]),
    "Expand": one("Expand", [1], np.array([N])),
    "Tile": one("Tile", [1], np.array([N])),
    "Pad": one("Pad", [1], np.array([0, N])),
    "MatMul": one("MatMul", [N // 1000, 1], floats(1, 1000)),
    "Resize": model(
        [NODE("Resize", ["x", "", "s"], ["y"])],
        [1, 1, 2, 2],
        {"s": np.float32([1, 1, 5000, 5000])},
    ),
    "ConstantOfShape": model(
        [NODE("ConstantOfShape", ["s"], ["t"]), NODE("Add", ["t", "x"], ["y"])], [1], {"s": [N]}
    ),
    "Range": model(
        [NODE("Range", ["a", "b", "c"], ["t"]), NODE("Add", ["t", "x"], ["y"])],
        [1],
        {"a": np.float32(0), "b": np.float32(N), "c": np.float32(1)},
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_value_beyond_all_boards_is_refused_at_once(name):
    start = time.process_time()
    with pytest.raises(ConvertError, match=f"{name}: a value of 4.* bytes is too large for any"):
        convert(LARGE[name])
    assert time.process_time() - start < MOST_SECONDS


def test_a_batch_that_the_file_fixes_gets_smaller_by_shape():
    large = one("MatMul", [789_444, 64], floats(64, 5))
    large.graph.output[0].CopyFrom(VALUE("y", F, [789_444, 5]))
    with pytest.raises(ConvertError, match="--shape x=1,64 takes one sample at a time"):
        convert(large)
    converted = convert(large, Options(shapes={"x": [1, 64]}))
    assert converted.graph.outputs[0].shape == (1, 5)
    assert "x: first dimension is 1, and not 789444, as the file has it" in converted.notes


@pytest.mark.parametrize("shape", [[3, 3], [2, 2], [1, 4], [0, 3]])
def test_only_the_batch_may_change_by_shape(shape):
    with pytest.raises(UsageError, match="a dimension is fixed to"):
        convert(one("Relu", [2, 3]), Options(shapes={"x": shape}))
