"""The activations of LSTM, GRU and RNN for which there are no loops, with Python's floats.

None of them raises: inf and nan go through as in numpy.
"""

from ._float_math import expm1, softplus


def of(kind, alpha):
    """Return a function of one float. kind: one of _cells.MISSING."""
    return {
        5: lambda x: x if x > alpha or x != x else 0.0,  # ThresholdedRelu
        8: lambda x: x if x >= 0 else alpha * expm1(x),  # Elu
        9: lambda x: x / (1.0 + abs(x)),  # Softsign
        10: softplus,
    }[kind]
