"""A loop whose family is imported at its first call: what seldom runs takes no heap.

Whoever holds such a loop does not hold mpconnxr.forms.
"""


def later(name, function):
    """Return the loop. Other loops call it, as function(p, w)."""

    def first(p, w):
        from .forms import get

        return getattr(get(name), function)(p, w)

    return first
