"""Picks the form in which a family of loops runs: assembler, viper, or plain Python.

A family is a module `mpconnxr.ops.NAME`. Two kinds:

* written once, in the common subset of Python and viper: NAME.py has `@micropython.viper` on its
  loops; on firmware without the native emitter its plain form is the same source with those lines
  left out.
* tuned: NAME.py is the plain form, and NAME_viper.py, NAME_thumb.py, ... beside it define the
  same functions. The first one that this machine can run wins.

All forms of a loop give the same bits, so an operator never knows which one it got.
"""

import sys

from . import tensor
from .errors import UnsupportedError

# Suffix of a tuned module -> the architectures (of sys.implementation._mpy) whose instructions it
# uses. Inline assembler may compile for a core that then faults on it, so compiling is not proof.
_TUNED = (
    ("_armv7em", (6, 7, 8)),
    ("_armv7m", (5, 6, 7, 8)),
    ("_thumb", (4, 5, 6, 7, 8)),
    ("_viper", None),
)
_loaded = {}


def arch():
    """Architecture number of this firmware's native code; 0 where it has none."""
    return getattr(sys.implementation, "_mpy", 0) >> 10 & 15


def _import(name):
    """mpconnxr.ops.NAME, or None where it is absent or this firmware cannot compile it."""
    full = "mpconnxr.ops." + name
    try:
        __import__(full)
        return sys.modules[full]
    except ImportError:
        return None
    except SyntaxError:  # "invalid micropython decorator": no such emitter in this firmware
        sys.modules.pop(full, None)
        return None


class _Plain:
    """What exec left behind, as a module."""

    def __init__(self, names):
        for name in names:
            setattr(self, name, names[name])


def _undecorated(name):
    """The loops of NAME.py, compiled without their @micropython lines."""
    package = sys.modules["mpconnxr.ops"]
    path = package.__file__.rsplit("/", 1)[0] + "/" + name + ".py"
    try:
        with open(path) as f:
            lines = f.read().split("\n")
    except OSError:
        raise UnsupportedError(name + ": this firmware has no native code and " + path + " is absent")
    source = "\n".join("" if s.startswith("@micropython.") else s for s in lines)
    names = {"__name__": "mpconnxr.ops." + name}
    exec(source, names)
    return _Plain(names)


def available(name):
    """Names of the forms of a family that this machine can run, best first."""
    found = []
    for suffix, archs in _TUNED:
        if (archs is None or arch() in archs) and _import(name + suffix):
            found.append(suffix[1:])
    if not found and _is_common(name) and _import(name):
        found.append("viper")
    return found + ["plain"] if tensor.RETYPES else ["plain"]


def _is_common(name):
    """True if NAME.py is a family written once (its module says COMMON = True, or cannot compile)."""
    module = _import(name)
    return module is None or getattr(module, "COMMON", False)


def get(name, form=None):
    """The loops of a family in the given form, or in the best one this machine has."""
    key = (name, form)
    if key not in _loaded:
        wanted = form or available(name)[0]
        if wanted == "plain":
            module = _undecorated(name) if _is_common(name) else _import(name)
        elif wanted == "viper" and _is_common(name):
            module = _import(name)
        else:
            module = _import(name + "_" + wanted)
        if module is None:
            raise UnsupportedError(name + " has no " + wanted + " form here")
        _loaded[key] = module
    return _loaded[key]
