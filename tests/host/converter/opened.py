"""Open one dim of the inputs of models with fixed sizes, for --bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx
import onnx_ir as ir
from onnx import helper, numpy_helper

from tools.converter.convert import Converted, Options, convert
from tools.converter.errors import ConvertError, UnsupportedModel
from tools.converter.protos import operator_of
from tools.converter.reference import golden
from tools.converter.rewrites.qdq._values import array_of, dequantize, dequantized, is_dq, is_q
from tools.harness import Job, run_jobs

DIM = "T"
_FLOAT_ERROR = 2e-5  # of the largest magnitude
_PLACES = ("input", "output")  # what a refusal may be about beside the model's operators

Place = tuple[int, int]  # input, axis
Run = tuple[list[np.ndarray], list[np.ndarray]]  # inputs, onnxruntime's outputs


@dataclass
class Case:
    """A model with an open dim.

    Attributes:
        name: name of the model, with the opened dims.
        model: the model.
        most: bound of the dim.
        runs: inputs of several sizes, with onnxruntime's outputs.
        twin: the model in floats, if there is one.
    """

    name: str
    model: onnx.ModelProto
    most: int
    runs: list[Run]
    twin: onnx.ModelProto | None = None

    @property
    def steps(self) -> list[float | None]:
        """Return the scale of each dequantized output, None for the other outputs."""
        makers = [o.producer() for o in ir.from_proto(self.model).graph.outputs]
        scales = [array_of(node.inputs[1]) if is_dq(node) else None for node in makers]
        return [None if s is None or s.size != 1 else s.item() for s in scales]

    def converted(self, model: onnx.ModelProto | None = None) -> Converted:
        options = Options(bounds={DIM: self.most}, strip=True, check=False)
        return convert(self.model if model is None else model, options)


def cases_of(
    name: str,
    model: onnx.ModelProto,
    values: Sequence[np.ndarray],
    twin: onnx.ModelProto | None = None,
) -> list[Case]:
    """Return a case for each dim that can be opened and that onnxruntime runs in several sizes.

    Args:
        name: name of the model.
        model: the model.
        values: its inputs, with the largest size.
        twin: the model in floats, or None.
    """
    results = []
    for places in groups(model):
        i, axis = places[0]
        case = Case(f"{name} {places}", opened(model, places), values[i].shape[axis], [])
        case.runs = _runs(case.model, values, places)
        case.twin = None if twin is None else opened(twin, places)
        if len(case.runs) > 1:
            results.append(case)
    return results


def groups(model: onnx.ModelProto) -> list[list[Place]]:
    """Return groups of dims that can be opened together: of one size, of inputs of one rank."""
    results: dict[tuple, list[Place]] = {}
    for i, info in enumerate(model.graph.input):
        dims = [d.dim_value for d in info.type.tensor_type.shape.dim]
        for axis, n in enumerate(dims):
            if n > 1:
                results.setdefault((len(dims), axis, n), []).append((i, axis))
    return list(results.values())


def opened(model: onnx.ModelProto, places: Sequence[Place]) -> onnx.ModelProto:
    """Return a copy of a model in which these dims of the inputs have the name DIM."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for i, axis in places:
        copy.graph.input[i].type.tensor_type.shape.dim[axis].dim_param = DIM
    del copy.graph.value_info[:]
    for info in copy.graph.output:
        for d in info.type.tensor_type.shape.dim:
            d.Clear()
    return copy


