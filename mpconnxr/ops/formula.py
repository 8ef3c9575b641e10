"""formula: a function of float32 without a table, on its bits.

Serves Log, Sin and Cos, and Sigmoid and Tanh of so few elements that a table for kernel curve does
not pay (all opsets); with them post transforms of ai.onnx.ml.

    x, out  float32, same size; may share memory
Within 5e-7 of the exact value. Raises ModelError. A step allocates nothing where viper runs.
"""

from .. import forms
from ..blocks import block

# params
_OP = const(0)  # 0 sigmoid, 1 tanh (see loops/gates), 2 log (see loops/log), 3 sine, 4 cosine (see
#     loops/sine)
_N_PARAMS = const(1)

CALLS = True

_LOG, _SINE, _COSINE = 2, 3, 4
_TWO_BY_PI = (  # 15 bits each, after 30 zero bits
    0, 0, 20860, 24795, 18888, 16722, 20449, 7519,
    9194, 13533, 24685, 22693, 13095, 17465, 527,
)  # fmt: skip
_SERIES = (  # 1 / 10! to 1 / 0!, 1 / 11! to 1 / 1!, with 30 fraction bits
    296, 26631, 1491308, 44739243, 1 << 29, 1 << 30,
    27, 2959, 213044, 8947849, 178956971, 1 << 30,
)  # fmt: skip


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x, out)
    node.require(x.nelem == out.nelem, "sizes differ")
    op = node.params[_OP]
    node.require(0 <= op <= _COSINE, "function")
    n, x, out = x.nelem, calls.place(x, "i"), calls.place(out, "i")
    loop, w = forms.get("gates").gate32, None
    if op >= _SINE:
        loop, w = forms.get("sine").sine32, calls.constants("i", _TWO_BY_PI + _SERIES)
    elif op == _LOG:
        loop = forms.get("log").log32
    for start, end in calls.parts(n):
        if op >= _SINE:
            p = block("sine", start=start, end=end, is_cosine=op - _SINE, limbs=(0, 0, 0, 0, 0, 0))
        elif op == _LOG:
            p = block("log", start=start, end=end)
        else:
            p = block("gates", x_start=start, elements=end - start, out_start=start, is_tanh=op)
        calls.call(loop, x, w, out, p)
