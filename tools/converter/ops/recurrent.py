"""Lower LSTM, GRU and RNN to kernels lstm, gru, rnn and gated, one step for each direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import Problem
from ..ir import Tensor, dtype_name
from . import lowers
from ._block import block_constants, gemm_words, is_block
from ._dot import pack_rows
from ._dtypes import FLOAT, INT32
from ._elementwise import float_bits
from ._gated import emit_gated, initial_state, is_gated
from ._move import emit_move

# Activations in the kernel's order, with the defaults of alpha and beta, those of the ONNX
# operators. None: the function has no such parameter. ...: the parameter has no default.
_ACTIVATIONS = {
    "relu": (None, None),
    "tanh": (None, None),
    "sigmoid": (None, None),
    "affine": (1.0, 0.0),
    "leakyrelu": (0.01, None),
    "thresholdedrelu": (1.0, None),
    "scaledtanh": (..., ...),
    "hardsigmoid": (0.2, 0.5),
    "elu": (1.0, None),
    "softsign": (None, None),
    "softplus": (None, None),
}


@dataclass
class Cell:
    """A recurrent operator.

    Attributes:
        activations: the default activations of a direction.
    """

    n_gates: int
    n_states: int
    activations: tuple[str, ...]


LSTM = Cell(4, 2, ("Sigmoid", "Tanh", "Tanh"))


@dataclass
class Weights:
    """The weights of one direction.

    Attributes:
        tensors: the kernel's inputs behind x.
        biases: the kernel's parameters that describe the biases.
        scratch: scratch that these weights need.
    """

    tensors: list[Tensor]
    biases: list[int]
    scratch: list[Tensor] = field(default_factory=list)


@lowers("LSTM")
def lower_lstm(node):
    _lower(node, LSTM, node.attr("input_forget", 0))


@lowers("GRU")
def lower_gru(node):
    _lower(node, Cell(3, 1, ("Sigmoid", "Tanh")), node.attr("linear_before_reset", 0))


@lowers("RNN")
def lower_rnn(node):
    _lower(node, Cell(1, 1, ("Tanh",)), 0)


@dataclass
class Shape:
    """The sizes of a node, from which strides follow [elements].

    Attributes:
        layout: 1 if the batch is the outermost dimension.
    """

    directions: int
    seq: int
    batch: int
    inputs: int
    hidden: int
    layout: int

    @classmethod
    def of(cls, node):
        """Return the sizes of a node."""
        x, w, r = node.inputs[:3]
        if any(len(t.shape) != 3 or 0 in t.shape for t in (x, w, r)):
            raise Problem("X, W or R is empty or has not three dimensions")
        layout = node.attr("layout", 0)
        seq, batch = x.shape[1::-1] if layout else x.shape[:2]
        hidden = node.attr("hidden_size", r.shape[2])
        return cls(w.shape[0], seq, batch, x.shape[2], hidden, layout)

    def named(self, d):
        """Return the sizes and strides of direction d, by the names of the kernels' parameters."""
        row, batch_row = self.directions * self.hidden, self.batch * self.hidden
        if self.layout:
            x_strides = [self.inputs, self.seq * self.inputs]  # between time steps, sequences
            first, y_strides, s_stride = d * self.hidden, [row, self.seq * row], row
        else:
            x_strides = [self.batch * self.inputs, self.inputs]
            first, s_stride = d * batch_row, self.hidden
            y_strides = [self.directions * batch_row, self.hidden]
        return {
            "seq": self.seq,
            "batch": self.batch,
            "input_size": self.inputs,
            "hidden": self.hidden,
            "x_strides": x_strides,
            "y_first": first,
            "y_strides": y_strides,
            "s_first": first,
            "s_stride": s_stride,
        }


def _lower(node, cell, option):
    node.require_dtype(FLOAT)
    if not any(node.outputs):
        return
    s = Shape.of(node)
    _check_shapes(node, s, cell.n_gates)
    if is_gated(node, option, s.directions):
        emit_gated(node, cell, s, option, _reverse(node, s.directions))
        return
    w, r, biases = _weights(node, cell.n_gates * s.hidden, cell.n_gates == 3 and option)
    weights = _in_blocks(node, cell, s, (w, r), biases) or Weights([w, r], biases)
    emit_directions(node, node.op.lower(), cell, s, [weights] * s.directions, option)


def _in_blocks(node, cell, s, rows, biases) -> Weights | None:
    """Return known weights in block floating point, or None if they stay floats.

    Weights that --weights f16 has rounded stay floats: they take half of the bytes in the file.

    Args:
        node: the node to lower.
        cell: its Cell.
        s: sizes of the layer.
        rows: W and R as rows.
        biases: for each of them, whether its rows have biases.
    """
    if node.held_bits == 16 and all(t.data is not None and _are_halves(t.data) for t in rows):
        return None
    sizes = (s.inputs, s.hidden)
    pairs = list(zip(rows, sizes, biases, strict=True))
    if not all(t.data is not None and is_block(node, node.inputs[0], t, k) for t, k, _ in pairs):
        return None
    parts = [block_constants(node, t, k, bool(bias)) for t, k, bias in pairs]
    words = gemm_words(cell.n_gates * s.hidden, max(sizes))
    tensors = [part[i] for i in (0, 1) for part in parts] + [t for part in parts for t in part[2:]]
    return Weights(tensors, [len(part) - 2 for part in parts], [node.temp(INT32, (words,))])


def _are_halves(values):
    with np.errstate(over="ignore"):
        return np.array_equal(values, values.astype(np.float16).astype(values.dtype))


