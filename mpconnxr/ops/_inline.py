"""Loops over elements, each compiled from a template with its expression inside.

A function called for each element would take half as long again (measured on the 32-bit unix
target), and a hand-written loop for each of some 70 expressions would take the heap.
An expression speaks of x (and y, c, d, e) and of names in the `scope` it is given.
"""

from ..blocks import block
from ..tensor import range_of

# p: as loops/_words.pairs, with a and b for x and w. Items of out lie one after the other.
PAIRS = """
def loop(a, b, out, p):
    i = p[0]
    j = p[3]
    k = p[6]
    n = p[8]
    rows = p[7]
    i_step = p[2]
    j_step = p[5]
    i_row = p[1] - n * i_step
    j_row = p[4] - n * j_step
    while rows:
        end = k + n
        while k < end:
            x = a[i]
            y = b[j]
            out[k] = {}
            i += i_step
            j += j_step
            k += 1
        i += i_row
        j += j_row
        rows -= 1
"""

# p: as loops/root
ITEMS = """
def loop(a, w, out, p):
    k = p[0]
    end = p[1]
    while k < end:
        x = a[k]
        out[k] = {}
        k += 1
"""

# w: three constants
ITEMS_WITH_CONSTANTS = ITEMS.replace(
    "    k = p[0]", "    c = w[0]\n    d = w[1]\n    e = w[2]\n    k = p[0]"
)

# What an expression gives: a value of x's dtype; an integer that may need to wrap; a truth value.
SAME, WRAPS, TRUTH = 0, 1, 2

_WORK = const(16)  # of an element, as these loops run in Python

compiled = {}


def compile_loop(template, expression, scope):
    """The loop of a template with this expression; scope: globals of the module it speaks of."""
    source = template.format(expression)
    key = (scope["__name__"], source)
    if key not in compiled:
        found = {}
        exec(source, scope, found)
        compiled[key] = found["loop"]
    return compiled[key]


def wrapped(expression, dtype):
    """The expression modulo 2**bits of an integer dtype (newer firmware raises on overflow)."""
    low, high = range_of(dtype)
    if low:
        return "(({}) + {} & {}) - {}".format(expression, -low, high - low, -low)
    return "({}) & {}".format(expression, high)


def is_float(node, t):
    """True for float32 and float64, False for integers and bool; ModelError for others."""
    if t.dtype in ("float32", "float64"):
        return True
    node.require(range_of(t.dtype), "dtype " + t.dtype)
    return False


def choose(node, x, out, row):
    """The expression of a table's row (name, for floats, for integers, result) for x and out.

    ModelError if the operator has none for x's dtype, or out's dtype is not that of the result.
    """
    _, on_floats, on_integers, result = row
    floats = is_float(node, x)
    expression = on_floats if floats else on_integers
    node.require(expression, "dtype " + x.dtype)
    node.expect_dtype("bool" if result == TRUTH else x.dtype, out)
    return wrapped(expression, x.dtype) if result == WRAPS and not floats else expression


def emit_items(calls, loop, x, w, out, n):
    """Emit the calls of a compiled loop for n items. x, w, out: as calls.call() has them."""
    for start, end in calls.parts(n, _WORK):
        calls.call(loop, x, w, out, block("root", start=start, end=end))
