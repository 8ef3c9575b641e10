"""Models of one node, run on MicroPython and compared with the values they must give."""

import numpy as np
import pytest
from onnx import helper, numpy_helper

from tools.converter.convert import Options, convert
from tools.format.layout import element_bytes
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

INF, NAN = np.inf, np.nan
on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
SPECIALS = np.array([0.0, -0.0, 1, -1, 3, -2, 2.5, 1e30, -1e30, 3e38, INF, -INF, NAN], np.float32)
SMALL = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32]
INTS = [*SMALL, np.int64, np.uint64]


def model_of(op, inputs, constants=(), out=None, opset=20, n_outputs=1, **attrs):
    """A model of one node. inputs: arrays; constants: {position: array}; out: (dtype, shape)."""
    constants = dict(constants)
    names = [f"x{i}" for i in range(len(inputs) + len(constants))]
    variable = [n for i, n in enumerate(names) if i not in constants]
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for n, x in zip(variable, inputs, strict=True)
    ]
    inits = [numpy_helper.from_array(v, f"x{i}") for i, v in constants.items()]
    dtype, shape = out or (inputs[0].dtype, np.broadcast_shapes(*(x.shape for x in inputs)))
    y = helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
    node = helper.make_node(op, names, ["y"], **attrs)
    graph = helper.make_graph([node], "g", infos, [y], inits)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


class Case:
    """An operator on inputs, with the values it must give."""

    def __init__(self, expected, op, *inputs, rtol=0.0, **model):
        self.expected = np.asarray(expected)
        self.inputs = [np.asarray(x) for x in inputs]
        self.rtol = rtol
        self.label = f"{op} {[str(x.dtype) for x in self.inputs]} {model}"
        model.setdefault("out", (self.expected.dtype, self.expected.shape))
        converted = convert(model_of(op, self.inputs, **model), Options(strip=True))
        self.job = Job(converted.data, [[element_bytes(x) for x in self.inputs]])

    def fits(self, target):
        """False where it needs doubles that the target does not have."""
        arrays = [self.expected, *self.inputs]
        return target.float_bits == 64 or all(x.dtype != np.float64 for x in arrays)


def check(target, cases):
    cases = [case for case in cases if case.fits(target)]
    for case, outcome in zip(cases, run_jobs(target, [c.job for c in cases]), strict=True):
        assert not outcome.error, (case.label, outcome.message)
        raw = outcome.runs[0].outputs[0]
        got = np.frombuffer(raw, case.expected.dtype).reshape(case.expected.shape)
        # atol: a denormal intermediate, off by half its last bit, times an x of up to 100
        np.testing.assert_allclose(
            got.astype(np.float64),
            case.expected.astype(np.float64),
            rtol=case.rtol,
            atol=1e-43 if case.rtol else 0,
            err_msg=case.label,
        )
