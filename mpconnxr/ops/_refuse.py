"""What plain loops do with values that they do not take."""


def refuse(name, what):
    """Raises the InputError of the step with this name, which is ASCII in a buffer."""
    from ..errors import InputError  # here, so that a program loads it when it is needed

    raise InputError("{}: {}".format(str(name, "ascii"), what))
