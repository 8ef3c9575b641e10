"""LSTM, GRU and RNN -> kernels lstm, gru and rnn, one step a direction."""

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
from ._gated import emit_gated, is_gated
from ._move import emit_move

# Kinds of activation, in the device's order, with the defaults of alpha and beta: those of the
# ONNX operators. None: the function has no such parameter. ...: it has no default.
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
class Kind:
    """n_gates, n_states; activations: the default ones of a direction."""

    n_gates: int
    n_states: int
    activations: tuple[str, ...]


LSTM = Kind(4, 2, ("Sigmoid", "Tanh", "Tanh"))


@dataclass
class Weights:
    """Of one direction: the kernel's inputs behind x, its parameter for them, more scratch."""

    tensors: list[Tensor]
    biases: list[int]
    scratch: list[Tensor] = field(default_factory=list)


@lowers("LSTM")
def lower_lstm(node):
    _lower(node, LSTM, node.attr("input_forget", 0))


@lowers("GRU")
def lower_gru(node):
    _lower(node, Kind(3, 1, ("Sigmoid", "Tanh")), node.attr("linear_before_reset", 0))


@lowers("RNN")
def lower_rnn(node):
    _lower(node, Kind(1, 1, ("Tanh",)), 0)


@dataclass
class Shape:
    """Sizes of a node, and strides in items. layout 1: the batch is the outermost dimension."""

    directions: int
    seq: int
    batch: int
    inputs: int
    hidden: int
    layout: int

    @classmethod
    def of(cls, node):
        x, w, r = node.inputs[:3]
        if any(len(t.shape) != 3 or 0 in t.shape for t in (x, w, r)):
            raise Problem("X, W or R is empty or has not three dimensions")
        layout = node.attr("layout", 0)
        seq, batch = x.shape[1::-1] if layout else x.shape[:2]
        hidden = node.attr("hidden_size", r.shape[2])
        return cls(w.shape[0], seq, batch, x.shape[2], hidden, layout)

    def named(self, d):
        """A direction's sizes and places, by the names of the kernel's parameters."""
        y_first, *y_strides = self.y_place(d)
        s_first, s_stride = self.state_place(d)
        return {
            "seq": self.seq,
            "batch": self.batch,
            "input_size": self.inputs,
            "hidden": self.hidden,
            "x_strides": self.x_strides(),
            "y_first": y_first,
            "y_strides": y_strides,
            "s_first": s_first,
            "s_stride": s_stride,
        }

    def x_strides(self):
        """Between time steps, between sequences."""
        if self.layout:
            return [self.inputs, self.seq * self.inputs]
        return [self.batch * self.inputs, self.inputs]

    def y_place(self, d):
        """First item, strides between time steps and sequences."""
        if self.layout:
            row = self.directions * self.hidden
            return [d * self.hidden, row, self.seq * row]
        row = self.batch * self.hidden
        return [d * row, self.directions * row, self.hidden]

    def state_place(self, d):
        """First item, stride between sequences."""
        if self.layout:
            return [d * self.hidden, self.directions * self.hidden]
        return [d * self.batch * self.hidden, self.hidden]


def _lower(node, kind, option):
    node.require_dtype(FLOAT)
    if not any(node.outputs):
        return
    s = Shape.of(node)
    _check_shapes(node, s, kind.n_gates)
    if is_gated(node, option, s.directions):
        emit_gated(node, kind, s, option, _reverse(node, s.directions))
        return
    w, r, biases = _weights(node, kind.n_gates * s.hidden, kind.n_gates == 3 and option)
    weights = _in_blocks(node, kind, s, (w, r), biases) or Weights([w, r], biases)
    emit_walks(node, node.op.lower(), kind, s, [weights] * s.directions, option)


