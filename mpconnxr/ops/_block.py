"""What the kernels of block floating point share: see loops/block.

Known weights are two or three constants: mantissas (rows, K), the rows' exponents uint8, and their
biases float32 where there are any. Mantissas are int32 of 24 bits; or uint16 of 16, uint8 of 8,
int8 of 4 bits, two a byte: see loops/block_narrow. Short ones are uint32, two a word: see
loops/short_dot.
"""

from .. import forms

MAX_K = 0xFFFF  # of loops/block_dot
NARROW = {"uint16": (16, "H"), "uint8": (8, "B"), "int8": (4, "B")}
INITS = 4  # item of scratch where what channels start with begins
CHUNK = 64  # columns of one call of block_gemm's loops
WORDS = (4, 3, 3)  # of scratch: of a channel's start, of a sum, of the sum of a row of x
SHORT_WORDS = (3, 1, 0)  # the same with short mantissas
MACS = 4  # that take as long as an element of other kernels


class Block:
    """Loops whose calls are emitted, their parameters and the scratch (int32) that they work in.

    weights  places of mantissas, exponents (bytes), biases (int32; None: there are none)
    scratch  from INITS on what each channel starts with, then sums, then mantissas
    bits     of a weight's mantissa, 0 for short ones; w_step: items from row to row of weights
    more     what short mantissas add to the exponent of x
    words    of scratch: of a channel's start, of a sum, of the sum of a row of x
    """

    bits, w_step = 24, 0
    more, words = 0, WORDS

    def __init__(self, calls, x, weights, out, scratch):
        self.calls, self.part = calls, calls.part
        self.x, self.out = calls.place(x, "i"), calls.place(out, "i")
        self.scratch = calls.place(scratch)
        self.w, self.exponents, bias = weights
        self.bias = self.x if bias is None else bias
        loops = forms.get("block")
        self.peak, self.mantissas, self.align = loops.peak, loops.mantissas, loops.align
        self.has_bias = int(bias is not None)

    def set_kind(self, w, k):
        """Takes the loops for weights w in rows of k items. To be called first."""
        if w.dtype == "uint32":
            self.bits, self.words, self.more = 0, SHORT_WORDS, 24 - short_bits(k)
            loops = forms.get("short")
            self.align, self.finish = loops.align, loops.finish
            self.dots = forms.get("short_dot").dots
        else:
            self.finish = forms.get("block_finish").finish
            self.dots = forms.get("block_dot").dots

    def set_weights_of(self, node, w, rows, k):
        """Takes known mantissas as they are held. ModelError unless there are so many rows."""
        if not self.bits:
            self.w, self.w_step = self.calls.place(w, "H"), k + (k & 1)
            node.require(rows * self.w_step <= 2 * w.nelem, "weights size")
            return
        self.bits, self.w_step = row_of(node, w, rows, k)
        if self.bits < 24:
            self.w = self.calls.place(w, NARROW[w.dtype][1])
            self.dots = forms.get("block_narrow").dots

    def set_needs(self, special, ends):
        """Lists what loops/block_pieces takes. special: for what is not finite; ends: where in p
        the parameters of mantissas, align, dots and finish begin, and where the last ones end.
        """
        self.p[ends[3] - 1] = self.bits  # the last one of dots
        self.needs = [self.mantissas, self.align, self.dots, self.finish, special, self.part()]
        self.needs += [self.part(ends[i], ends[i + 1]) for i in range(4)]
        self.needs += [self.x, self.w, self.bias, self.exponents, self.scratch, self.out]


def product_places(n, k, words):
    """Return where a product of rows of k items with n channels has what in the scratch: the
    channels of one call, the places of their sums and of the row, and how many words there are.

    words: see Block.
    """
    of_channel, of_sum, of_x = words
    chunk = min(n, CHUNK)
    sums = INITS + of_channel * chunk
    row = sums + of_sum * chunk + of_x
    return chunk, sums, row, row + k


def shared_columns(positions, rows, kernel_columns, stride, dilation):
    """Return (whether neighbours share columns, columns of a row of positions, positions between
    two rows that do not count).

    A row of shared columns ends at a multiple of the stride: the next one's follow in step.
    """
    if not (dilation == 1 and stride < kernel_columns and rows * positions > 1):
        return False, positions * kernel_columns, 0
    n = -(-((positions - 1) * stride + kernel_columns) // stride)
    return True, n * stride, n - positions if rows > 1 else 0


def convolution_places(words, channels, positions, rows, skipped, nelem):
    """Return (where sums begin in the scratch, where mantissas do, how many words there are).

    positions: of a row whose sums are there; skipped: between two rows; nelem: mantissas.
    """
    of_channel, of_sum, of_x = words
    sums = INITS + of_channel * channels
    band = sums + (of_sum * channels + of_x) * ((positions + skipped) * rows - skipped)
    return sums, band, band + nelem


def row_of(node, w, rows, k):
    """(bits of a weight, items that hold k of them). ModelError unless there are so many rows."""
    bits, step = 24, k
    if w.dtype != "int32":
        node.require(w.dtype in NARROW, "dtype " + w.dtype)
        bits = NARROW[w.dtype][0]
        step = (k + 1) // 2 if bits == 4 else k
    node.require(rows * step <= w.nelem, "weights size")
    return bits, step


def short_bits(k):
    """Bits of the mantissas of x in rows of k items: sums of them and of as many a weight fit."""
    bits = 15
    while k > 16:
        k = (k + 3) // 4
        bits -= 1
    return bits


def constants(node, calls, tensors, rows):
    """Places of mantissas, exponents and biases, the last one None where there is no such tensor.

    ModelError unless the latter are of so many rows.
    """
    w, exponents = tensors[:2]
    node.expect_dtype("uint8", exponents)
    node.require(rows <= exponents.nelem, "too few exponents")
    bias = None
    if len(tensors) > 2:
        node.expect_dtype("float32", tensors[2])
        node.require(rows <= tensors[2].nelem, "too few biases")
        bias = calls.place(tensors[2], "i")
    return calls.place(w), calls.place(exponents), bias


def limits(node, first):
    """Two parameters, the bits of low and high, as finish takes them."""
    found = []
    for i in (first, first + 1):
        bits = node.params[i] & 0xFFFFFFFF
        found += [bits >> 31, bits & 0x7FFFFFFF]
    return found
