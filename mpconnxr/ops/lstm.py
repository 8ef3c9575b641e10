"""lstm: long short-term memory, one direction. Serves LSTM (opset 7 on), float32.

    i = f(x . Wi' + h . Ri' + Pi * c + bias)
    m = f(x . Wf' + h . Rf' + Pf * c + bias)        with option (input_forget): m = 1 - i
    c = m * c + i * g(x . Wc' + h . Rc' + bias)
    o = f(x . Wo' + h . Ro' + Po * c + bias)
    h = o * k(c)

Rows of W and R are in the order i, o, f, c, those of P i, o, f; the activations are f, g, k. For
tensors, params, errors and allocation see _recurrent. With Sigmoid, Tanh and Tanh, products in
block floating point, and no P, clip or input_forget, the whole cell is computed in integers (see
loops/cell).
"""

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
from . import _recurrent

# params: as _recurrent

CALLS = True
STREAMS = (1, 2, 3, 4, 5, 6)  # all constants: loops take any contents, and runs check lengths

_NO_SIGN = 0x7FFFFFFF
_HAS_P = 8  # bit of `present`
_DEFAULT = [2, 1, 1]  # kinds of activations: Sigmoid, Tanh, Tanh


def prepare(node, calls):
    is_block = len(node.scratch) == 2  # products in block floating point
    cell = LstmInIntegers() if is_block and is_default_cell(node) else Lstm()
    return _recurrent.prepare(node, calls, cell)


def is_default_cell(node):
    """Return True if the node has the default activations, no peepholes, no option and no clip."""
    present, option, clip, *kinds = _recurrent.choices(node)
    return kinds == _DEFAULT and not (present & _HAS_P or option or clip)


class Lstm(_recurrent.Walk):
    """Time steps with an LSTM's cell."""

    n_gates, n_states, n_activations = 4, 2, 3

    def cell(self, calls, h):
        math, n, i = self.math, self.hidden, self.x_sums
        o, forget, new = i + n, i + 2 * n, i + 3 * n
        c = h + self.batch * n
        f, g, k = self.functions
        math.add(i, self.h_sums, i, 4 * n)
        self._peep(calls, 0, c, i)
        self._peep(calls, 2, c, forget)
        math.function(f, i, i, n)
        if self.option:
            math.one_minus(i, forget, n)
        else:
            math.function(f, forget, forget, n)
        math.function(g, new, new, n)
        math.mul(forget, c, forget, n)
        math.mul(i, new, new, n)
        math.add(forget, new, c, n)
        self._peep(calls, 1, c, o)
        math.function(f, o, o, n)
        math.function(k, c, new, n)
        math.mul(o, new, h, n)

    def _peep(self, calls, which, c, gate):
        """Emit gate += c * peephole, where `which` is one of the three rows of P."""
        if self.peepholes:
            weights, n, free = calls.place(self.peepholes), self.hidden, self.h_sums
            self.math.mul(c, (self.direction * 3 + which) * n, free, n, weights)
            self.math.add(gate, free, gate, n)


class LstmInIntegers(Lstm):
    """LSTM with products in block floating point; floats compute states with inf or NaN."""

    def bind(self, node, calls):
        Lstm.bind(self, node, calls)
        at, n = self.x_sums, self.hidden
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
        at, n, states = self.x_sums, self.hidden, self.batch * self.hidden
        add = block(
            "add",
            x_start=at,
            x_row_stride=0,
            x_stride=1,
            w_start=self.h_sums,
            w_row_stride=0,
            w_stride=1,
            out_start=at,
            rows=1,
            columns=4 * n,
            is_difference=0,
        )
        p = block(
            "cell_steps",
            exponent=0,
            peak_x_start=states,
            peak_elements=states + 8 * n,
            peak_out_start=0,
            add=list(add),
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
