"""Edit a graph: make nodes, values and constants, and replace others by them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import onnx
import onnx_ir as ir
from onnx_ir.passes import common as ir_passes

from ...external_weights import digest_of
from ...ir_weights import to_ir
from ._values import Scaled


class Edit:
    """The changes to a model's main graph in one round of the rules.

    A node that loses its only reader stays until `finish`.

    Attributes:
        original: the model at the round's beginning.
        model: the model in the IR, which the rules change in place.
        graph: its main graph.
        opset: the version of ONNX's operators.
        invented: the names that rules have made up, in earlier rounds too.
    """

    def __init__(
        self,
        original: onnx.ModelProto,
        invented: set[str] | None = None,
        floats: Collection[str] = (),
    ):
        self.original, self.model = original, to_ir(original)
        self.graph = self.model.graph
        self.opset = self.model.opset_imports.get("", 0)
        self.invented = set() if invented is None else invented
        self._names_of_floats = floats
        self._constants: dict[tuple, ir.Value] = {}
        self._taken = {v.name for v in [*self.graph.inputs, *self.graph.initializers.values()]}
        for node in self.graph:
            self._taken.update([node.name, *(v.name for v in node.outputs)])

    def stays_float(self, node: ir.Node) -> bool:
        """Return True for a node that no rule makes integers of (see Context.floats)."""
        return (node.name or node.outputs[0].name) in self._names_of_floats

    def new_name(self, hint: str) -> str:
        """Return a name for a value or a node that no other has, nor had in an earlier round."""
        number = 1
        while f"{hint}/{number}" in self._taken or f"{hint}/{number}" in self.invented:
            number += 1
        self.invented.add(f"{hint}/{number}")
        return f"{hint}/{number}"

    def new_value(self, hint: str, dtype: int, like: ir.Value | None) -> ir.Value:
        """Return a new value with the shape of another value; without one its shape is unknown."""
        value = ir.Value(name=self.new_name(hint), type=ir.TensorType(ir.DataType(dtype)))
        if like is not None and like.shape is not None:
            value.shape = like.shape.copy()
        return value

    def constant(self, data: np.ndarray, hint: str) -> ir.Value:
        """Return an initializer with these contents; equal contents share one."""
        data = np.asarray(data, order="C")
        key = (data.dtype.str, str(data.dtype), data.shape, digest_of(data))
        if key not in self._constants:
            self._constants[key] = self._initializer(data, self.new_name(hint))
        return self._constants[key]

    def _initializer(self, data, name):
        value = ir.Value(name=name, const_value=ir.tensor(data, name=name))
        value.dtype, value.shape = value.const_value.dtype, value.const_value.shape
        self.graph.register_initializer(value)
        return value

    def parameters(self, q: Scaled, hint: str) -> list[ir.Value]:
        """Return scale and zero point as initializers, scalars if there is one of each."""
        shape = () if q.scale.size == 1 else (-1,)
        return [self.constant(v.reshape(shape), hint) for v in (q.scale, q.zero)]

    def operand(self, q: Scaled, hint: str) -> list[ir.Value]:
        """Return integers, their scale and zero point."""
        return [q.values, *self.parameters(q, hint)]

    def node(
        self,
        op_type: str,
        inputs: Sequence[ir.Value | None],
        name: str = "",
        out: ir.Value | None = None,
        domain: str = "",
        like: ir.Node | None = None,
        **attributes,
    ) -> ir.Node:
        """Return a new node, which is not in the graph yet.

        Args:
            op_type: the operator.
            inputs: its inputs, None where one is absent.
            name: its name.
            out: its output; None for a node whose output will replace another node's.
            domain: the operator's domain.
            like: a node whose attributes it gets as well.
            **attributes: its attributes.
        """
        kept = {} if like is None else dict(like.attributes)
        made = {a.name: a for a in ir.convenience.convert_attributes(attributes)}
        return ir.Node(
            domain,
            op_type,
            inputs,
            (kept | made).values(),
            outputs=[out or ir.Value()],
            name=name or "",
        )

    def copy(
        self,
        node: ir.Node,
        inputs: Sequence[ir.Value | None],
        outputs: Sequence[ir.Value] | None = None,
        name: str | None = None,
    ) -> ir.Node:
        """Return a new node with the operator, attributes and name of another one.

        Args:
            node: the other node.
            inputs: inputs of the copy.
            outputs: outputs of the copy; None for new ones.
            name: name of the copy, None for the same.
        """
        outputs = [ir.Value() for _ in node.outputs] if outputs is None else outputs
        name = node.name if name is None else name
        attributes = node.attributes.values()
        return ir.Node(
            node.domain, node.op_type, inputs, attributes, outputs=outputs, name=name or ""
        )

    def replace(
        self, old: ir.Node, new: Sequence[ir.Node], outputs: Sequence[ir.Value] | None = None
    ) -> None:
        """Replace a node by others. Their outputs get the names and types of the old ones.

        Args:
            old: the node to remove.
            new: the nodes, in order.
            outputs: values that replace the old node's outputs; by default the last node's
                outputs.
        """
        for node in new:
            self.model.opset_imports.setdefault(node.domain, 1)
        self.graph.insert_before(old, new)
        outputs = new[-1].outputs if outputs is None else outputs
        for before, after in zip(old.outputs, outputs, strict=True):
            self.take_over(before, after)
        self.remove(old)

    def fuse(self, node: ir.Node, quantize: ir.Node, new: Sequence[ir.Node]) -> None:
        """Put nodes in the place of a node and of the Q that alone reads its result."""
        self.replace(quantize, new)
        self.remove(node)

    def take_over(self, old: ir.Value, new: ir.Value) -> None:
        """Let a value take over the name, the type and all readers of another one."""
        new.type, new.shape, name = old.type, old.shape, old.name
        old.replace_all_uses_with(new, replace_graph_outputs=True)
        old.name = f"{name}/replaced"
        new.name = name

    def remove(self, node: ir.Node) -> None:
        """Remove a node whose results nobody reads."""
        for i in range(len(node.inputs)):
            node.replace_input_with(i, None)
        self.graph.remove(node)

    def set_constant(self, node: ir.Node, data: np.ndarray) -> None:
        """Let an initializer take the place of a node, under the name of its output."""
        old = node.outputs[0]
        name, old.name = old.name, f"{old.name}/replaced"
        old.replace_all_uses_with(self._initializer(data, name))
        self.remove(node)

    def rename(self, node: ir.Node, old: ir.Value, new: ir.Value) -> None:
        """Let a node read another value instead."""
        for i, value in enumerate(node.inputs):
            if value is old:
                node.replace_input_with(i, new)

    def redirect(self, old: ir.Value, new: ir.Value) -> None:
        """Let all nodes of the graph itself read another value instead."""
        for node, i in old.uses():
            if node.graph is self.graph:
                node.replace_input_with(i, new)

    def drop_unused(self) -> bool:
        """Remove the nodes whose results no node reads; return True if there were any."""
        n_before = len(self.graph)
        for node in reversed(list(self.graph)):
            if not any(v.uses() or v.is_graph_output() for v in node.outputs):
                self.remove(node)
        return len(self.graph) < n_before

    def finish(self) -> None:
        """Remove the nodes and constants that nobody reads."""
        ir_passes.RemoveUnusedNodesPass()(self.model)
