"""A loop whose family is imported at its first call, so that a rare loop takes no heap.

Its holder does not hold mpconnxr.forms, which is found by its name.
"""


def later(name, function):
    """Return the loop function(p, w) of a family, to be called by other loops."""

    def first(p, w):
        return getattr(__import__("mpconnxr.forms").forms.get(name), function)(p, w)

    return first
