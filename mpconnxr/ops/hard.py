"""hard: HardSigmoid and HardSwish of float32, on its bits. See loops/hard for the formulas.

    x, out  float32, same size; may share memory
The error is at most 2**-23 of the sum, as in float32. NaN gives 0x7FC00000. Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params
_SLOPE = const(0)  # mantissa of the slope
_REACH = const(1)  # exponent above which slope * |x| is 1 or more
_OFFSET = const(2)  # 30 fraction bits
_TIMES = const(3)  # flag: multiply by x
_N_PARAMS = const(4)

CALLS = True

_ONE = 1 << 30
_MOST_REACH = 254  # below the exponent of NaN


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x, out)
    node.require(x.nelem == out.nelem, "sizes differ")
    slope, reach, offset, times = node.params
    node.require(_ONE >> 1 <= slope <= _ONE and 0 <= reach <= _MOST_REACH, "slope")
    node.require(0 <= offset < _ONE and 0 <= times < 2, "offset or flag")
    n, x, out = x.nelem, calls.place(x, "i"), calls.place(out, "i")
    loop = forms.get("hard").hard32
    for start, end in calls.parts(n):
        p = block(
            "hard", start=start, end=end, slope=slope, reach=reach, offset=offset, is_swish=times
        )
        calls.call(loop, x, None, out, p)
