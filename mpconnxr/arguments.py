"""Checks of arguments other than the values of inputs, for modules that few programs import."""

from .errors import InputError

# Errors of computing with a value of an unexpected type. RuntimeError: the stack ended.
MISFITS = (TypeError, AttributeError, LookupError, ValueError, ArithmeticError, RuntimeError)


def integer(name, value, least, most):
    """Return an argument. Raises InputError unless it is an integer from least to most."""
    if not isinstance(value, int) or not least <= value <= most:
        raise InputError("{}: an integer from {} to {} is needed".format(name, least, most))
    return value


def number(name, value, least, most):
    """Return an argument. Raises InputError unless it is a number from least to most."""
    if not isinstance(value, (int, float)) or not least <= value <= most:  # also for nan
        raise InputError("{}: a number from {} to {} is needed".format(name, least, most))
    return value


def function(name, value):
    """Return an argument. Raises InputError unless it can be called."""
    if not callable(value):
        raise InputError("{}: a function is needed".format(name))
    return value
