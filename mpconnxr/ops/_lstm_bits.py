"""The usual cell of an LSTM (Sigmoid, Tanh, Tanh, nothing else) in integers: see loops/cell."""

from .. import forms
from ..parameters import block
from . import _recurrent, lstm

_NO_SIGN = 0x7FFFFFFF
_HAS_P = 8  # bit of `present`
_USUAL = [2, 1, 1]  # kinds of activations: Sigmoid, Tanh, Tanh


def is_usual(node):
    """True for such a node, as far as its parameters can be read."""
    present, option, clip, *kinds = _recurrent.choices(node)
    return kinds == _USUAL and not (present & _HAS_P or option or clip)


class Cell:
    """bits: of the scratch, with the sums of i, o, f, g from item `at` on, n each.

    p    exponent of what is not finite; then parameters: 1 of peak, 4 add, 14 squash, 18 state,
         22 squash for states, 26 product
    """

    def __init__(self, bits, at, n):
        loops = forms.get("cell")
        p = [0, 0, 0, 0, at, 0, 1, at + 4 * n, 0, 1, at, 1, 4 * n, 0, at, 4 * n, at, 3 * n]
        p += [at, n, 0, _NO_SIGN, 0, n, at + 2 * n, 0, at + n, n, 0, _NO_SIGN]
        self.p = block(*p)
        views = memoryview(self.p)
        self.needs = [loops.squash, loops.state, loops.product]
        self.needs += [views[14:18], views[18:22], views[22:26], views[26:30]]
        self.needs += [bits, bits[at + 2 * n : at + 3 * n]]
        self.run = forms.get("cell_steps").step

    def take_sums(self, floats, states):
        """What is at `at` are the sums over x, behind them lie those over h.

        floats: the scratch; states: of the batch, all h, and behind them all c.
        """
        p = self.p
        p[1], p[2] = states, states + 2 * p[12]
        self.needs += [forms.get("block").peak, forms.get("add").add32, self.run]
        self.needs += [forms.later("cell_special", "of_sums"), p]
        views = memoryview(p)
        self.needs += [views[1:4], views[4:14], floats]
        self.run = forms.get("cell_steps").of_sums

    def step(self, h, c):
        """New states from those at items h and c, in their place."""
        p = self.p
        p[20] = p[22] = c
        p[28] = h
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
        self.rp[0] = h
        self.dots(s, self.r, s, self.rp)
        self.in_integers.step(h, h + self.batch * self.hidden)
