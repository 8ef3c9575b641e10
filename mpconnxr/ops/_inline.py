"""Element-wise loops that are compiled from a template with an expression in it.

Calling a function per element would take half as long again (measured on the 32-bit unix target),
and a hand-written loop for each of about 70 expressions would take heap. An expression refers to x
(and y, c, d, e) and to the names of its `scope`.
"""

from ..blocks import block
from ..tensor import range_of

# p: as loops/_words.pairs, with a and b for x and w. Elements of out are contiguous.
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
ELEMENTS = """
def loop(a, w, out, p):
    k = p[0]
    end = p[1]
    while k < end:
        x = a[k]
        out[k] = {}
        k += 1
"""

# w: three constants
ELEMENTS_WITH_CONSTANTS = ELEMENTS.replace(
    "    k = p[0]", "    c = w[0]\n    d = w[1]\n    e = w[2]\n    k = p[0]"
)

# Kind of an expression's result: a value of x's dtype; an integer that may have to wrap; a bool.
SAME, WRAPS, TRUTH = 0, 1, 2

_WORK = const(16)  # work of an element (see calls.parts): these loops run in Python

compiled = {}


def compile_loop(template, expression, scope):
    """Return the template's loop with the expression in it; scope holds its globals."""
    source = template.format(expression)
    key = (scope["__name__"], source)
    if key not in compiled:
        namespace = {}
        exec(source, scope, namespace)
        compiled[key] = namespace["loop"]
    return compiled[key]


def wrapped(expression, dtype):
    """Return the expression modulo 2**bits of the dtype: newer firmware raises on overflow."""
    low, high = range_of(dtype)
    if low:
        return "(({}) + {} & {}) - {}".format(expression, -low, high - low, -low)
    return "({}) & {}".format(expression, high)


def is_float(node, t):
    """Return True for float32 and float64, False for integers and bool.

    Raises ModelError for other dtypes.
    """
    if t.dtype in ("float32", "float64"):
        return True
    node.require(range_of(t.dtype), "dtype " + t.dtype)
    return False


def choose(node, x, out, row):
    """Return the expression for the dtypes of x and out.

    Args:
        node: the node.
        x: input Tensor.
        out: output Tensor.
        row: (name, expression for floats, expression for integers, kind of result).

    Raises:
        ModelError: if there is no expression for x's dtype, or out's dtype differs from the
            result's.
    """
    _, on_floats, on_integers, result = row
    floats = is_float(node, x)
    expression = on_floats if floats else on_integers
    node.require(expression, "dtype " + x.dtype)
    node.expect_dtype("bool" if result == TRUTH else x.dtype, out)
    return wrapped(expression, x.dtype) if result == WRAPS and not floats else expression


def emit_elements(calls, loop, x, w, out, n):
    """Emit the calls of a compiled loop for n elements; x, w, out as calls.call() takes them."""
    for start, end in calls.parts(n, _WORK):
        calls.call(loop, x, w, out, block("root", start=start, end=end))
