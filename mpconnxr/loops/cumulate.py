"""Running sums and products along the middle axis of x. Plain form.

x and out have shape (outer, length, inner); a line is the elements along the middle axis. w is not
used. What a float sum loses is carried along (Neumaier), for single floats.
"""

# Parameters of cumulate_float, cumulate_int
_START = 0  # the first line [lines] 0..
_END = 1  # behind the last one [lines] 0..
_LENGTH = const(2)  # of a line [elements] 1..
_INNER = const(3)  # lines that lie side by side [lines] 1..
_IS_PRODUCT = const(4)  # elements are multiplied, not added [flag] 0, 1
_IS_EXCLUSIVE = const(5)  # out has what lies before an element, without it [flag] 0, 1
_IS_REVERSED = const(6)  # the last element comes first [flag] 0, 1
# Parameters of cumulate_int
_SIGNED_BITS = const(7)  # of an element if its type has a sign, else 0 [bits] 0..64
_BITS_PER_ELEMENT = const(8)  # [bits] 2..64


def cumulate_float(x, w, out, p):
    """
    Access:
        low, high = start // inner * length * inner, ((end - 1) // inner + 1) * length * inner
        reads x[low : high] if start < end
        writes out[low : high] if start < end
    """
    length, inner, is_product, is_exclusive = (
        p[_LENGTH],
        p[_INNER],
        p[_IS_PRODUCT],
        p[_IS_EXCLUSIVE],
    )
    stride = -inner if p[_IS_REVERSED] else inner
    line = p[_START]
    while line < p[_END]:
        i = line // inner * length * inner + line % inner
        if p[_IS_REVERSED]:
            i += (length - 1) * inner
        total = 1.0 if is_product else 0.0
        lost = 0.0
        k = 0
        while k < length:
            v = x[i]
            if is_exclusive:
                out[i] = total + lost if total - total == 0.0 else total
            if is_product:
                total *= v
            else:
                new = total + v
                lost += (total - new) + v if abs(total) >= abs(v) else (v - new) + total
                total = new
            if not is_exclusive:
                out[i] = total + lost if total - total == 0.0 else total
            i += stride
            k += 1
        line += 1


def cumulate_int(x, w, out, p):
    """Access: as cumulate_float"""
    length, inner, is_product, is_exclusive = (
        p[_LENGTH],
        p[_INNER],
        p[_IS_PRODUCT],
        p[_IS_EXCLUSIVE],
    )
    stride = -inner if p[_IS_REVERSED] else inner
    half, mask = 1 << p[_SIGNED_BITS] >> 1, (1 << p[_BITS_PER_ELEMENT]) - 1
    line = p[_START]
    while line < p[_END]:
        i = line // inner * length * inner + line % inner
        if p[_IS_REVERSED]:
            i += (length - 1) * inner
        total = is_product
        k = 0
        while k < length:
            new = (total * x[i] if is_product else total + x[i]) & mask
            out[i] = ((total if is_exclusive else new) + half & mask) - half
            total = new
            i += stride
            k += 1
        line += 1
