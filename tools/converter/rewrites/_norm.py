"""Layer normalization over the last axis in the operators that ONNX had before it."""

from __future__ import annotations

NORM_SINCE = 17  # the opset that has LayerNormalization

# real_x to real, with an attribute epsilon of the function around it. LeakyRelu of -1 is -epsilon
# there: Constant takes no number from an attribute before opset 12.
NORM = """
        mean = ReduceMean <axes = [-1]> (real_x)
        d = Sub (real_x, mean)
        squares = Mul (d, d)
        variance = ReduceMean <axes = [-1]> (squares)
        minus = Constant <value: tensor = float {-1}> ()
        e = LeakyRelu <alpha: float = @epsilon> (minus)
        sum = Sub (variance, e)
        root = Sqrt (sum)
        ratio = Div (d, root)
        scaled = Mul (ratio, scale)
        real = Add (scaled, bias)
"""
