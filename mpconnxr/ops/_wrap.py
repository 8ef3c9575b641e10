"""How loops wrap integers around, told in words of their parameters."""


def bits_of(limits):
    """[bits if it is signed, else 0; bits] of the dtype with these limits.

    From a and b of them a loop has half and mask: 1 << a >> 1 and (1 << b) - 1. The number v
    becomes (v + half & mask) - half.
    """
    bits = 0
    while limits[1] - limits[0] >> bits:
        bits += 1
    return [bits if limits[0] else 0, bits]
