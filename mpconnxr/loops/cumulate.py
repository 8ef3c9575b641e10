"""Running sums and products along the middle axis of x. Plain form.

x and out have shape (outer, length, inner). A line is the elements along the middle axis. w is not
used. Float sums are compensated (Neumaier), for single floats.
"""

# Parameters of cumulate_float, cumulate_int
_START = 0  # first line [lines] 0..
_END = 1  # end, exclusive [lines] 0..
_LENGTH = const(2)  # of a line [elements] 1..
_INNER = const(3)  # size of the inner axis [lines] 1..
_IS_PRODUCT = const(4)  # multiply instead of adding [flag] 0, 1
_IS_EXCLUSIVE = const(5)  # exclude the element itself [flag] 0, 1
_IS_REVERSED = const(6)  # start from the last element [flag] 0, 1
# Parameters of cumulate_int
_SIGNED_BITS = const(7)  # bits of a signed element; 0: unsigned [bits] 0..64
_BITS_PER_ELEMENT = const(8)  # [bits] 2..64


def cumulate_float(x, w, out, p):
    """Compute running sums or products of floats.

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
