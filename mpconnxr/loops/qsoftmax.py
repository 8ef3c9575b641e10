"""Softmax of quantized bytes by a table of exponentials.

powers    Write the table, 256 words from out[0] on: the first is largest, each next one the one
          before it times the factor.
softmax8  Set out[i] = saturate(round(w[d] * factor / (sum of the line's w << shift)) +
          zero_point).

powers computes with 9 more bits than an element has, in products of 15 bits: an element is within
a unit of the power.

x and out of softmax8 hold bytes (outer, length, inner); w is the table, exp(-d * x_scale) of the
distance d from the largest byte of a line; w[0], its largest element, is 2**15 or more. Results
saturate to 0 .. 255. Signed bytes become unsigned by flip, also those of out.
"""

# Parameters of powers
_LARGEST = const(0)  # first element [value] 1..2**20
_FACTOR_HIGH = const(1)  # 15 fraction bits [value] 0..32767
_FACTOR_LOW = const(2)  # 15 bits more [value] 0..32767

# Parameters of softmax8
_LINE = 0  # first line [lines] 0..
_LINE_END = 1  # end, exclusive [lines] 0..
_LENGTH = const(2)  # of a line [elements] 1..
_INNER = const(3)  # size of the inner axis [elements] 1..
_FLIP = const(4)  # 128 where x and out are signed [mask] 0, 128
_FACTOR = const(5)  # 1 / out_scale << shift [multiplier] 0..32767
_SHIFT = const(6)  # left shift of factor [bits] 0..14
_ZERO_POINT = const(7)  # of out, unsigned [value] 0..255


def powers(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write the table of exponentials.

    Access:
        writes out[0 : 256]
    """
    i = _LARGEST  # 0, also the start of out
    v = p[i] << 9
    while i < 256:
        out[i] = (v + 256) >> 9
        high = v >> 15
        v = v & 32767
        v = v * p[_FACTOR_HIGH] + ((v * p[_FACTOR_LOW]) >> 15)
        v = high * p[_FACTOR_HIGH] + ((high * p[_FACTOR_LOW] + 16384) >> 15) + ((v + 16384) >> 15)
        i += 1


def softmax8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """Compute the softmax of lines.

    Access:
        size = length * inner
        low, high = line // inner * size, ((line_end - 1) // inner + 1) * size
        reads x[low : high] if line < line_end
        reads w[0 : 256] if line < line_end
        writes out[low : high] if line < line_end
        given 0 <= w[0 : 256] <= 1 << 20
        given w[0 : 1] == 1 << 20
        given factor >> shift < 512 and max(factor, length << shift) < 1 << 11
    """
    flip, least = p[_FLIP], 1 << 15
    cut, i = 0, 0
    while p[_LINE] < p[_LINE_END] and w[i] * p[_FACTOR] >> cut >= least:
        cut += 1
    left, first = (
        p[_INNER] - p[_LINE] % p[_INNER],
        p[_LINE] // p[_INNER] * p[_LENGTH] * p[_INNER] + p[_LINE] % p[_INNER],
    )
    for lines in range(p[_LINE_END] - p[_LINE], 0, -1):
        end, largest = first + p[_LENGTH] * p[_INNER], 0
        for i in range(first, end, p[_INNER]):
            v = x[i] ^ flip
            largest = max(v, largest)
        total = 0
        for i in range(first, end, p[_INNER]):
            total += w[largest - (x[i] ^ flip)]
        total = total << p[_SHIFT]
        bits, half = 0, total >> 1
        while total >> bits >= least << 1:
            bits += 1
        # A quotient is approximated by 15 bits of the dividend times 16 bits of 1 / total.
        inverse, shift = (least << 15) // ((total >> bits) + 1), min(30 + bits - cut, 30)
        for i in range(first, end, p[_INNER]):
            v = w[largest - (x[i] ^ flip)] * p[_FACTOR]
            quotient = (v >> cut) * inverse >> shift
            v += half - quotient * total
            while v >= total:
                v -= total
                quotient += 1
            v = min(quotient + p[_ZERO_POINT], 255)
            out[i] = v ^ flip
        first += 1
        left -= 1
        if left == 0:
            left = p[_INNER]
            first = end - left + 1
