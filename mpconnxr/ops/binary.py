"""binary: out = op(a, b), element by element, both broadcast to out.

Serves Add Sub Mul Div Pow Mod And Or Xor BitwiseAnd BitwiseOr BitwiseXor BitShift Equal Less
Greater LessOrEqual GreaterOrEqual PRelu, and as chains Min Max Sum Mean (all opsets); also the
arithmetic of other operators. Floats follow IEEE (x / 0 is inf or NaN). Integers wrap around;
division truncates toward zero, division by zero gives 0. A shift by 64 or more, or by a negative
number, leaves only the sign's extension.

    a, b    float32, float64, integers or bool (pow: two dtypes, else one)
    out     a's dtype; bool for and, or, xor and comparisons

On float32, add, sub, mul, div, mod, min, max, comparisons and prelu give numpy's bits in every
form, with a single NaN, 0x7FC00000. Raises ModelError. A run allocates only big integers and boxed
floats; where viper runs, nothing for the operations just named, for sums of int64, arithmetic of
int32 and uint32, comparisons of int32, and bool.
"""

from math import copysign, fmod

from .. import forms
from ._inline import PAIRS, SAME, TRUTH, WRAPS, choose, compile_loop, is_float, wrapped
from ._runs import blocks, operands

# params
_OP = const(0)  # index into _OPS
_RUNS = const(1)  # [_runs]

CALLS = True
STREAMS = (0, 1)
INF = float("inf")
NAN = float("nan")
_WORD = (1 << 64) - 1

# Name, expression for floats, for integers (or None), kind of result.
_OPS = (
    ("add", "x + y", "x + y", WRAPS),
    ("sub", "x - y", "x - y", WRAPS),
    ("mul", "x * y", "x * y", WRAPS),
    (
        "div",
        "x / y if y else x * copysign(INF, y)",
        "(x // y if (x < 0) == (y < 0) else 0 - (0 - x) // y) if y else 0",
        WRAPS,
    ),
    ("pow", "power(x, y)", "int_power(x, y)", WRAPS),
    # NaN if either is NaN
    ("min", "x if x < y or x != x else y", "x if x < y else y", SAME),
    ("max", "x if x > y or x != x else y", "x if x > y else y", SAME),
    ("mod", "modulo(x, y)", "x % y if y else 0", SAME),
    (
        "fmod",
        "remainder(x, y)",
        "(x % y if (x < 0) == (y < 0) else 0 - (0 - x) % y) if y else 0",
        SAME,
    ),
    ("and", None, "1 if x and y else 0", TRUTH),
    ("or", None, "1 if x or y else 0", TRUTH),
    ("xor", None, "(not x) != (not y)", TRUTH),
    ("bitand", None, "x & y", SAME),
    ("bitor", None, "x | y", SAME),
    ("bitxor", None, "x ^ y", SAME),
    ("shl", None, "x << y if 0 <= y < 64 else 0", WRAPS),
    ("shr", None, "x >> y if 0 <= y < 64 else -1 if x < 0 else 0", SAME),
    ("equal", "x == y", "x == y", TRUTH),
    ("less", "x < y", "x < y", TRUTH),
    ("greater", "x > y", "x > y", TRUTH),
    ("lessequal", "x <= y", "x <= y", TRUTH),
    ("greaterequal", "x >= y", "x >= y", TRUTH),
    ("prelu", "x if x >= 0 else x * y", "x if x >= 0 else x * y", WRAPS),
)

_SUMS = ("add", "sub")
# Flags of loops/order and loops/ints for comparisons.
_ORDERS = {"less": 1, "equal": 2, "lessequal": 3, "greater": 4, "greaterequal": 6}
_QUOTIENTS = {"div": 0, "fmod": 1, "mod": 2}  # of loops/ints
_TRUTHS = {"and": 4, "or": 6, "xor": 2}  # of loops/ints
_OWN = (None, None, None)  # struct codes: those of the tensors


