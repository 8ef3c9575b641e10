"""lstm: long short-term memory, one direction. Serves LSTM (opset 7 on), float32.

    i = f(x . Wi' + h . Ri' + Pi * c + bias)
    m = f(x . Wf' + h . Rf' + Pf * c + bias)        with option (input_forget): m = 1 - i
    c = m * c + i * g(x . Wc' + h . Rc' + bias)
    o = f(x . Wo' + h . Ro' + Po * c + bias)
    h = o * k(c)

Rows of W and R are ordered i, o, f, c, those of P i, o, f; the activations are f, g, k.
Tensors, params, errors, allocation: see _recurrent. With Sigmoid, Tanh and Tanh, products in block
floating point, and without P, clip and input_forget all of it is integers (see loops/cell): a step
allocates nothing where viper is. Others: see _recurrent.
"""

from ..loops.dot import _X_START
from . import _recurrent
from ._cells import STATE

# params: as _recurrent

STREAMS = (1, 2, 3, 4, 5, 6)


def prepare(node):
    if len(node.scratch) == 2:  # products in block floating point
        from . import _lstm_bits

        if _lstm_bits.is_usual(node):
            return _recurrent.prepare(node, _lstm_bits.Lstm())
    return _recurrent.prepare(node, Lstm())


class Lstm(_recurrent.Walk):
    """The walk over time steps with an LSTM's cell."""

    n_gates, n_states, n_activations = 4, 2, 3

    def calls(self, made, functions):
        n, i = self.hidden, self.from_x
        o, forget, new, free = i + n, i + 2 * n, i + 3 * n, self.from_h
        c = STATE - self.batch * n
        made.add(i, free, i, 4 * n)
        self._peep(made, 0, c, i)
        self._peep(made, 2, c, forget)
        made.function(functions[0], i, i, n)
        if self.option:
            made.rest(i, forget, n)
        else:
            made.function(functions[0], forget, forget, n)
        made.function(functions[1], new, new, n)
        made.mul(forget, c, forget, n)
        made.mul(i, new, new, n)
        made.add(forget, new, c, n)
        self._peep(made, 1, c, o)
        made.function(functions[0], o, o, n)
        made.function(functions[2], c, new, n)
        made.mul(o, new, STATE, n)

    def _peep(self, made, k, c, gate):
        """gate += c * the k-th of P"""
        if self.peepholes is not None:
            p, n, free = self.direction * 3 + k, self.hidden, self.from_h
            made.mul(c, p * n, free, n, self.peepholes)
            made.add(gate, free, gate, n)

    def cell(self, h):
        s, w = self.s, self.peepholes
        f, g, k = self.acts
        self.rp[_X_START] = h
        self.dots(s, self.r, s, self.rp)
        n = self.hidden
        c = h + self.batch * n
        i, j = self.from_x, self.from_h
        p = self.direction * 3 * n
        end = i + n
        while i < end:
            old = s[c]
            a = s[i] + s[j]
            forget = s[i + 2 * n] + s[j + 2 * n]
            o = s[i + n] + s[j + n]
            if w is not None:
                a += w[p] * old
                forget += w[p + 2 * n] * old
            a = f(a)
            forget = 1.0 - a if self.option else f(forget)
            new = forget * old + a * g(s[i + 3 * n] + s[j + 3 * n])
            s[c] = new
            if w is not None:
                o += w[p + n] * new
            s[h] = f(o) * k(new)
            h += 1
            c += 1
            i += 1
            j += 1
            p += 1
