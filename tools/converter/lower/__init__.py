"""Lower the nodes of a simplified ONNX model to kernel steps.

All problems of a model are collected before it is refused. Which steps a node becomes is decided
in tools/converter/ops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import helper

from tools import limits
from tools.format import objects

from ..context import PLAIN, Context
from ..errors import BlockedProblem, DtypeProblem, Finding, Problem, UnsupportedModel
from ..external_weights import array_of
from ..ir import Graph, Step, Tensor, dtype_name, walk
from ..load.missing import problem_of
from ..numbers import int64, widen
from ..numbers.precision import Precision
from ..protos import name_of, operator_of, opset_of
from ..shapes import extent, extent_forms, runtime
from ..shapes.bodies import model_of
from ..simplify import simplify
from .node import Node


def lower(
    model: onnx.ModelProto,
    twin: onnx.ModelProto | None = None,
    context: Context = PLAIN,
    precision: Precision | None = None,
) -> Graph:
    """Lower a simplified model (see simplify) to a graph of kernel steps.

    Args:
        model: the model.
        twin: the model, simplified with other bounds of its inputs' sizes. It shows that the
            steps do not depend on the bounds.
        context: what the nodes may use.
        precision: how float32 products are computed.

    Raises:
        UnsupportedModel: if nodes cannot be lowered; it lists all of them.
    """
    precision = precision or Precision()
    graph = Lowerer(model, context, precision).lowered()
    if twin is not None or runtime.is_decided_by_runs(graph):
        grown = Lowerer(twin or model, context, precision, grown=True)
        runtime.check_follows(graph, grown.lowered())
    return graph


class Lowerer:
    """Lower one graph: the model's, or that of a body.

    Attributes:
        grown: run-time dimensions have other bounds than those that are planned for.
        findings: the problems so far.
        blocked: values that nodes with findings fail to compute.
        values: the tensors by name; at first those that come from outside (inputs of a body).
        unknown: why a value has no tensor, by its name.
        wide: float32 values of narrow floats, see numbers/widen.py.
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        context: Context,
        precision: Precision,
        bound: Mapping[str, Tensor] | None = None,
        grown: bool = False,
    ):
        self.model = model
        self.context = context
        self.precision = precision
        self.grown = grown
        self.findings: list[Finding] = []
        self.blocked: set[str] = set()
        self.values: dict[str, Tensor] = dict(bound or {})
        self.unknown: dict[str, str] = {}
        self.wide: dict[Tensor, Tensor] = {}
        graph = model.graph
        self.int64 = int64.Narrowing(graph, bound is not None)
        for proto in graph.initializer:
            data = array_of(proto)
            self.values[proto.name] = Tensor(proto.name, proto.data_type, data.shape, data)
        for info in list(graph.input) + list(graph.value_info) + list(graph.output):
            if info.name not in self.values:
                self._declare(info)
        self.graph = Graph([], [], [], nodes_before=len(graph.node), nodes_after=len(graph.node))
        for info in graph.input:
            if info.name in self.values:
                self.graph.inputs.append(self.values[info.name])
            else:
                reason = self.unknown[info.name]
                is_shape = reason.startswith("shape")
                problem = Problem(reason, "--shape or --dim fix dimensions" if is_shape else "")
                self.blocked.add(info.name)
                self._find("input", info.name, problem)

    def _declare(self, info):
        """Make a tensor for a value of known dtype and shape; else note why they are unknown."""
        kind = info.type.WhichOneof("value")
        as_map = objects.dtype_of(info.type)
        if as_map is not None:
            shape = (objects.OPEN,) if as_map & objects.SEQUENCE else ()
            self.values[info.name] = Tensor(info.name, as_map, shape)
            return
        if kind != "tensor_type":
            what = (kind or "untyped value").removesuffix("_type")
            self.unknown[info.name] = f"a {what} whose contents are not known at conversion"
            return
        t = info.type.tensor_type
        dims = [self._dim(d) for d in t.shape.dim]
        if t.elem_type == objects.STRING and t.HasField("shape"):
            shape = tuple(d if _is_extent(d) else objects.OPEN for d in dims)
            self.values[info.name] = Tensor(info.name, t.elem_type, shape)
        elif not t.HasField("shape") or not all(map(_is_extent, dims)):
            self.unknown[info.name] = (
                f"shape {dims if t.HasField('shape') else 'unknown'} is not fixed"
            )
        elif not _is_held(t.elem_type):
            self.unknown[info.name] = f"dtype {dtype_name(t.elem_type)}"
        else:
            self.values[info.name] = Tensor(info.name, t.elem_type, tuple(dims))

    def _dim(self, d):
        """Return a dimension as a number or an Extent; its name if it has no value."""
        if d.HasField("dim_value"):
            return d.dim_value
        value = extent_forms.parsed(d.dim_param, self.grown)
        return (d.dim_param or "?") if value is None else value

    def lowered(self) -> Graph:
        """Return the graph of all nodes.

        Raises:
            UnsupportedModel: if nodes cannot be lowered.
        """
        self.lower_all()
        return self.finish()

    def lower_all(self) -> None:
        """Emit the steps of every node, or add a finding."""
        for node in self.model.graph.node:
            self._lower(node)

    def _find(self, what, name, problem):
        undecided = "run-time extent" in problem.reason or "is not fixed" in problem.reason
        if undecided and any(t.is_open for t in self.graph.inputs):
            problem = Problem(problem.reason, "--dim instead of --bound fixes the inputs' sizes")
        self.findings.append(Finding(what, name, problem))

    def _lower(self, proto):
        n_steps = len(self.graph.steps)
        limits.at("lowering", f"{operator_of(proto)} {name_of(proto)}")
        try:
            operators = self.context.operators
            is_for_objects = self._has_objects(proto)
            lowering = operators.lowering_of(proto.domain, proto.op_type, is_for_objects)
            if lowering is None:
                raise problem_of(proto, operators)
            node = Node(self, proto, lowering)
            _check_axis(node)
            if not runtime.lower_contents(node) and not _is_empty_product(node):
                replaced = self.int64.enter(node)
                self._lower_in_some_dtype(node, lowering)
                self.int64.leave(node, replaced)
            if node.is_kept:
                self._lower_empty(node, self.graph.steps[n_steps:])
        except BlockedProblem:
            self.blocked.update(proto.output)
        except Problem as problem:
            self.blocked.update(proto.output)
            opset = opset_of(self.model, proto.domain)
            self._find(f"{operator_of(proto)} (opset {opset})", name_of(proto), problem)
        except (ArithmeticError, LookupError, TypeError, ValueError) as e:
            inputs = ", ".join(str(self.values[n]) for n in proto.input if n in self.values)
            error = f"{type(e).__name__}: {e}"
            reason = f"its inputs ({inputs}) and attributes do not fit together ({error})"
            if self._is_open(proto):
                reason = "it cannot follow a run-time extent"
            self.blocked.update(proto.output)
            self._find(operator_of(proto), name_of(proto), Problem(reason))

    def _is_open(self, proto):
        return any(extent.any_open(t.shape) for t in self._known(proto))

    def _has_objects(self, proto):
        return any(t.is_object for t in self._known(proto))

    def _known(self, proto):
        names = (*proto.input, *proto.output)
        return [self.values[name] for name in names if name in self.values]

    def _lower_in_some_dtype(self, node, lowering):
        if widen.stays_wide(node, self.wide):
            widen.lower_wide(node, lowering, self.wide)
            return
        n_steps = len(self.graph.steps)
        try:
            lowering.lower(node)
        except DtypeProblem:
            if not widen.is_narrow(node):
                raise
            del self.graph.steps[n_steps:]
            widen.lower_wide(node, lowering, self.wide)

    def _lower_empty(self, node, steps):
        """Add steps for empty outputs, which lowerings omit (for level 0)."""
        from ..ops._move import emit_empty_move

        made = {t for step in steps for t in step.outputs}
        for out in node.outputs:
            if out is None or out in made or out.data is not None or out.alias is not None:
                continue
            if 0 in out.shape and node.input(0) is not None:
                emit_empty_move(node.emit, node.inputs[0], out)

    def lower_body(
        self, graph: onnx.GraphProto, inputs: Sequence[Tensor]
    ) -> tuple[list[Step], list[Tensor]]:
        """Lower a subgraph; its problems become findings of this graph.

        Args:
            graph: the subgraph.
            inputs: tensors that its first inputs stand for. Others have this graph's tensor of
                that name.

        Returns:
            Its steps and outputs.

        Raises:
            Problem: if it cannot be lowered.
        """
        model = model_of(self.model, graph, [(t.dtype, t.shape) for t in inputs])
        for info in model.graph.input[len(inputs) :]:
            if info.name in self.values:
                t = self.values[info.name]
                dims = extent_forms.symbols(t.shape)
                info.CopyFrom(helper.make_tensor_value_info(info.name, t.dtype, dims))
        model = simplify(model, self.context)
        names = [i.name for i in model.graph.input]
        bound = dict(zip(names, inputs, strict=False))
        for name in names[len(inputs) :]:
            if name in self.values:
                bound[name] = self.values[name]
        inner = Lowerer(model, self.context, self.precision, bound, self.grown)
        inner.lower_all()
        outputs = inner.results()
        self.findings.extend(inner.findings)
        if inner.findings:
            raise Problem("its body is not supported")
        return inner.graph.steps, outputs

    def finish(self) -> Graph:
        """Return the graph; outputs that would be views of inputs are copied first.

        Raises:
            UnsupportedModel: if there are findings.
        """
        self.graph.outputs = [self._output(t) for t in self.results()]
        runtime.drop_unused(self.graph)
        if self.findings:
            raise UnsupportedModel(self.findings)
        _prune(self.graph)
        return self.graph

    def results(self) -> list[Tensor]:
        """Return the graph's outputs; one that no node computes becomes a finding."""
        outputs = []
        for info in self.model.graph.output:
            if info.name in self.values:
                outputs.append(self.values[info.name])
            elif not self.findings:
                reason = self.unknown.get(info.name, "nothing computes it")
                self._find("output", info.name, Problem(reason))
        return outputs

    def _output(self, t):
        """Return an output; a copy of it if it is a view of an input, which may be refilled.

        At level 0 constants are copied as well.
        """
        is_kept = self.context.keeps_operators
        if t.root not in self.graph.inputs and not (is_kept and t.root.data is not None):
            return t
        from ..ops._move import emit_copy, emit_empty_move

        out = Tensor(t.name, t.dtype, t.shape)
        if t.is_object:
            from ..ops._strings import emit_copy
        elif is_kept and 0 in t.shape:
            emit_copy = emit_empty_move
        emit_copy(lambda **step: self.graph.steps.append(Step.of(**step)), t, out)
        return out


