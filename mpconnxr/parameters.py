"""Parameter blocks of loops: 32-bit words."""

from array import array

# Signed numbers in a parameter block are stored plus BIAS: 32-bit words read by viper come out
# signed on 32-bit machines and unsigned on 64-bit ones, and agree only from 0 to 2**31 - 1.
BIAS = 1 << 29


def block(*values):
    """Return a parameter block of these values, a mutable array of int32."""
    return array("i", values)


def block_of(values):
    """Return a parameter block of a list; quicker than block(*values) for a long one."""
    return array("i", values)
