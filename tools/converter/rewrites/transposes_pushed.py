"""Push Transposes through nodes that take any order of axes, where fewer bytes move.

1. A set of nodes behind Transposes computes on the Transposes' inputs instead; values that nodes
   outside of the set read are transposed behind it. The set is the one that saves most bytes of
   transposed tensors.
2. Its nodes are element-wise, Concat, Split, Slice, Pad, Softmax, reductions, QuantizeLinear and
   DequantizeLinear, QLinear operators of one or two tensors, and views that add or drop dims of 1.
3. Constants of such a node are transposed at conversion.
4. A Transpose that alone reads a DequantizeLinear or Pad moves in front of it.

So the NHWC that TensorFlow's exporters leave around each convolution disappears, and the remaining
Transposes move small tensors.
"""

from __future__ import annotations

import math

import onnx_ir as ir

from . import _graph as g
from ._moves import Move, inverse, move_of
from .identities import is_in_order
from .reshapes import reshaped
from .transposes import perm_of
from .transposes_absorbed import absorbs


def rewrite(model: ir.Model) -> int:
    n_pushed = 0
    for node in g.nodes_of(model, "Transpose"):
        if node.graph is not None and g.shape_of(node.outputs[0]) and perm_of(node):
            n_pushed += _lifted(node) or _Region(node).pushed()
    return n_pushed


def _lifted(node):
    """Apply rule 4."""
    perm, made = perm_of(node), g.sole_maker(node.inputs[0], "DequantizeLinear", "Pad")
    move = None if made is None else move_of(made, inverse(perm))
    if move is None or g.shape_of(made.inputs[0]) is None:
        return False
    x = made.inputs[0]
    shape = [g.shape_of(x)[a] for a in perm]
    inputs = [g.add(node, "Transpose", [x], {"perm": perm}, like=x, shape=shape, named=node)]
    inputs += made.inputs[1:]
    for i, data in move.constants.items():
        inputs[i] = g.constant(made.outputs[0], data)
    attributes = {**made.attributes, **move.attributes}
    return g.replace(node, g.add(node, made.op_type, inputs, attributes, named=made))


def _readers(value):
    return [use.node for use in value.uses()]


def _nbytes(value):
    return math.prod(g.shape_of(value)) * value.dtype.itemsize


