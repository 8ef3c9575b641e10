"""The error of plain loops for values that they do not support."""


def refuse(name, what):
    """Raise the InputError of a step whose name is ASCII in a buffer; `what` is what is wrong."""
    from ..errors import InputError  # here, so that a program loads it only when needed

    raise InputError("{}: {}".format(str(name, "ascii"), what))
