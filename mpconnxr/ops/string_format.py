"""string_format: numbers as strings.

    out[i] = the shortest decimal that rounds to x[i] in its dtype

Serves Cast to strings (all opsets). The format is that of Python and numpy: 0.1, 1.0, 1e-05,
1e+16; nan, inf, -inf; bool as True and False; integers in full.

    x    float32, float64, bool or any integer dtype (N)
    out  strings (N) of fixed shape
Raises ModelError. A step allocates strings and big integers.
"""

from ..io.objects import expect_fixed
from ..tensor import range_of

# params: none

OBJECTS = True
_FORMS = {"float32": ("f", "I", 23), "float64": ("d", "Q", 52)}  # codes, fraction bits


def prepare(node):
    node.expect(1, 1, 0)
    x, out = node.inputs[0], node.outputs[0]
    expect_fixed(node, out)
    node.require(range_of(x.dtype) or x.dtype in _FORMS, "dtype " + x.dtype)
    node.require(x.nelem == out.nelem, "sizes")
    if x.dtype == "bool":
        return x.nelem, _Formatter(x.data, out.data, _bool_text).step
    if x.dtype not in _FORMS:
        return x.nelem, _Formatter(x.data, out.data, str).step
    _, code, bits = _FORMS[x.dtype]
    return x.nelem, _Formatter(x.view(code), out.data, _FloatText(bits).text).step


def _bool_text(v):
    return "True" if v else "False"


class _Formatter:
    def __init__(self, x, out, text):
        self.x, self.out, self.text = x, out, text

    def step(self, lo, hi):
        while lo < hi:
            self.out[lo] = self.text(self.x[lo])
            lo += 1


class _FloatText:
    """Formatter of floats with `bits` fraction bits."""

    def __init__(self, bits):
        self.bits = bits
        self.top = 255 if bits == 23 else 2047

    def text(self, pattern):
        """Return the text of a float from its bits."""
        sign = "-" if pattern >> (31 if self.bits == 23 else 63) else ""
        exponent = pattern >> self.bits & self.top
        fraction = pattern & (1 << self.bits) - 1
        if exponent == self.top:
            return "nan" if fraction else sign + "inf"
        if not exponent and not fraction:
            return sign + "0.0"
        return sign + _plain(*self._shortest(exponent, fraction))

    def _shortest(self, exponent, fraction):
        """Return (digits, power) of the shortest decimal 0.digits * 10 ** power.

        Values are in units of a quarter of the last bit, so that the ends of the rounding interval
        are integers. Digits are generated until they lie between the ends (Steele and White,
        1990).
        """
        lowest = exponent > 1 and not fraction  # the next smaller float is closer
        if exponent:
            fraction |= 1 << self.bits
        even = not fraction & 1
        shift = max(exponent, 1) - self.top // 2 - self.bits - 2
        value, below, above = 4 * fraction, 1 if lowest else 2, 2
        scale = 1
        if shift > 0:
            value, below, above = value << shift, below << shift, above << shift
        else:
            scale <<= -shift
        power = 0
        while value + above > scale or even and value + above == scale:
            scale *= 10
            power += 1
        while 10 * (value + above) < scale or not even and 10 * (value + above) == scale:
            value, below, above = 10 * value, 10 * below, 10 * above
            power -= 1
        return _digits(value, below, above, scale, even), power


def _digits(value, below, above, scale, even):
    """Return the fewest digits of value / scale, or of another fraction between the ends."""
    digits = ""
    while True:
        value, below, above = 10 * value, 10 * below, 10 * above
        digit = value // scale
        value -= digit * scale
        low = value < below or even and value == below
        high = value + above > scale or even and value + above == scale
        if low or high:
            up = 2 * value > scale or 2 * value == scale and digit & 1
            return digits + str(digit + (1 if high and (not low or up) else 0))
        digits += str(digit)


def _plain(digits, power):
    """Return 0.DIGITS * 10**power as Python writes it: with an exponent if < 1e-4 or >= 1e16."""
    if not -4 < power <= 16:
        tail = "." + digits[1:] if len(digits) > 1 else ""
        power -= 1
        sign = "-" if power < 0 else "+"
        return "{}{}e{}{:02d}".format(digits[0], tail, sign, abs(power))
    if power <= 0:
        return "0." + "0" * -power + digits
    if len(digits) <= power:
        return digits + "0" * (power - len(digits)) + ".0"
    return digits[:power] + "." + digits[power:]