class _Region:
    """Nodes that could compute untransposed. seeds: the Transposes in front, by their output."""

    def __init__(self, first: ir.Node):
        self.seeds: dict[ir.Value, ir.Node] = {}
        self.moves: dict[ir.Node, Move] = {}
        self._grow(first)

    def _grow(self, first):
        self.seeds[first.outputs[0]] = first
        orders = {first.outputs[0]: perm_of(first)}
        waiting = [first.outputs[0]]
        while waiting:
            value = waiting.pop()
            for node in _readers(value):
                move = None if node in self.moves else move_of(node, orders[value])
                if move is None or not self._fits(node, move, orders, orders[value]):
                    continue
                self.moves[node] = move
                orders.update((out, move.perm) for out in node.outputs)
                waiting += node.outputs
                waiting += self._new_seeds(node, move, orders, orders[value])

    def _fits(self, node, move, orders, perm):
        """Return True if all permuted operands of a node have this order or none, and one has it.

        Args:
            node: the node.
            move: its Move.
            orders: {value: its permutation}.
            perm: the order.
        """
        operands = [node.inputs[i] for i in move.laid]
        return any(v in orders for v in operands) and all(
            orders.get(v, perm) == perm for v in operands
        )

    def _new_seeds(self, node, move, orders, perm):
        new = []
        for value in (node.inputs[i] for i in move.laid):
            made = g.maker(value, "Transpose")
            if made is not None and value not in orders and perm_of(made) == perm:
                self.seeds[value], orders[value] = made, perm
                new.append(value)
        return new

    def pushed(self) -> bool:
        """Push the Transposes through the best part of the region, if that saves bytes."""
        chosen = self._best()
        if not chosen or self._saved(chosen) <= 0:
            return False
        graph = next(iter(chosen)).graph
        _Rebuilder(self).rebuild([node for node in graph if node in chosen])
        return True

    def _best(self):
        """Return the region without the nodes at its ends that do not pay."""
        chosen, best = set(self.moves), self._saved(self.moves)
        shrinks = True
        while shrinks:
            shrinks = False
            for node in [n for n in self.moves if n in chosen]:
                if any(r in chosen for out in node.outputs for r in _readers(out)):
                    continue
                saved = self._saved(chosen - {node})
                if saved >= best:
                    chosen, best, shrinks = chosen - {node}, saved, True
        return chosen

    def _saved(self, chosen):
        """Return the bytes that Transposes write less if these nodes compute untransposed."""
        saved = 0
        for value, seed in self.seeds.items():
            if not self._needed(value, perm_of(seed), chosen):
                saved += _nbytes(value)
        turned = set()
        for node in chosen:
            move = self.moves[node]
            for value in (node.inputs[i] for i in move.laid):
                if self._costs(value, node, chosen):
                    turned.add(value)
            for out in node.outputs:
                saved += self._cancelled(out, move.perm, chosen)
                if self._needed(out, move.perm, chosen):
                    saved -= _nbytes(out)
        return saved - sum(map(_nbytes, turned))

    def _needed(self, value, perm, chosen):
        """Return True if the value is still read in its own order."""
        if is_in_order(perm, _source_shape(value, perm)):
            return False
        readers = [r for r in _readers(value) if r not in chosen]
        passes = all(g.is_op(r, "Transpose") or absorbs(r) for r in readers)
        return value.is_graph_output() or not passes

    def _cancelled(self, value, perm, chosen):
        """Return the bytes of those Transposes behind a value that become unnecessary.

        Args:
            value: the value.
            perm: its permutation.
            chosen: nodes of the region.
        """
        saved = 0
        for reader in _readers(value):
            if reader not in chosen and g.is_op(reader, "Transpose") and perm_of(reader):
                order = [perm[a] for a in perm_of(reader)]
                if is_in_order(order, _source_shape(value, perm)):
                    saved += _nbytes(reader.outputs[0])
        return saved

    def _costs(self, value, node, chosen):
        """Return True if an operand must be transposed for the node."""
        if value in self.seeds or value.producer() in chosen or g.const(value) is not None:
            return False
        perm = self.order_of_inputs(node)
        shape = g.shape_of(value)
        return len(shape) == len(perm) and not is_in_order(inverse(perm), shape)

    def order_of_inputs(self, node) -> list[int]:
        for value in (node.inputs[i] for i in self.moves[node].laid):
            if value in self.seeds:
                return perm_of(self.seeds[value])
            if value.producer() in self.moves:
                return self.moves[value.producer()].perm
        raise LookupError(f"{node.name} is not behind a Transpose")


def _source_shape(value, perm):
    """Return the shape before a Transpose of this order."""
    shape = g.shape_of(value)
    return tuple(shape[a] for a in inverse(perm))


class _Rebuilder:
    """Puts the untransposed nodes in place."""

    def __init__(self, region: _Region):
        self.region = region
        self.sources: dict[ir.Value, ir.Value] = {
            value: seed.inputs[0] for value, seed in region.seeds.items()
        }

    def rebuild(self, nodes: list[ir.Node]) -> None:
        perms = [self.region.order_of_inputs(node) for node in nodes]
        for node, perm in zip(nodes, perms, strict=True):
            self._rebuild(node, self.region.moves[node], perm)

    def _rebuild(self, node, move, perm):
        inputs = list(node.inputs)
        for i in move.laid:
            inputs[i] = self._source(inputs[i], perm, node)
        for i, data in move.constants.items():
            inputs += [None] * (i + 1 - len(inputs))
            inputs[i] = g.constant(node.outputs[0], data)
        inputs = inputs[:2] if move.op == "Reshape" else inputs
        own = {} if move.op else node.attributes
        attributes = {**own, **move.attributes}
        made = g.add_many(node, move.op or node.op_type, inputs, attributes, node.domain)
        turned = []
        for out, new in zip(node.outputs, made, strict=True):
            new.dtype, new.shape = out.dtype, ir.Shape(_source_shape(out, move.perm))
            turned.append(g.add(node, "Transpose", [new], {"perm": move.perm}, like=out))
            self.sources[turned[-1]] = new
        g.replace(node, *turned)

    def _source(self, value, perm, before):
        """Return the value in the order before the Transposes."""
        if value in self.sources:
            return self.sources[value]
        back, shape, data = inverse(perm), g.shape_of(value), g.const(value)
        if math.prod(shape) == 1:
            return value
        if data is not None:
            whole = data.reshape((1,) * (len(perm) - data.ndim) + data.shape)
            return g.constant(value, whole.transpose(back))
        turned = tuple(shape[a] for a in back)
        if is_in_order(back, shape):
            return reshaped(before, value, turned)
        return g.add(before, "Transpose", [value], {"perm": back}, like=value, shape=turned)
