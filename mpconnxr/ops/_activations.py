"""Activations of LSTM, GRU and RNN that have no loop, computed with Python floats.

None of them raises: inf and NaN propagate as in numpy.
"""

from ._float_math import expm1, softplus


def of(kind, alpha):
    """Return the activation `kind`, one of _cells.MISSING, as a function of one float."""
    return {
        5: lambda x: x if x > alpha or x != x else 0.0,  # ThresholdedRelu
        8: lambda x: x if x >= 0 else alpha * expm1(x),  # Elu
        9: lambda x: x / (1.0 + abs(x)),  # Softsign
        10: softplus,
    }[kind]
