"""Hints for the build, which mean nothing to Python: no module that is built has them.

inline     a helper's code stands where the helper is called
far        Xtensa's branches cannot go around the code of this loop
unroll     the body stands there once for each number
undefined  the value of a name before it is assigned; no code is made of it
"""


def inline(function):
    return function


def far(condition):
    return condition


unroll = range
undefined = None
