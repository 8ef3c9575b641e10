"""gru: gated recurrent unit, one direction. Serves GRU (opset 7 on), float32.

    z = f(x . Wz' + h . Rz' + bias)
    r = f(x . Wr' + h . Rr' + bias)
    n = g(x . Wn' + (r * h) . Rn' + bias)           with option (linear_before_reset):
    n = g(x . Wn' + r * (h . Rn' + bias) + bias)
    h = (1 - z) * n + z * h

Rows of W and R are ordered z, r, n; the activations are f, g.
Tensors, params, errors, allocation: see _recurrent.
"""

from ..blocks import block
from ..loops.dot import _HAS_BIAS, _ROWS, _W_START, _X_START
from . import _recurrent
from ._cells import STATE

# params: as _recurrent

STREAMS = (1, 2, 3, 4, 5, 6)


def prepare(node):
    return _recurrent.prepare(node, _Gru())


class _Gru(_recurrent.Walk):
    n_gates, n_states, n_activations = 3, 1, 2

    def bind_cell(self, functions):
        if not self.option:
            self._split()
        _recurrent.Walk.bind_cell(self, functions)

    def _split(self):
        """Without linear_before_reset the rows of n need r first: a call of their own."""
        n, rp = self.hidden, self.rp
        rp[_ROWS] = 2 * n
        self.np = block(
            "dot.dots_f32",
            x_start=self.from_x + n,
            columns=n,
            out_start=self.from_h + 2 * n,
            out_stride=1,
            has_bias=rp[_HAS_BIAS],
            w_start=rp[_W_START] + 2 * n * (n + rp[_HAS_BIAS]),
            rows=n,
        )

    def calls(self, made, functions):
        n, z, from_h = self.hidden, self.from_x, self.from_h
        r, new = z + n, z + 2 * n
        made.add(z, from_h, z, 2 * n)
        made.function(functions[0], z, z, 2 * n)
        if self.option:
            made.mul(r, from_h + 2 * n, from_h + 2 * n, n)
        else:
            made.mul(r, STATE, r, n)
            made.call(self.dots, self.s, self.r, self.s, self.np)
        made.add(new, from_h + 2 * n, new, n)
        made.function(functions[1], new, new, n)
        made.rest(z, r, n)
        made.mul(r, new, new, n)
        made.mul(z, STATE, STATE, n)
        made.add(STATE, new, STATE, n)

    def cell(self, h):
        s, n = self.s, self.hidden
        self.rp[_X_START] = h
        self.dots(s, self.r, s, self.rp)
        self._reset(h)
        if not self.option:
            self.dots(s, self.r, s, self.np)
        g = self.acts[1]
        z, j = self.from_x, self.from_h + 2 * n
        end = z + n
        while z < end:
            keep = s[z]
            s[h] = (1.0 - keep) * g(s[z + 2 * n] + s[j]) + keep * s[h]
            h += 1
            z += 1
            j += 1

    def _reset(self, h):
        """z in place of its sum over x; r * h in place of r's, or r times n's sum over h."""
        s, n, f = self.s, self.hidden, self.acts[0]
        i, j = self.from_x, self.from_h
        end = i + n
        while i < end:
            s[i] = f(s[i] + s[j])
            r = f(s[i + n] + s[j + n])
            if self.option:
                s[j + 2 * n] = r * s[j + 2 * n]
            else:
                s[i + n] = r * s[h]
            h += 1
            i += 1
            j += 1
