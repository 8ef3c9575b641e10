"""unary: out = op(x), element by element.

Serves Abs Neg Sign Not BitwiseNot IsNaN IsInf Floor Ceil Round Reciprocal Sqrt Exp Log Sin Cos Tan
Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Erf (all opsets). Round is half to even. Outside of
its domain a function gives NaN, at a pole inf; integers wrap around.

    x, out  float32 or float64; abs, neg, sign also integers; bitnot integers; not bool. out has
            x's dtype; bool for not, isnan and isinf. May share memory.

On float32, abs, neg, sign, floor, ceil, round and sqrt have numpy's bits in every form and a
single NaN, 0x7FC00000. Where viper runs, these and `not` allocate nothing; others allocate boxed
floats and big integers. Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ._float_math import scope
from ._inline import ELEMENTS, SAME, TRUTH, WRAPS, choose, compile_loop, emit_elements

# params
_OP = const(0)  # index into _OPS, then into _FUNCTIONS
_N_PARAMS = const(1)

CALLS = True
STREAMS = (0,)
# Name, expression for floats, for integers (or None), kind of result.
_OPS = (
    ("abs", "x if x > 0 else 0.0 - x", "x if x >= 0 else 0 - x", WRAPS),
    ("neg", "-x", "0 - x", WRAPS),
    ("sign", "1.0 if x > 0 else -1.0 if x < 0 else x", "1 if x > 0 else -1 if x < 0 else 0", SAME),
    ("not", None, "0 if x else 1", TRUTH),
    ("bitnot", None, "-1 - x", WRAPS),
    ("isnan", "x != x", None, TRUTH),
    ("isinf", "x == INF or x == -INF", None, TRUTH),
    ("isposinf", "x == INF", None, TRUTH),
    ("isneginf", "x == -INF", None, TRUTH),
    ("floor", "x // 1 if x - x == 0 else x", None, SAME),
    ("ceil", "-(-x // 1) if x - x == 0 else x", None, SAME),
)
# Operations on the bits of float32, in the order of loops/whole.
_ON_BITS = ("abs", "neg", "sign", "floor", "ceil", "half_even")
# These call the function of their name.
_FUNCTIONS = (
    "half_even",
    "reciprocal",
    "sqrt",
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
)


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    op = node.params[_OP]
    node.require(0 <= op < len(_OPS) + len(_FUNCTIONS), "operator")
    node.require(x.nelem == out.nelem, "sizes differ")
    row = _OPS[op] if op < len(_OPS) else _call(_FUNCTIONS[op - len(_OPS)])
    expression = choose(node, x, out, row)
    n, name = x.nelem, row[0]
    if x.dtype == "float32" and name in _ON_BITS:
        function, loop = _ON_BITS.index(name), forms.get("whole").whole32
        x, out = calls.place(x, "i"), calls.place(out, "i")
        for start, end in calls.parts(n):
            p = block("whole", start=start, end=end, function=function)
            calls.call(loop, x, None, out, p)
    elif x.dtype == "bool" and name == "not":
        loop, x, out = forms.get("ints").not8, calls.place(x, "B"), calls.place(out, "B")
        for start, end in calls.parts(n):
            calls.call(loop, x, None, out, block("ints.not8", start=start, end=end))
    elif x.dtype == "float32" and name == "sqrt":
        loop, x, out = forms.get("root").sqrt32, calls.place(x), calls.place(out)
        for start, end in calls.parts(n):
            calls.call(loop, x, None, out, block("root", start=start, end=end))
    else:
        loop = compile_loop(ELEMENTS, expression, scope())
        emit_elements(calls, loop, calls.place(x), None, calls.place(out), n)


def _call(name):
    return name, name + "(x)", None, SAME
