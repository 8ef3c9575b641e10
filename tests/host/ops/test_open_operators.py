"""Operators over open dims, one in each model, agree with onnxruntime in three sizes."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.converter.reference.ort_session import open_session
from tools.harness import Job, run_jobs

F = np.float32
SHAPE = (3, 4, 6, 7)
SCALES = {"none": np.zeros(0, F), "s": np.array([1, 1, 2, 1.5], F)}
SLICE = {"start": [-2], "end": [1 << 62], "axis": [3]}


def case(op, inputs="x", opens=((0,), (3,), (0, 2, 3)), opset=17, outputs="y", **rest):
    """Return a case; `rest` are constants if they are named in inputs, else attributes."""
    constants = {name: np.asarray(v) for name, v in rest.items() if name in inputs.split()}
    attributes = {name: v for name, v in rest.items() if name not in constants}
    return op, inputs, outputs, attributes, constants, opens, opset


BATCH = ((0,),)
CASES = [
    case("Pad", "x p", p=[0, 0, 1, 1, 0, 0, 1, 2]),
    case("Pad", "x p c", p=[2, 0, 0, 0, 0, 0, -1, 0], c=F(3), opens=(BATCH[0], (0, 3))),
    case("Pad", "x p", BATCH, mode="reflect", p=[0, 0, 1, 1, 0, 0, 1, 0]),
    case("Resize", "x none s", BATCH, **SCALES),
    case("Resize", "x none s", BATCH, mode="linear", **SCALES),
    case("Split", outputs="y z", axis=1, opset=13),
    case("InstanceNormalization", "x s b", s=small.floats(4), b=small.floats(4)),
    case("LayerNormalization", "x s b", BATCH, axis=-1, s=small.floats(7), b=small.floats(7)),
    case("LRN", size=3),
    case("ConvTranspose", "x w", strides=[2, 2], w=small.floats(4, 3, 3, 3)),
    case("ConvTranspose", "x w", pads=[1, 1, 0, 1], w=small.floats(4, 3, 2, 4), dilations=[2, 1]),
    case(
        "GroupNormalization", "x s b", num_groups=2, opset=21, s=small.floats(4), b=small.floats(4)
    ),
    case("MeanVarianceNormalization", opens=BATCH, axes=[2, 3]),
    case("Conv", "x w", strides=[1, 2], pads=[1, 0, 1, 2], w=small.floats(6, 2, 2, 3), group=2),
    case("LpPool", kernel_shape=[3, 1], pads=[1, 0, 1, 0], p=2),
    case("AveragePool", kernel_shape=[2, 2], auto_pad="SAME_LOWER"),
    case("GlobalMaxPool"),
    case("ArgMax", axis=1),
    case("ArgMax", axis=3),
    case("Softmax", axis=3),
    case("Softmax", axis=1),
    case("Transpose", perm=[3, 1, 0, 2]),
    case("ReduceSum", "x a", a=[2, 3]),
    case("Gather", "x i", axis=1, i=[3, 0, 1]),
    case("Slice", "x start end axis", opens=((0,), (0, 2)), **SLICE),
    case("Slice", "x start end", start=[1, 0], end=[3, 4], opens=((0,),)),  # 3 is the bound
    case("Slice", "x start end axis", start=[-2], end=[7], axis=[3], opens=((3,),)),
    case("Slice", "x s e a t", s=[-9], e=[-10], a=[3], t=[-1], opens=((3,),)),
    case("Trilu", upper=0, opens=((2,), (3,), (0, 2, 3))),
    case("Trilu", "x k", k=-2, opens=((2, 3),)),
    case("Trilu", "x k", k=1 << 40, opens=((2, 3),)),
    case("Concat", "x x", axis=3),
    case("Flatten"),
    case("Reshape", "x sh", sh=[0, -1]),
    case("Tile", "x r", r=[1, 2, 1, 1]),
    case("CumSum", "x a", a=1),
    case("Clip", "x lo hi", lo=F(-0.5), hi=F(0.5)),
    case("MatMul", "x w", ((0,), (0, 1, 2)), w=small.floats(7, 3)),
    case("DepthToSpace", blocksize=2),
    case("SpaceToDepth", opens=BATCH, blocksize=1),
    case("Add", "x b", b=small.floats(4, 1, 1)),
    case("Gelu", opset=20),
]


def model_of(op, inputs, outputs, attributes, constants, opens, opset):
    dims = [f"d{i}" if i in opens else n for i, n in enumerate(SHAPE)]
    node = helper.make_node(op, inputs.split(), outputs.split(), **attributes)
    dtype = TensorProto.INT64 if op == "ArgMax" else TensorProto.FLOAT
    results = [helper.make_tensor_value_info(o, dtype, ["?"] * 4) for o in outputs.split()]
    for info in results:
        if op in ("Flatten", "Reshape"):
            del info.type.tensor_type.shape.dim[2:]
    weights = [numpy_helper.from_array(v, name) for name, v in constants.items()]
    graph = helper.make_graph([node], "one", [small.value("x", dims)], results, weights)
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def sizes(opens):
    """Yield the largest shape, a smaller and the smallest one."""
    for change in (lambda n: n, lambda n: n - 1, lambda n: 2):
        yield tuple(change(n) if i in opens else n for i, n in enumerate(SHAPE))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_operators_agree_over_open_dims(target):
    expected, jobs, converted = [], [], []
    for *parts, all_opens, opset in CASES:
        for opens in all_opens:
            proto = model_of(*parts, opens, opset)
            bounds = {f"d{i}": SHAPE[i] for i in opens}
            converted.append(convert(proto, Options(bounds=bounds, strip=True)))
            xs = [small.floats(*shape, seed=i) for i, shape in enumerate(sizes(opens))]
            raw = [[x.tobytes()] for x in xs]
            jobs.append(Job(converted[-1].data, raw, shapes=[[x.shape] for x in xs]))
            session = open_session(proto)
            expected.append([session.run(None, {"x": x}) for x in xs])
    for want, conversion, outcome in zip(expected, converted, run_jobs(target, jobs), strict=True):
        label = conversion.graph.steps[0].node if conversion.graph.steps else "nothing"
        assert not outcome.error, (label, outcome.message)
        for ys, run in zip(want, outcome.runs, strict=True):
            for y, raw, t in zip(ys, run.outputs, conversion.graph.outputs, strict=True):
                got = np.frombuffer(raw, t.np_dtype).reshape(y.shape)
                np.testing.assert_allclose(got, y, rtol=1e-5, atol=1e-5, err_msg=label)


@pytest.mark.parametrize(
    "refused",
    [
        case("Resize", "x none s", ((3,),), **SCALES),
        case("Split", outputs="y z", axis=3, opens=((3,),), opset=13),
        case("Pad", "x p", ((3,),), mode="reflect", p=[0, 0, 0, 1, 0, 0, 0, 1]),
    ],
)
def test_an_unsupported_open_dim_names_the_dim_option(refused):
    *parts, (opens,), opset = refused
    bounds = {f"d{i}": SHAPE[i] for i in opens}
    with pytest.raises(UnsupportedModel, match="--dim instead of --bound"):
        convert(model_of(*parts, opens, opset), Options(bounds=bounds))
