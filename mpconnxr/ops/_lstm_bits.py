"""The usual cell of an LSTM (Sigmoid, Tanh, Tanh, nothing else) in integers: see loops/cell."""

from .. import forms
from ..blocks import block
from ..loops.cell_steps import (
    _ADD,
    _GATES_X_START,
    _PEAK_X_START,
    _PRODUCT_X_START,
    _STATE_X_START,
    _TANH_X_START,
)
from . import _recurrent, lstm

_NO_SIGN = 0x7FFFFFFF
_HAS_P = 8  # bit of `present`
_USUAL = [2, 1, 1]  # kinds of activations: Sigmoid, Tanh, Tanh


def is_usual(node):
    """True for such a node, as far as its parameters can be read."""
    present, option, clip, *kinds = _recurrent.choices(node)
    return kinds == _USUAL and not (present & _HAS_P or option or clip)


class Lstm(lstm.Lstm):
    """With products in block floating point; sums or states with inf or nan are for floats."""

    def bind(self, node, calls):
        lstm.Lstm.bind(self, node, calls)
        at, n = self.from_x, self.hidden
        floats, bits = calls.place(self.scratch), calls.place(self.scratch, "i")
        loops, steps = forms.get("cell"), forms.get("cell_steps")
        ends = _GATES_X_START, _STATE_X_START, _TANH_X_START, _PRODUCT_X_START, None
        self.needs = [loops.squash, loops.state, loops.product]
        self.needs += [calls.part(ends[k], ends[k + 1]) for k in range(4)]
        self.needs += [bits, calls.place(self.scratch, "i", at + 2 * n)]
        self.needs += [forms.get("block").peak, forms.get("add").add32, steps.step]
        self.needs += [calls.later("cell_special", "of_sums"), calls.part()]
        self.needs += [calls.part(_PEAK_X_START, _ADD), calls.part(_ADD, _GATES_X_START), floats]
        self.of_sums = steps.of_sums

    def cell(self, calls, h):
        at, n, states = self.from_x, self.hidden, self.batch * self.hidden
        p = block(
            "cell_steps",
            exponent=0,
            peak_x_start=states,
            peak_elements=states + 8 * n,
            peak_out_start=0,
            add=(at, 0, 1, at + 4 * n, 0, 1, at, 1, 4 * n, 0),
            gates_x_start=at,
            gates_elements=4 * n,
            gates_out_start=at,
            gates_tanh_start=3 * n,
            state_x_start=at,
            state_elements=n,
            state_out_start=h + states,
            state_mask=_NO_SIGN,
            tanh_x_start=h + states,
            tanh_elements=n,
            tanh_out_start=at + 2 * n,
            tanh_tanh_start=0,
            product_x_start=at + n,
            product_elements=n,
            product_out_start=h,
            product_mask=_NO_SIGN,
        )
        calls.drive(self.of_sums, p, self.needs)
