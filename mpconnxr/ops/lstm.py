"""lstm: long short-term memory, one direction. Serves LSTM (opset 7 on), float32.

    i = f(x . Wi' + h . Ri' + Pi * c + bias)
    m = f(x . Wf' + h . Rf' + Pf * c + bias)        with option (input_forget): m = 1 - i
    c = m * c + i * g(x . Wc' + h . Rc' + bias)
    o = f(x . Wo' + h . Ro' + Po * c + bias)
    h = o * k(c)

Rows of W and R are ordered i, o, f, c, those of P i, o, f; the activations are f, g, k.
Tensors, params, errors, allocation: see _recurrent. With Sigmoid, Tanh and Tanh, products in block
floating point, and without P, clip and input_forget its functions are integers: see loops/cell.
"""

from . import _recurrent

# params: as _recurrent

CALLS = True
STREAMS = (1, 2, 3, 4, 5, 6)


def prepare(node, calls):
    if len(node.scratch) == 2:  # products in block floating point
        from . import _lstm_bits

        if _lstm_bits.is_usual(node):
            return _recurrent.prepare(node, calls, _lstm_bits.Lstm())
    return _recurrent.prepare(node, calls, Lstm())


class Lstm(_recurrent.Walk):
    """The walk over time steps with an LSTM's cell."""

    n_gates, n_states, n_activations = 4, 2, 3

    def cell(self, calls, h):
        items, n, i = self.items, self.hidden, self.from_x
        o, forget, new = i + n, i + 2 * n, i + 3 * n
        c = h + self.batch * n
        f, g, k = self.functions
        items.add(i, self.from_h, i, 4 * n)
        self._peep(calls, 0, c, i)
        self._peep(calls, 2, c, forget)
        items.function(f, i, i, n)
        if self.option:
            items.one_minus(i, forget, n)
        else:
            items.function(f, forget, forget, n)
        items.function(g, new, new, n)
        items.mul(forget, c, forget, n)
        items.mul(i, new, new, n)
        items.add(forget, new, c, n)
        self._peep(calls, 1, c, o)
        items.function(f, o, o, n)
        items.function(k, c, new, n)
        items.mul(o, new, h, n)

    def _peep(self, calls, which, c, gate):
        """gate += c * one of the three of P"""
        if self.peepholes:
            weights, n, free = calls.place(self.peepholes), self.hidden, self.from_h
            self.items.mul(c, (self.direction * 3 + which) * n, free, n, weights)
            self.items.add(gate, free, gate, n)
