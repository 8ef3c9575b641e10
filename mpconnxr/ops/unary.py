"""unary: out = op(x), element by element.

Serves Abs Neg Sign Not BitwiseNot IsNaN IsInf Floor Ceil Round Reciprocal Sqrt Exp Log Sin Cos
Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Erf (all opsets). Round goes to even from the
middle. Outside its domain a function gives nan, inf at a pole; integers wrap around.

    x, out  float32 or float64; abs, neg, sign also integers; bitnot integers; not bool.
            out has x's dtype; bool for not, isnan and isinf. May be the same memory.
Of float32 abs, neg, sign, floor, ceil, round and sqrt have numpy's bits in every form and one NaN,
0x7FC00000. Raises ModelError. A step allocates only what arithmetic does (boxed floats, big
integers), one of these, or of not, nothing where viper is.
"""

from .. import forms
from ..parameters import block
from ._float_math import scope
from ._inline import ITEMS, SAME, TRUTH, WRAPS, Items, choose, compile_loop

# params
_OP = const(0)  # index into _OPS, then into _FUNCTIONS
_N_PARAMS = const(1)

STREAMS = (0,)
# Name, expression for floats, for integers (None: has none), what it gives.
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
# On float32, in the order of loops/whole.
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


def prepare(node):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    op = node.params[_OP]
    node.require(0 <= op < len(_OPS) + len(_FUNCTIONS), "operator")
    node.require(x.nelem == out.nelem, "sizes differ")
    row = _OPS[op] if op < len(_OPS) else _call(_FUNCTIONS[op - len(_OPS)])
    expression = choose(node, x, out, row)
    if x.dtype == "float32" and row[0] in _ON_BITS:
        loop = forms.get("whole").whole32
        p, bits = block(0, 0, _ON_BITS.index(row[0])), x.view("i")
        return x.nelem, Items(loop, bits, bits, out.view("i"), p).step
    if x.dtype == "bool" and row[0] == "not":
        x, bits = x.view("B"), out.view("B")
        return out.nelem, Items(forms.get("ints").not8, x, x, bits, block(0, 0)).step
    if x.dtype == "float32" and row[0] == "sqrt":
        loop = forms.get("root").sqrt32
    else:
        loop = compile_loop(ITEMS, expression, scope())
    return x.nelem, Items(loop, x.data, x.data, out.data, block(0, 0)).step


def _call(name):
    return name, name + "(x)", None, SAME