def emit_directions(
    node, kernel, cell: Cell, s: Shape, weights: Sequence[Weights], option
) -> None:
    """Emit one step for each direction of a recurrent layer.

    Args:
        node: the node to lower.
        kernel: name of the kernel.
        cell: its Cell.
        s: sizes of the layer.
        weights: Weights of each direction.
        option: linear_before_reset of GRU, input_forget of LSTM.
    """
    outputs = (node.outputs + [None] * 3)[:3]
    activations = activations_of(node, cell, s.directions)
    reverse = _reverse(node, s.directions)
    optional = [lengths(node, s), *(initial_state(node, i) for i in (5, 6)), node.input(7)]
    present = sum((t is not None) << i for i, t in enumerate(optional + outputs))
    # a step reads its initial states first and writes the last ones at its end
    states = zip(optional[1:3], outputs[1:], strict=True)
    in_place = [pair for pair in states if None not in pair]
    sums = node.temp(FLOAT, (cell.n_states * s.batch + 2 * cell.n_gates, s.hidden))
    for d in range(s.directions):
        node.emit(
            kernel,
            [t for t in (node.inputs[0], *weights[d].tensors, *optional) if t is not None],
            [t for t in outputs if t is not None],
            scratch=[sums, *weights[d].scratch],
            macs=s.seq * s.batch * cell.n_gates * s.hidden * (s.inputs + s.hidden),
            in_place=in_place,
            **s.named(d),
            biases=weights[d].biases,
            direction=d,
            reverse=reverse[d],
            present=present,
            option=bool(option),
            clip=_clip(node),
            activations=activations[d],
        )


def _check_shapes(node, s, n_gates):
    d, rows, h = s.directions, n_gates * s.hidden, s.hidden
    state = (s.batch, d, h) if s.layout else (d, s.batch, h)
    weights = [(d, rows, s.inputs), (d, rows, h), (d, 2 * rows)]
    expected = [(shape, FLOAT) for shape in weights]
    expected += [((s.batch,), INT32), (state, FLOAT), (state, FLOAT), ((d, 3 * h), FLOAT)]
    for t, (shape, dtype) in zip(node.inputs[1:], expected, strict=False):
        if t is not None and (t.shape, t.dtype) != (shape, dtype):
            raise Problem(f"{t} where {dtype_name(dtype)} {list(shape)} is needed")


def _reverse(node, directions):
    """Return for each direction 1 if it runs backwards, else 0."""
    name = node.attr("direction", "forward")
    reverse = {"forward": [0], "reverse": [1], "bidirectional": [0, 1]}.get(name)
    if reverse is None or len(reverse) != directions:
        raise Problem(f"direction {name} with {directions} sets of weights")
    return reverse


def _weights(node, rows, separate):
    """Return W and R as rows with their biases, and for each whether it has biases.

    Known biases of R are added to those of W, unless they have to stay separate.
    """
    _, w, r, b = (node.inputs + [None])[:4]
    if b is None:
        return w, r, [0, 0]
    if b.data is not None:
        of_w, of_r = b.data[:, :rows], b.data[:, rows:]
        if not separate:
            of_w, of_r = of_w + of_r, np.zeros_like(of_r)
        packed = pack_rows(node, w, [0, 1], [2], node.constant(of_w))
        if not of_r.any():
            return packed, r, [1, 0]
        return packed, pack_rows(node, r, [0, 1], [2], node.constant(of_r)), [1, 1]
    halves = [node.temp(FLOAT, (b.shape[0], rows)) for _ in range(2)]
    for i, half in enumerate(halves):
        emit_move(node.emit, b, half, half.shape, [2 * rows, 1], [rows, 1], i * rows)
    w, r = (pack_rows(node, t, [0, 1], [2], half) for t, half in zip((w, r), halves, strict=True))
    return w, r, [1, 1]


def lengths(node, s) -> Tensor | None:
    """Return sequence_lens, or None if every sequence has full length."""
    lens = node.input(4)
    if lens is None or lens.data is None:
        return lens
    if (lens.data < 0).any() or (lens.data > s.seq).any():
        raise Problem(f"sequence_lens outside 0 .. {s.seq}")
    return lens if (lens.data != s.seq).any() else None


def _clip(node) -> int:
    clip = node.attr("clip")
    if clip is not None and not clip > 0:
        raise Problem(f"clip {clip} is not positive")
    return float_bits(clip or 0.0)


def activations_of(node, cell: Cell, directions):
    """Return (number, bits of alpha, bits of beta) of each activation, for each direction.

    activation_alpha and activation_beta have values only for functions with these parameters.
    """
    names = node.attr("activations") or list(cell.activations) * directions
    names = [n.decode() if isinstance(n, bytes) else n for n in names]
    per = len(cell.activations)
    if len(names) < per * directions:
        raise Problem(f"{len(names)} activations for {directions} directions")
    alphas, betas = (list(node.attr(f"activation_{p}", [])) for p in ("alpha", "beta"))
    params = []
    for name in names:
        if name.lower() not in _ACTIVATIONS:
            raise Problem(f"activation {name}")
        alpha, beta = _ACTIVATIONS[name.lower()]
        params.append(list(_ACTIVATIONS).index(name.lower()))
        params.append(float_bits(_next(alphas, alpha, name)))
        params.append(float_bits(_next(betas, beta, name)))
    return [params[3 * per * d :][: 3 * per] for d in range(directions)]


def _next(values, default, name) -> float:
    """Return the next value of a parameter, or its default if none is left."""
    if default is None:
        return 0.0
    if not values and default is ...:
        raise Problem(f"{name} without activation_alpha or activation_beta")
    return values.pop(0) if values else default