def _prune(graph: Graph) -> None:
    """Drop steps of the graph whose results no other step reads, in place.

    A step with bodies stays, with all that they read. So does a step that decides a run-time
    dimension, or that only checks something.
    """
    needed = {t.root for t in graph.outputs}
    kept: list[Step] = []
    for step in reversed(graph.steps):
        if step.bodies or _has_effect(step) or any(t.root in needed for t in step.outputs):
            kept.append(step)
            needed.update(t.root for inner in walk([step]) for t in inner.inputs)
    graph.steps = kept[::-1]


def _has_effect(step: Step) -> bool:
    return not step.outputs or any(isinstance(p, extent.DimNumber) for p in step.params)


def _is_empty_product(node):
    """Return True for a product without elements, which no step has to compute.

    Only for Gemm and MatMul: lowerings of other operators check their inputs first.
    """
    outputs = [t for t in node.outputs if t is not None and node.op in ("Gemm", "MatMul")]
    return bool(outputs) and all(not t.is_object and _is_empty(t.shape) for t in outputs)


def _is_empty(shape):
    return any(not extent.is_open(d) and d == 0 for d in shape)


def _check_axis(node):
    """Raise Problem for an axis beyond the rank, which several operators would count modulo it."""
    axis, x = node.attr("axis"), node.input(0)
    is_onnx = node.proto.domain in ("", "ai.onnx")  # others may take scales before values
    if isinstance(axis, int) and is_onnx and x is not None and not x.is_object:
        rank = len(x.shape)
        if not -rank - 1 <= axis <= rank:
            raise Problem(f"axis {axis} of a value of rank {rank}")


def _is_extent(d):
    return isinstance(d, extent.Extent) or isinstance(d, int) and d >= 0


def _is_held(dtype):
    """Return True if the device has this dtype: False for complex numbers."""
    return 0 < dtype <= 28 and dtype not in (14, 15)
