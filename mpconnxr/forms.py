"""Choose the form in which a family of loops runs: assembler, viper, or plain Python.

A family is a module NAME in the folder loops/. The built package has two kinds:

* written once, in the common subset of Python and viper: loops/NAME.py says `COMMON = True` and
  has `@micropython.viper` on its loops. Its plain form is the same source without those lines.
* tuned: loops/NAME.py is the plain form, and loops/viper/NAME.py, loops/thumb/NAME.py, ... define
  the same functions. The first one that this board can run wins.

The sources in the repository have the plain forms alone: there, forms in viper raise ImportError.

All forms of a loop give the same bits, so an operator never knows which one it got. One form is
apart: vfp is the only form of its families, which compute with floats (see ops/_block_vfp).

Installed as .mpy files, a family has the forms that were compiled. Form xtensawin exists in such
files alone: firmware refuses it as source, and viper takes its place.
"""

import sys

from . import tensor
from .errors import UnsupportedError

# Forms, best first, each with the architectures (of sys.implementation._mpy) whose instructions it
# uses. A form is a folder of this name in loops/; plain is loops/ itself. Nothing else lists them.
# Inline assembler may compile for a core that then faults on it, so compiling is not proof.
# Firmware for a Cortex-M3 announces 6 as that for a Cortex-M4 does: only 7 and 8, which have an
# FPU, are sure to have the DSP instructions.
FORMS = (
    ("vfp", (7, 8)),
    ("armv7em", (7, 8)),
    ("armv7m", (5, 6, 7, 8)),
    ("thumb", (4, 5, 6, 7, 8)),
    ("rv32", (11,)),
    ("xtensawin", (10,)),
    ("viper64", (2,)),
    ("viper", None),
    ("plain", None),
)
COMPILED = ("xtensawin",)  # forms that firmware takes from .mpy files alone
# Families that models are loaded or run with; kernels call all others.
OWN = ("program", "loading", "table")
order = tuple([form for form, _ in FORMS])  # in which get() tries them
_unchanged = order
_UNCHANGED = ("usual",)  # stands for that order: a short key is found sooner
_loaded = {}


def arch():
    """Return the architecture number of this firmware's native code; 0 without native code."""
    return getattr(sys.implementation, "_mpy", 0) >> 10 & 15


def suits(form, number):
    """Return True if firmware of this architecture can run code of a form."""
    archs = dict(FORMS)[form]
    return archs is None or number in archs


def available(name):
    """Return the forms of a family that this board can run, best first."""
    return [form for form, _ in FORMS if find(name, form)]


def get(name, form=None):
    """Return the loops of a family in a form, by default in the best form of this board."""
    expected = form or order
    key = name, _UNCHANGED if expected is _unchanged else expected
    if key not in _loaded:
        _loaded[key] = _first(name, [form] if form else order)
    return _loaded[key]


def drop(name):
    """Drop a family; the next get() imports it again."""
    for key in [key for key in _loaded if key[0] == name]:
        del _loaded[key]
    for module in [m for m in sys.modules if m.startswith("mpconnxr.loops.")]:
        if module.endswith("." + name):
            sys.modules.pop(module)
            folder, _, _ = module.rpartition(".")
            delattr(sys.modules[folder], name)


def later(name, function):
    """Return a loop whose family is imported at its first call: see mpconnxr.later."""
    key = (name, function)
    if key not in _loaded:
        from .later import later as made

        _loaded[key] = made(name, function)
    return _loaded[key]


class Board:
    """Choose loops by the board. Calls, and recorders of calls on a computer, inherit this."""

    def fpu(self, name, exact):
        """Return the loops of a family for an FPU, or None.

        None means that the board has none, or that the loops of family `exact`, which compute the
        same on integers, come first (see precedes).
        """
        return get(name, "vfp") if precedes(name, "vfp", exact) else None

    def later(self, name, function):
        """Return a loop whose family is imported at its first call: see later."""
        return later(name, function)


def _first(name, expected):
    for form in expected:
        module = find(name, form)
        if module:
            return module
    raise UnsupportedError("{} has no {} form here".format(name, " or ".join(expected)))


def precedes(name, form, other):
    """Return True if a family in this form comes before the family that it replaces."""
    for each in order:
        if each == form:
            return find(name, form) is not None
        if find(other, each):
            return False


def find(name, form):
    """Return the loops of a family in this form; None without any for this board."""
    if form == "plain":
        module = _import(name)
        if module is None or _is_common(module):
            return _undecorated(name) or module
        return module
    if not tensor.RETYPES or not suits(form, arch()):
        return None
    module = _import(form + "." + name)
    if module is None and form == "viper":
        module = _import(name)
        return module if _is_common(module) else None
    return module


def _is_common(module):
    return getattr(module, "COMMON", False)


def _import(name):
    """Return mpconnxr.loops.NAME; None where it is absent or not for this firmware."""
    full = "mpconnxr.loops." + name
    try:
        __import__(full)
        return sys.modules[full]
    except ImportError:
        return None
    # "invalid micropython decorator": this firmware has no such emitter. ValueError,
    # "incompatible .mpy file": it was compiled for another machine.
    except (SyntaxError, ValueError):
        sys.modules.pop(full, None)
        return None


class _Plain:
    """A replacement for a module, with the names that exec defined."""

    def __init__(self, names):
        for name in names:
            setattr(self, name, names[name])


def _undecorated(name):
    """Return the loops of NAME.py without their decorators; None without the source."""
    try:
        with open(__file__.rsplit("/", 1)[0] + "/loops/" + name + ".py") as f:
            lines = f.read().split("\n")
    except OSError:
        return None
    names = {"__name__": "mpconnxr.loops." + name}
    exec("\n".join(["" if s.startswith("@micropython.") else s for s in lines]), names)
    return _Plain(names)