def _in_blocks(node, kind, s, rows, biases) -> Weights | None:
    """Known weights in block floating point (see mpconnxr/ops/_block.py), where it is wanted.

    Weights that --weights f16 has rounded stay floats: the file holds them in half of the bytes.
    """
    if node.held_bits == 16 and all(t.data is not None and _are_halves(t.data) for t in rows):
        return None
    sizes = (s.inputs, s.hidden)
    pairs = list(zip(rows, sizes, biases, strict=True))
    if not all(t.data is not None and is_block(node, node.inputs[0], t, k) for t, k, _ in pairs):
        return None
    parts = [block_constants(node, t, k, bool(bias)) for t, k, bias in pairs]
    words = gemm_words(kind.n_gates * s.hidden, max(sizes))
    tensors = [part[i] for i in (0, 1) for part in parts] + [t for part in parts for t in part[2:]]
    return Weights(tensors, [len(part) - 2 for part in parts], [node.temp(INT32, (words,))])


def _are_halves(values):
    with np.errstate(over="ignore"):
        return np.array_equal(values, values.astype(np.float16).astype(values.dtype))


def emit_walks(node, kernel, kind: Kind, s: Shape, weights: Sequence[Weights], option) -> None:
    """A step a direction. weights: by direction; option: of the kernel. Raises Problem."""
    outputs = (node.outputs + [None] * 3)[:3]
    activations = activations_of(node, kind, s.directions)
    reverse = _reverse(node, s.directions)
    optional = [lengths(node, s), *(_state(node, i) for i in (5, 6)), node.input(7)]
    present = sum((t is not None) << i for i, t in enumerate(optional + outputs))
    # a step takes its initial states first and leaves the last ones at its end
    states = zip(optional[1:3], outputs[1:], strict=True)
    in_place = [pair for pair in states if None not in pair]
    sums = node.temp(FLOAT, (kind.n_states * s.batch + 2 * kind.n_gates, s.hidden))
    for d in range(s.directions):
        node.emit(
            kernel,
            [t for t in (node.inputs[0], *weights[d].tensors, *optional) if t is not None],
            [t for t in outputs if t is not None],
            scratch=[sums, *weights[d].scratch],
            macs=s.seq * s.batch * kind.n_gates * s.hidden * (s.inputs + s.hidden),
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
    wanted = [(shape, FLOAT) for shape in weights]
    wanted += [((s.batch,), INT32), (state, FLOAT), (state, FLOAT), ((d, 3 * h), FLOAT)]
    for t, (shape, dtype) in zip(node.inputs[1:], wanted, strict=False):
        if t is not None and (t.shape, t.dtype) != (shape, dtype):
            needed = f"{dtype_name(dtype)} {list(shape)}"
            raise Problem(f"{t} where {needed} is needed")


def _reverse(node, directions):
    """Whether each direction walks backwards."""
    name = node.attr("direction", "forward")
    reverse = {"forward": [0], "reverse": [1], "bidirectional": [0, 1]}.get(name)
    if reverse is None or len(reverse) != directions:
        raise Problem(f"direction {name} with {directions} sets of weights")
    return reverse


def _weights(node, rows, separate):
    """W and R as rows with their biases, and whether each has any.

    Both biases are added into W's where that is the same (not separate) and they are known.
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
    """sequence_lens; None if every sequence is of full length."""
    lens = node.input(4)
    if lens is None or lens.data is None:
        return lens
    if (lens.data < 0).any() or (lens.data > s.seq).any():
        raise Problem(f"sequence_lens outside 0 .. {s.seq}")
    return lens if (lens.data != s.seq).any() else None


def _state(node, i) -> Tensor | None:
    """An initial state; None if it is zero."""
    t = node.input(i)
    return t if t is not None and (t.data is None or t.data.any()) else None


def _clip(node) -> int:
    clip = node.attr("clip")
    if clip is not None and not clip > 0:
        raise Problem(f"clip {clip} is not positive")
    return float_bits(clip or 0.0)


def activations_of(node, kind: Kind, directions):
    """Params for each direction: kind, bits of alpha and of beta for each of its functions.

    activation_alpha and activation_beta hold values only for the functions that have them.
    """
    names = node.attr("activations") or list(kind.activations) * directions
    names = [n.decode() if isinstance(n, bytes) else n for n in names]
    per = len(kind.activations)
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
    """The next value for a function that has this parameter, its default if there is none left."""
    if default is None:
        return 0.0
    if not values and default is ...:
        raise Problem(f"{name} without activation_alpha or activation_beta")
    return values.pop(0) if values else default
