"""The usual cell of an LSTM (Sigmoid, Tanh, Tanh, nothing else) in integers: see loops/cell."""

from array import array

from .. import forms
from ..parameters import block
from . import _recurrent, lstm

_NO_SIGN = 0x7FFFFFFF
_NOT_FINITE = 255
_HAS_P = 8  # bit of `present`
_USUAL = (2, 1, 1)  # kinds of activations: Sigmoid, Tanh, Tanh


def is_usual(node):
    """True for such a node, as far as its parameters can be read."""
    if len(node.params) != _recurrent.ACTIVATIONS + 9:
        return False
    kinds = tuple([node.params[_recurrent.ACTIVATIONS + 3 * i] for i in range(3)])
    present, option = node.extents(15, 2)
    return kinds == _USUAL and not (present & _HAS_P or option or node.params[_recurrent.CLIP])


class Cell:
    """bits: of the scratch, with the sums of i, o, f, g from item `at` on, n each."""

    def __init__(self, bits, at, n):
        self.bits, self.loops = bits, forms.get("cell")
        self.tanh_of_c = bits[at + 2 * n : at + 3 * n]
        self.squash_p = block(at, 4 * n, at, 3 * n)
        self.state_p = block(at, n, 0, _NO_SIGN)
        self.tanh_p = block(0, n, at + 2 * n, 0)
        self.product_p = block(at + n, n, 0, _NO_SIGN)

    def step(self, h, c):
        """New states from those at items h and c, in their place."""
        loops, bits = self.loops, self.bits
        self.state_p[2] = self.tanh_p[0] = c
        self.product_p[2] = h
        loops.squash(bits, bits, bits, self.squash_p)
        loops.state(bits, bits, bits, self.state_p)
        loops.squash(bits, bits, bits, self.tanh_p)
        loops.product(bits, self.tanh_of_c, bits, self.product_p)


class Lstm(lstm.Lstm):
    """With products in block floating point; sums or states with inf or nan are for floats."""

    def bind(self, node, tensors):
        lstm.Lstm.bind(self, node, tensors)
        n = self.hidden
        self.in_integers = Cell(self.bits, self.from_x, n)
        self.peak, self.found = forms.get("block").peak, array("i", [0])
        states = self.batch * n
        self.peak_p = block(states, states + 8 * n, 0)  # all c, and both sums
        self.add = forms.get("add").add32
        self.add_p = block(self.from_x, 0, 1, self.from_h, 0, 1, self.from_x, 1, 4 * n, 0)

    def bind_cell(self, functions):
        self.in_floats(functions)

    def cell(self, h):
        s = self.s
        self.rp[0] = h
        self.dots(s, self.r, s, self.rp)
        self.peak(self.bits, self.bits, self.found, self.peak_p)
        if self.found[0] == _NOT_FINITE:
            lstm.Lstm.cell(self, h)
            return
        self.add(s, s, s, self.add_p)
        self.in_integers.step(h, h + self.batch * self.hidden)
