"""Cells of recurrent networks, found by what they compute: LSTM, GRU, RNN.

LSTM: c = f * c' + i * g, h = o * tanh(c); GRU: h = z * h' + (1 - z) * n, also written as
(h' - n) * z + n, and either with 1 - z for z; RNN: h = tanh or Relu of a sum. Gates are functions
of affine forms.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from . import _graph as g
from ._affine import Affine, Analysis, Source, selection
from .reshapes import VIEWS

_SIGMOIDS = ("Sigmoid", "HardSigmoid")


@dataclass
class Cell:
    """One step of a recurrent network.

    Attributes:
        kind: LSTM, GRU or RNN.
        h: the value that is the step's output.
        gates: affine forms of x and h_before, in ONNX's order.
        attributes: attributes of the operator, equal for all steps of a chain.
        c: LSTM's cell state after the step.
        c_before: LSTM's cell state before it, None for zeros.
        extra: GRU's r * (h_before @ R + b).
        x: the step's source.
    """

    kind: str
    h: ir.Value
    gates: list[Affine]
    attributes: dict
    c: ir.Value | None = None
    c_before: ir.Value | None = None
    extra: Affine | None = None
    x: Source | None = None
    h_before: ir.Value | None = None
    weights: list[np.ndarray] = field(default_factory=list)


def base(value: ir.Value) -> ir.Value:
    """Return the value that this is a view of."""
    while (node := g.maker(value, "Identity", *VIEWS)) is not None:
        value = node.inputs[0]
    return value


def find_cells(graph: ir.Graph, step: ir.Value | None = None) -> list[Cell]:
    """Return all cells of a graph in order, or those that read one step of a sequence."""
    finder = _Finder(Analysis(finds_steps=step is None))
    if step is not None and g.shape_of(step):
        finder.analysis.stop_at(step)
    cells = []
    for node in graph:
        rule = finder.rules.get(node.op_type) if node.domain == "" else None
        cell = rule(node) if rule and g.is_float(node.outputs[0]) else None
        if cell is not None and _settled(cell, step):
            finder.analysis.stop_at(cell.h)
            cells.append(cell)
    return cells


def _settled(cell: Cell, step: ir.Value | None) -> bool:
    """Sort a cell's sources into x and h_before, then set its weights.

    Returns:
        False if it has other sources.
    """
    sources = dict.fromkeys(s for gate in cell.gates for s in gate.parts)
    if cell.extra is not None:
        sources.update(dict.fromkeys(cell.extra.parts))
    steps = [s for s in sources if s.place >= 0 or s.value is step]
    states = [s for s in sources if s not in steps]
    if len(steps) != 1 or len(states) > 1:
        return False
    if cell.extra is not None and any(s in states for s in cell.gates[-1].parts):
        return False
    cell.x = steps[0]
    if cell.h_before is None and states:
        cell.h_before = states[0].value
    if states and base(cell.h_before) is not base(states[0].value):
        return False
    h = states[0] if states else None
    cell.weights = [_stacked(cell.gates, cell.x), _stacked(cell.gates, h)]
    cell.weights.append(np.concatenate([gate.bias for gate in cell.gates]))
    if cell.extra is not None:
        if cell.x in cell.extra.parts:
            return False
        n = cell.extra.n
        cell.weights[1][-n:] = _stacked([cell.extra], h)
        cell.weights.append(cell.extra.bias)
    return True


def _stacked(gates, source):
    """Return the weights of one source, as ONNX has them: (gates * hidden, features)."""
    known = [gate.matrix(source) for gate in gates if source in gate.parts]
    width = known[0].shape[0] if known else gates[0].n
    rows = [
        gate.matrix(source).T if source in gate.parts else np.zeros((gate.n, width))
        for gate in gates
    ]
    return np.concatenate(rows)


class _Finder:
    def __init__(self, analysis):
        self.analysis = analysis
        self.rules = {"Mul": self._lstm, "Add": self._gru, "Tanh": self._rnn, "Relu": self._rnn}

    def _gate(self, value, *functions):
        """Return (function with its constants, affine form of its operand, value); else None.

        The function may be applied to all gates before they are split.
        """
        value = result = base(value)
        taken = None
        node = g.maker(value, "Split", "Slice")
        if node is not None:
            taken = selection(node, value)
            rank = len(g.shape_of(node.inputs[0]) or ())
            if taken is None or taken[0] != rank - 1:
                return None
            value = base(node.inputs[0])
        node = g.maker(value, *functions)
        form = None if node is None else self.analysis.of(node.inputs[0])
        if form is None or not form.parts:
            return None
        if taken is not None:
            columns = slice(taken[1], taken[1] + taken[2])
            parts = {s: form.matrix(s)[:, columns] for s in form.parts}
            form = Affine(parts, form.bias[columns], taken[2])
        constants = (g.attr(node, "alpha", 0.2), g.attr(node, "beta", 0.5))
        function = (node.op_type, *(constants if node.op_type == "HardSigmoid" else ()))
        return function, form, result

    def _split(self, value):
        """Yield (gate, other operand) of a Mul of a sigmoid and something, each way to read it.

        The gate may be 1 less a sigmoid.
        """
        node = g.maker(base(value), "Mul")
        for a, b in () if node is None else (node.inputs, node.inputs[::-1]):
            rest = g.maker(base(a), "Sub")
            is_rest = rest is not None and _is_one(rest.inputs[0])
            gate = self._gate(rest.inputs[1] if is_rest else a, *_SIGMOIDS)
            form = _turned(gate) if gate and is_rest else gate and gate[1]
            if form:
                yield (gate[0], form, base(a) if is_rest else gate[2]), b

    def _lstm(self, node):
        for o, other in self._split(node.outputs[0]):
            squashed = g.maker(base(other), "Tanh")
            total = None if squashed is None else g.maker(base(squashed.inputs[0]), "Add")
            for kept, new in () if total is None else (total.inputs, total.inputs[::-1]):
                cell = self._lstm_of(node, o, total, kept, new)
                if cell is not None:
                    return cell
        return None

    def _lstm_of(self, node, o, total, kept, new):
        for i, candidate in self._split(new):
            squashed = self._gate(candidate, "Tanh")
            for f, c_before in self._split(kept) if squashed else ():
                if not i[0] == f[0] == o[0]:
                    continue
                gates = [gate[1] for gate in (i, o, f, squashed)]
                attributes = _functions([i[0], ("Tanh",), ("Tanh",)])
                return Cell("LSTM", node.outputs[0], gates, attributes, total.outputs[0], c_before)
        return None

    def _gru(self, node):
        for a, b in (node.inputs, node.inputs[::-1]):
            for z, other in self._split(a):
                for h_before, new, is_turned in self._gru_operands(z, other, b):
                    form = _turned(z) if is_turned else z[1]
                    cell = form and self._gru_of(node, (z[0], form), new, h_before)
                    if cell:
                        return cell
        return None

    def _gru_operands(self, z, other, b):
        """Yield (h', n, False) of z * (h' - n) + n, or of z * h' + (1 - z) * n, if so read.

        (h', n, True) means that h' and n have changed places.
        """
        difference = g.maker(base(other), "Sub")
        if difference is not None and base(difference.inputs[1]) is base(b):
            yield difference.inputs[0], b, False
            yield b, difference.inputs[0], True
        zeros = g.const(b)
        if zeros is not None and not zeros.any():  # h', which has been left out elsewhere
            yield b, other, True
        product = g.maker(base(b), "Mul")
        for rest, new in () if product is None else (product.inputs, product.inputs[::-1]):
            rest = g.maker(base(rest), "Sub")
            if rest and _is_one(rest.inputs[0]) and base(rest.inputs[1]) is z[2]:
                yield other, new, False
                yield new, other, True

    def _gru_of(self, node, z, new, h_before):
        squashed = self._gate(new, "Tanh")
        if squashed is None:
            return None
        form = squashed[1]
        products = [s for s in form.parts if g.maker(s.value, "Mul") and s.place < 0]
        if len(products) != 1:
            return None
        for r, other in self._split(products[0].value):
            if r[0] != z[0]:
                continue
            rest = {s: m for s, m in form.parts.items() if s is not products[0]}
            plain = Affine(rest, form.bias, form.n)
            attributes = _functions([z[0], ("Tanh",)])
            cell = Cell("GRU", node.outputs[0], [z[1], r[1], plain], attributes)
            cell.h_before = h_before
            if base(other) is base(h_before):
                cell.extra = Affine({Source(base(other)): form.matrix(products[0])}, 0 * form.bias)
                cell.extra.n = form.n
            elif form.parts[products[0]] is None:
                cell.extra = self.analysis.of(other)
                attributes["linear_before_reset"] = 1
            if cell.extra is not None:
                return cell
        return None

    def _rnn(self, node):
        form = self.analysis.of(node.inputs[0])
        if form is None or not 1 <= len(form.parts) <= 2:
            return None
        return Cell("RNN", node.outputs[0], [form], {"activations": [node.op_type]})


def _turned(z):
    """Return the form of 1 less a gate; None if its function is not symmetric."""
    function, form, _ = z
    if function[-1] not in ("Sigmoid", 0.5):  # beta of HardSigmoid
        return None
    return Affine({s: -form.matrix(s) for s in form.parts}, -form.bias, form.n)


def _is_one(value):
    data = g.const(value)
    return data is not None and (data == 1).all()


def _functions(functions):
    """Return the operator's attributes for the functions of the gates."""
    attributes = {"activations": [name for name, *_ in functions]}
    if any(len(f) > 1 for f in functions):
        attributes["activation_alpha"] = [f[1] if len(f) > 1 else 1.0 for f in functions]
        attributes["activation_beta"] = [f[2] if len(f) > 1 else 0.0 for f in functions]
    return attributes
