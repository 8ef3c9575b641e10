"""Random calls of loops/audio: see on_board_loops."""

from array import array

_BIAS = 1 << 29


def _table(d, n, most):
    """n unsigned numbers of 16 bits, at most `most`."""
    return array("H", [d.between(0, most) for _ in range(n)])


def _spectrum(d, n):
    """Parts within 16 bits and a sign, of any size; sometimes silence."""
    bits = d.below(17)
    return array("i", [_BIAS + (d.word() >> 15) // (1 << bits) for _ in range(2 * n)])


def window(d):
    bits = d.between(4, 6)
    n, first = 1 << bits, d.below(5)
    w = _table(d, n // 2 + 1, 32767)
    x = d.octets(first + 2 * n) if d.below(4) else bytearray(first + 2 * n)
    return x, w, d.blank("i", 2 * n + 1), [first, n, bits, 0]


def fft(d):
    n = 1 << d.between(4, 6)
    spectrum = _spectrum(d, n)
    return spectrum, _table(d, 3 * n // 4, 32768), spectrum, [n, 0]


def mel(d):
    n, bands = 32, d.between(1, 6)
    first = d.below(8)
    bins = d.between(1, 17 - first)
    table = array("H")
    for _ in range(bins):
        table.extend(array("H", [d.below(bands), d.between(0, 256)]))
    return _spectrum(d, n), table, d.blank("i", 2 * bands + 3), [n, first, bins, bands, 0]


def logs(d):
    bands = d.between(1, 6)
    sums = array("i", [(d.word() & 0x3FFFFFFF) >> d.below(31) for _ in range(2 * bands + 2)])
    table = array("H", sorted([d.between(0, 4096) for _ in range(65)]))
    return sums, table, d.blank("i", bands + 1), [bands, _BIAS + d.between(-40, 40)]
