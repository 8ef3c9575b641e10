"""Run models of one node on MicroPython and compare with the expected outputs."""

import numpy as np
import pytest
from onnx import helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.format.layout import element_bytes
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

INF, NAN = np.inf, np.nan
on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
SPECIALS = np.array([0.0, -0.0, 1, -1, 3, -2, 2.5, 1e30, -1e30, 3e38, INF, -INF, NAN], np.float32)
SMALL = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32]
INTS = [*SMALL, np.int64, np.uint64]


def model_of(op, inputs, constants=(), out=None, opset=20, **attrs):
    """Return a model of one node with constants {number of an input: array}."""
    constants = dict(constants)
    names = [f"x{i}" for i in range(len(inputs) + len(constants))]
    variable = [n for i, n in enumerate(names) if i not in constants]
    infos = [small.value(n, x.shape, x.dtype) for n, x in zip(variable, inputs, strict=True)]
    dtype, shape = out or (inputs[0].dtype, np.broadcast_shapes(*(x.shape for x in inputs)))
    node = helper.make_node(op, names, ["y"], **attrs)
    constants = {f"x{i}": v for i, v in constants.items()}
    return small.model([node], infos, [small.value("y", shape, dtype)], opset, **constants)


class Case:
    """An operator on inputs, with its expected output."""

    def __init__(self, expected, op, *inputs, rtol=0.0, **model):
        self.expected = np.asarray(expected)
        self.inputs = [np.asarray(x) for x in inputs]
        self.rtol = rtol
        self.label = f"{op} {[str(x.dtype) for x in self.inputs]} {model}"
        model.setdefault("out", (self.expected.dtype, self.expected.shape))
        converted = convert(model_of(op, self.inputs, **model), Options(strip=True))
        self.job = Job(converted.data, [[element_bytes(x) for x in self.inputs]])

    def fits(self, target):
        """Return False if it needs doubles that the target lacks."""
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
