"""Compare models, written as text, on MicroPython with onnxruntime, sample by sample."""

import numpy as np
from onnx import TensorProto, helper

from tests.host.device.small import model, value
from tools.converter.convert import Options, convert
from tools.converter.reference.ort_session import open_session
from tools.format.layout import element_bytes
from tools.harness import Job, run_jobs

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
RNG = np.random.default_rng(3)


def f32(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


class Case:
    """A model with samples that may lead to different shapes.

    Attributes:
        nodes: texts "Op a b -> c", or (text, attributes).
        outputs: dtype by name.
        bounds: values of --bound.
        declared: declared shapes of outputs by name; other outputs have symbolic dims.
        expected: onnxruntime's outputs for each sample.
    """

    def __init__(
        self, nodes, samples, outputs, constants=None, bounds=None, opset=17, declared=None
    ):
        samples = [[np.asarray(x) for x in sample] for sample in samples]
        protos = [node(n) for n in nodes]
        names = [f"x{i}" for i in range(len(samples[0]))]
        infos = [value(n, x.shape, x.dtype) for n, x in zip(names, samples[0], strict=True)]
        outs = [value(name, None, dtype) for name, dtype in outputs.items()]
        self.model = model(protos, infos, outs, opset, **(constants or {}))
        self.samples, self.bounds = samples, bounds or {}
        self.expected = self._expected()
        for info, y in zip(self.model.graph.output, self.expected[0], strict=True):
            symbols = [f"{info.name}{i}" for i in range(y.ndim)]
            shape = (declared or {}).get(info.name, symbols)
            info.CopyFrom(value(info.name, shape, info.type.tensor_type.elem_type))

    def converted(self, **options):
        return convert(self.model, Options(strip=True, bounds=self.bounds, **options))

    def _expected(self):
        session = open_session(self.model)
        return [session.run(None, dict(zip(session.inputs, s, strict=True))) for s in self.samples]

    def raw(self):
        return [[element_bytes(x) for x in sample] for sample in self.samples]


def node(spec):
    text, attrs = spec if isinstance(spec, tuple) else (spec, {})
    op, _, rest = text.partition(" ")
    inputs, _, outputs = rest.partition("->")
    inputs, outputs = [["" if n == "_" else n for n in s.split()] for s in (inputs, outputs)]
    return helper.make_node(op, inputs, outputs, **attrs)


def check(target, cases, **options):
    """Run cases, converted with these options; return the shapes that each case's runs had."""
    conversions = [case.converted(**options) for case in cases]
    jobs = [Job(c.data, case.raw()) for c, case in zip(conversions, cases, strict=True)]
    results = []
    for i, (case, c, outcome) in enumerate(
        zip(cases, conversions, run_jobs(target, jobs), strict=True)
    ):
        assert not outcome.error, (i, outcome.message)
        shapes = set()
        for run, want in zip(outcome.runs, case.expected, strict=True):
            dtypes = [t.np_dtype for t in c.graph.outputs]
            for raw, shape, dtype, w in zip(run.outputs, run.shapes, dtypes, want, strict=True):
                got = np.frombuffer(raw, dtype).reshape(shape)
                assert got.shape == w.shape and got.dtype == w.dtype, i
                np.testing.assert_allclose(got, w, rtol=1e-5, atol=1e-6, err_msg=str(i))
            shapes.add(tuple(run.shapes))
        results.append(shapes)
    return results
