"""The usual cell of an LSTM (Sigmoid, Tanh, Tanh, nothing else) in integers: see loops/cell."""

from .. import forms
from ..blocks import block
from ..loops._words import _COLUMNS
from ..loops.cell_steps import (
    _ADD,
    _GATES_X_START,
    _PEAK_ELEMENTS,
    _PEAK_X_START,
    _PRODUCT_OUT_START,
    _PRODUCT_X_START,
    _STATE_OUT_START,
    _STATE_X_START,
    _TANH_X_START,
)
from ..loops.dot import _X_START
from . import _recurrent, lstm

_NO_SIGN = 0x7FFFFFFF
_HAS_P = 8  # bit of `present`
_USUAL = [2, 1, 1]  # kinds of activations: Sigmoid, Tanh, Tanh


def is_usual(node):
    """True for such a node, as far as its parameters can be read."""
    present, option, clip, *kinds = _recurrent.choices(node)
    return kinds == _USUAL and not (present & _HAS_P or option or clip)


class Cell:
    """bits: of the scratch, with the sums of i, o, f, g from item `at` on, n each."""

    def __init__(self, bits, at, n):
        loops = forms.get("cell")
        self.p = block(
            "cell_steps",
            exponent=0,
            peak_x_start=0,
            peak_elements=0,
            peak_out_start=0,
            add=(at, 0, 1, at + 4 * n, 0, 1, at, 1, 4 * n, 0),
            gates_x_start=at,
            gates_elements=4 * n,
            gates_out_start=at,
            gates_tanh_start=3 * n,
            state_x_start=at,
            state_elements=n,
            state_out_start=0,
            state_mask=_NO_SIGN,
            tanh_x_start=0,
            tanh_elements=n,
            tanh_out_start=at + 2 * n,
            tanh_tanh_start=0,
            product_x_start=at + n,
            product_elements=n,
            product_out_start=0,
            product_mask=_NO_SIGN,
        )
        views = memoryview(self.p)
        self.needs = [loops.squash, loops.state, loops.product]
        self.needs += [views[_GATES_X_START:_STATE_X_START], views[_STATE_X_START:_TANH_X_START]]
        self.needs += [views[_TANH_X_START:_PRODUCT_X_START], views[_PRODUCT_X_START:]]
        self.needs += [bits, bits[at + 2 * n : at + 3 * n]]
        self.run = forms.get("cell_steps").step

    def take_sums(self, floats, states):
        """What is at `at` are the sums over x, behind them lie those over h.

        floats: the scratch; states: of the batch, all h, and behind them all c.
        """
        p = self.p
        p[_PEAK_X_START], p[_PEAK_ELEMENTS] = states, states + 2 * p[_ADD + _COLUMNS]
        self.needs += [forms.get("block").peak, forms.get("add").add32, self.run]
        self.needs += [forms.later("cell_special", "of_sums"), p]
        views = memoryview(p)
        self.needs += [views[_PEAK_X_START:_ADD], views[_ADD:_GATES_X_START], floats]
        self.run = forms.get("cell_steps").of_sums

    def step(self, h, c):
        """New states from those at items h and c, in their place."""
        p = self.p
        p[_STATE_OUT_START] = p[_TANH_X_START] = c
        p[_PRODUCT_OUT_START] = h
        self.run(p, self.needs)


class Lstm(lstm.Lstm):
    """With products in block floating point; sums or states with inf or nan are for floats."""

    def bind(self, node, tensors):
        lstm.Lstm.bind(self, node, tensors)
        self.in_integers = Cell(self.bits, self.from_x, self.hidden)
        self.in_integers.take_sums(self.s, self.batch * self.hidden)

    def bind_cell(self, functions):
        pass  # there is no choice

    def cell(self, h):
        s = self.s
        self.rp[_X_START] = h
        self.dots(s, self.r, s, self.rp)
        self.in_integers.step(h, h + self.batch * self.hidden)
