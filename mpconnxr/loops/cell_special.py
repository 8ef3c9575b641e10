"""The cell of an LSTM with inf or NaN in a sum or a state, in Python floats. Plain form."""

from ..ops._float_math import sigmoid, tanh
from .cell_steps import _PRODUCT_OUT_START

# in w
_STATE_P = const(4)
_FLOATS = const(16)

# Parameters of of_sums: as cell_steps.of_sums


def of_sums(p, w):
    """Do what of_sums of loops/cell_steps does.

    Access: of the loops in whose place it is called
    """
    s = w[_FLOATS]
    at, n, c, _ = w[_STATE_P]
    h = p[_PRODUCT_OUT_START]
    for i in range(at, at + n):
        j = i + 4 * n
        forget = sigmoid(s[i + 2 * n] + s[j + 2 * n])
        o = s[i + n] + s[j + n]
        new = forget * s[c] + sigmoid(s[i] + s[j]) * tanh(s[i + 3 * n] + s[j + 3 * n])
        s[c] = new
        s[h] = sigmoid(o) * tanh(new)
        h += 1
        c += 1
