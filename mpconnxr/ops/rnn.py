"""rnn: h = f(x . W' + h . R' + bias), one direction. Serves RNN (opset 7 on), float32.

For tensors, params, errors and allocation see _recurrent. Parameter option is 0.
"""

from . import _recurrent

# params: as _recurrent

CALLS = True
STREAMS = (1, 2, 3, 4, 5, 6)


def prepare(node, calls):
    return _recurrent.prepare(node, calls, _Rnn())


class _Rnn(_recurrent.Walk):
    n_gates, n_states, n_activations = 1, 1, 1

    def cell(self, calls, h):
        n = self.hidden
        self.math.add(self.x_sums, self.h_sums, h, n)
        self.math.function(self.functions[0], h, h, n)