def _runs(model, values, places) -> list[Run]:
    i, axis = places[0]
    most, result = values[i].shape[axis], []
    for n in sorted({1, 2, most // 2, most - 1, most} - {0}):
        xs = list(values)
        for i, axis in places:
            xs[i] = np.ascontiguousarray(xs[i].take(range(n), axis))
        ys = golden.reference(model, xs)
        if ys is not None and _is_defined(model, xs):
            result.append((xs, ys))
    return result


def _is_defined(model, xs):
    """Return False if a division gives NaN, whose integer depends on the computer."""
    divisions = [n.output[0] for n in model.graph.node if n.op_type == "Div"]
    if not divisions:
        return True
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.output[:]
    copy.graph.output.extend(map(helper.make_empty_tensor_value_info, divisions))
    result = golden.reference(copy, xs)
    return result is not None and all(np.isfinite(y).all() for y in result)


def as_floats(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model without its Q and DQ; their constants become floats."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    same, kept = {}, []
    for node, read in zip(copy.graph.node, list(ir.from_proto(model).graph), strict=True):
        node.input[:] = [same.get(name, name) for name in node.input]
        if not (is_q(read) or is_dq(read)):
            kept.append(node)
            continue
        q = dequantized(read.outputs[0]) if is_dq(read) else None
        values = None if q is None else array_of(q.values)
        if values is None:
            same[node.output[0]] = node.input[0]
            continue
        floats = dequantize(values, q).astype(np.float32)
        copy.graph.initializer.append(numpy_helper.from_array(floats, node.output[0]))
    ends = [o.name for o in copy.graph.output if o.name in same]
    kept += [helper.make_node("Identity", [same[name]], [name]) for name in ends]
    del copy.graph.node[:]
    copy.graph.node.extend(kept)
    for info in [*copy.graph.input, *copy.graph.output]:
        info.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    return copy


def converted(case: Case) -> tuple[Converted | None, str]:
    """Return the conversion and "", or the fault of its refusal ("" if it is right)."""
    try:
        return case.converted(), ""
    except UnsupportedModel as e:
        own = {operator_of(node) for node in case.model.graph.node}
        named = [finding.what.partition(" ")[0] for finding in e.findings]
        foreign = [what for what in named if what not in own and what not in _PLACES]
        text = " ".join(str(e).split())
    if foreign:
        return None, f"{case.name}: names {foreign}: {text}"
    try:
        case.converted(as_floats(case.model) if case.twin is None else case.twin)
    except ConvertError:
        return None, ""
    return None, f"{case.name}: its floats convert: {text}"


def differences(target, converted: Sequence[tuple[Case, Converted]]) -> tuple[list[str], float]:
    """Return descriptions of a target's wrong outputs, and the share of equal integers."""
    jobs = [
        Job(
            c.data,
            [[x.tobytes() for x in xs] for xs, _ in case.runs],
            shapes=[[x.shape for x in xs] for xs, _ in case.runs],
        )
        for case, c in converted
    ]
    results, steps = [], [np.zeros(1)]
    for (case, c), outcome in zip(converted, run_jobs(target, jobs, timeout=500), strict=True):
        if outcome.error:
            results.append(f"{case.name}: {outcome.message}")
            continue
        for (xs, ys), run in zip(case.runs, outcome.runs, strict=True):
            for y, raw, t, step in zip(ys, run.outputs, c.graph.outputs, case.steps, strict=True):
                if not raw:  # onnxruntime has a window of an input that is too small for one
                    continue
                got = np.frombuffer(raw, t.np_dtype)
                if got.size != y.size:
                    results.append(f"{case.name}: {got.size} values for {y.shape}")
                elif wrong := _difference(got, y.reshape(-1), step, steps):
                    results.append(f"{case.name}: {wrong} of {[x.shape for x in xs]}")
    return results, float((np.concatenate(steps) == 0).mean())


def _difference(got, expected, step, steps):
    """Return a description of the difference of outputs, "" without one.

    Args:
        got: the target's output.
        expected: onnxruntime's output.
        step: the scale of a dequantized output, else None.
        steps: the differences in steps are appended to it.
    """
    apart = np.abs(got.astype(np.float64) - expected)
    if step is None and expected.dtype.kind == "f":
        error = apart.max(initial=0) / max(np.abs(expected).max(initial=0), 1e-6)
        return f"error {error:.2g}" if not error <= _FLOAT_ERROR else ""
    steps.append(np.rint(apart / (step or 1)))
    return f"{steps[-1].max()} steps" if steps[-1].max(initial=0) > 1 else ""
