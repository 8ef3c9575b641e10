"""gru: gated recurrent unit, one direction. Serves GRU (opset 7 on), float32.

    z = f(x . Wz' + h . Rz' + bias)
    r = f(x . Wr' + h . Rr' + bias)
    n = g(x . Wn' + (r * h) . Rn' + bias)           with option (linear_before_reset):
    n = g(x . Wn' + r * (h . Rn' + bias) + bias)
    h = (1 - z) * n + z * h

Rows of W and R are in the order z, r, n; the activations are f, g. For tensors, params, errors and
allocation see _recurrent.
"""

from . import _recurrent

# params: as _recurrent

CALLS = True
STREAMS = (1, 2, 3, 4, 5, 6)


def prepare(node, calls):
    return _recurrent.prepare(node, calls, _Gru())


class _Gru(_recurrent.Walk):
    n_gates, n_states, n_activations = 3, 1, 2

    def next_state(self, calls, x_start, h):
        first, rows = self.direction * self.rows, self.rows
        if not self.option:
            rows -= self.hidden  # the rows of n need r first
        self.dots(calls, 0, x_start, first, self.rows, self.x_sums)
        self.dots(calls, 1, h, first, rows, self.h_sums)
        self.cell(calls, h)

    def cell(self, calls, h):
        math, n, z = self.math, self.hidden, self.x_sums
        r, new, h_sums = z + n, z + 2 * n, self.h_sums
        f, g = self.functions
        math.add(z, h_sums, z, 2 * n)
        math.function(f, z, z, 2 * n)
        if self.option:
            math.mul(r, h_sums + 2 * n, h_sums + 2 * n, n)
        else:
            math.mul(r, h, r, n)
            first = self.direction * self.rows + 2 * n
            self.dots(calls, 1, r, first, n, h_sums + 2 * n)
        math.add(new, h_sums + 2 * n, new, n)
        math.function(g, new, new, n)
        math.one_minus(z, r, n)
        math.mul(r, new, new, n)
        math.mul(z, h, h, n)
        math.add(h, new, h, n)
