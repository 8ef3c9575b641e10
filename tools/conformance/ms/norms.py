"""Layer normalizations with a sum before."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from .making import Spec, makes

_FLOATS = (np.float32, np.float32, np.float16, ml_dtypes.bfloat16)


@makes("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def skip_layer_normalizations(draw, operator):
    """Vary scales, biases, and the sum as an output."""
    full = operator == "SkipLayerNormalization"
    for c in draw.each(
        30,
        dtype=_FLOATS,
        epsilon=[None, 1e-3, 1e-5],
        beta=[True, False] if full else [False],
        bias=[True, False],
        skip=["same", "same", "one", "rows"],
        rank=[2, 3, 3],
        total=[True, False],
        fixed=[True, False],
    ):
        n = draw.size(1, 9)
        x = draw.floats((draw.size(1, 3), draw.size(1, 4), n)[3 - c.rank :], c.dtype)
        shape = x.shape
        if c.rank == 3 and c.skip != "same":
            shape = (1, *x.shape[1:]) if c.skip == "one" else x.shape[1:]
        skip = draw.floats(shape, c.dtype)
        gamma, beta, bias = (draw.floats((n,), c.dtype) for _ in range(3))
        inputs = [x, skip, gamma]
        if full:
            inputs.append(beta if c.beta else None)
        if c.bias:
            inputs.append(bias)
        constants = [i for i, v in enumerate(inputs) if i > 1 and v is not None]
        outputs = (True, False, False, True) if c.total else (True,)
        is_odd = c.dtype is ml_dtypes.bfloat16
        yield Spec(
            inputs,
            c.attributes("epsilon"),
            constants if c.fixed else (),
            outputs,
            odd={i: c.dtype for i, there in enumerate(outputs) if there} if is_odd else {},
        )