def prepare(node, calls):
    node.require(len(node.params) >= 2, "params")
    node.expect(2, 1, len(node.params))
    a, b, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, a)
    node.over(out, b)
    node.require(0 <= node.params[_OP] < len(_OPS), "operator")
    expression = _expression(node, a, b, out)
    runs = operands(node, _RUNS, a.nelem, b.nelem, out.nelem)
    if not runs:
        return
    match = _loop(_OPS[node.params[_OP]][0], a.dtype)
    loop, flag, codes = match or (compile_loop(PAIRS, expression, globals()), None, _OWN)
    a, b, out = [calls.place(t, code) for t, code in zip((a, b, out), codes)]
    for p in blocks(calls, *runs):
        if flag is not None:
            p.append(flag)
        calls.call(loop, a, b, out, p)


def _loop(op, dtype):
    """Return (loop, last word of its block, codes of a, b, out), or None if there is none."""
    if dtype == "float32" and op in ("mod", "fmod"):
        return forms.get("remainders").remainder32, int(op == "mod"), "iii"
    if dtype == "float32":
        match = _on_bits(op)
        return match and match + (_OWN,)
    if dtype == "int64" and op in _SUMS:
        return forms.get("long").add64, int(op == "sub"), "iii"
    if dtype in ("int32", "uint32") and op in _SUMS:
        return forms.get("ints").sum32, int(op == "sub"), "iiH"
    if dtype in ("int32", "uint32") and op == "mul":
        return forms.get("ints").product32, 0, "iiH"
    if dtype in ("int32", "uint32") and op in _QUOTIENTS:
        return forms.get("ints").quotient32, _QUOTIENTS[op] + 4 * (dtype == "uint32"), "iiH"
    if dtype == "int32" and op in ("min", "max"):
        return forms.get("ints").larger32, int(op == "min"), "iii"
    if dtype == "int32" and op in _ORDERS:
        return forms.get("ints").compare32, _ORDERS[op], "iiB"
    if dtype == "bool" and op in _TRUTHS:
        return forms.get("ints").truth8, _TRUTHS[op], "BBB"
    return None


def _on_bits(op):
    """Return (loop, flag) of an operator on float32, or None where it computes with floats."""
    if op in ("add", "sub"):
        return forms.get("add").add32, int(op == "sub")
    if op in ("mul", "prelu"):
        return forms.get("mul").mul32, int(op == "prelu")
    if op == "div":
        return forms.get("div").div32, 0
    if op in ("min", "max"):
        return forms.get("order").larger32, int(op == "min")
    return (forms.get("order").compare8, _ORDERS[op]) if op in _ORDERS else None


def _expression(node, a, b, out):
    row = _OPS[node.params[_OP]]
    if row[0] == "pow" and b.dtype != a.dtype and (is_float(node, a) or is_float(node, b)):
        node.expect_dtype(a.dtype, out)
        return "power(x, y)" if is_float(node, a) else wrapped("whole(power(x, y))", a.dtype)
    if row[0] != "pow":
        node.expect_dtype(a.dtype, b)
    return choose(node, a, out, row)


def power(x, y):
    """Return x ** y as C's pow: inf or NaN where Python raises or returns complex numbers."""
    if x == 0 and y < 0:
        return copysign(INF, x) if y % 2 == 1 else INF
    if x < 0 and y - y == 0 and y % 1 != 0:
        return NAN if x > -INF else INF**y
    return x**y


def int_power(x, y):
    """Return x ** y modulo 2**64; for a negative y the truncated quotient."""
    if y < 0:
        return 0 if x * x != 1 else x if y & 1 else 1
    result = 1
    while y:
        if y & 1:
            result = result * x & _WORD
        x = x * x & _WORD
        y >>= 1
    return result


def remainder(x, y):
    """Return x - y * trunc(x / y), with the sign of x."""
    return fmod(x, y) if y and x - x == 0 else NAN


def modulo(x, y):
    """Return x - y * floor(x / y), with the sign of y."""
    r = remainder(x, y)
    if r:
        return r if (r < 0) == (y < 0) else r + y
    return copysign(0.0, y)


def whole(x):
    """Truncate x to an integer; inf and NaN become 0."""
    return int(x) if x - x == 0 else 0
