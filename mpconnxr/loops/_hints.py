"""Hints for the build. They do nothing in Python, and built modules do not contain them.

inline     replace each call of the helper by its body
far        the loop is too long for Xtensa's conditional branches
unroll     repeat the body once for each number
undefined  value of a name before it is assigned; no code is generated
"""


def inline(function):
    return function


def far(condition):
    return condition


unroll = range
undefined = None
