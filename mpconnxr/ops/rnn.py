"""rnn: h = f(x . W' + h . R' + bias), one direction. Serves RNN (opset 7 on), float32.

Tensors, params, errors, allocation: see _recurrent. Option: 0.
"""

from ..loops.dot import _X_START
from . import _recurrent
from ._cells import STATE

# params: as _recurrent

STREAMS = (1, 2, 3, 4, 5, 6)


def prepare(node):
    return _recurrent.prepare(node, _Rnn())


class _Rnn(_recurrent.Walk):
    n_gates, n_states, n_activations = 1, 1, 1

    def calls(self, made, functions):
        n = self.hidden
        made.add(self.from_x, self.from_h, STATE, n)
        made.function(functions[0], STATE, STATE, n)

    def cell(self, h):
        s, f = self.s, self.acts[0]
        self.rp[_X_START] = h
        self.dots(s, self.r, s, self.rp)
        i, j = self.from_x, self.from_h
        end = j
        while i < end:
            s[h] = f(s[i] + s[j])
            h += 1
            i += 1
            j += 1
