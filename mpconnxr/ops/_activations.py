"""The activation functions that LSTM, GRU and RNN choose from.

Kinds, in ONNX's order: 0 Relu, 1 Tanh, 2 Sigmoid, 3 Affine, 4 LeakyRelu, 5 ThresholdedRelu,
6 ScaledTanh, 7 HardSigmoid, 8 Elu, 9 Softsign, 10 Softplus. None of them raises: inf and nan go
through as in numpy.
"""

from ._float_math import expm1, sigmoid, softplus, tanh, unit


def make(kind, alpha, beta, clip=0.0):
    """A function of one float; with clip != 0 its argument is cut to [-clip, clip] first."""
    f = (
        lambda x: x if x > 0 or x != x else 0.0,
        tanh,
        sigmoid,
        lambda x: alpha * x + beta,
        lambda x: x if x >= 0 else alpha * x,
        lambda x: x if x > alpha or x != x else 0.0,
        lambda x: alpha * tanh(beta * x),
        lambda x: unit(alpha * x + beta),
        lambda x: x if x >= 0 else alpha * expm1(x),
        lambda x: x / (1.0 + abs(x)),
        softplus,
    )[kind]
    return _clipped(f, -clip, clip) if clip else f


def _clipped(f, low, high):
    return lambda x: f(high if x > high else low if x < low else x)
