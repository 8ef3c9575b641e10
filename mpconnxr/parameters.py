"""A loop's parameters: one block of 32-bit words."""

from array import array

# Signed numbers in a parameter block are stored plus BIAS: 32-bit words read by viper come out
# signed on 32-bit machines and unsigned on 64-bit ones, and agree only from 0 to 2**31 - 1.
BIAS = 1 << 29


def block(*values):
    """A loop's parameter block: a mutable array of int32."""
    return array("i", values)


def block_of(values):
    """The same of a list, which takes less time where there are many."""
    return array("i", values)
