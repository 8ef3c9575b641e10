"""The error of gather for an index out of range. Plain form."""

from ..errors import InputError

_WHAT = const(1)  # in w


def refuse(p, w):
    """Access: of the loops in whose place it is called"""
    raise InputError(w[_WHAT])
