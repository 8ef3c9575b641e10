"""A run of a model, its inputs and outputs, and its turn: whoever computes has it, and other calls
are refused.

A model has `_take` and `_free`. Where the firmware has threads a turn is a lock, which two cores
cannot take at once; elsewhere whatever interrupts a call ends before that goes on. Callers have no
jump between `_take` and `try`, nor around `free()`: at a jump MicroPython runs callbacks and
raises KeyboardInterrupt, and a turn that was taken must be given back.

    free = model._free[model._take(False)]
    try:
        if free is none:
            raise fresh(BUSY)
        ...
    finally:
        free()

All of this stays in memory, of each program too. Frames of more than 11 words are of the heap on
some firmware: each of those of a run is smaller, for which `run` has no `finally`, and `except`
no `as`.
"""

import sys
from gc import isenabled as none

try:
    from _thread import allocate_lock as lock  # noqa: F401
except ImportError:
    from .flag import Flag as lock  # noqa: F401


class MpconnxrError(Exception):
    """Base class of all errors of this package, which are in errors.py."""


class UnsupportedError(MpconnxrError):
    """The model is well-formed but needs something that this board or version does not have."""


# Made once: a hard callback cannot allocate, nor can anybody once memory has ended. OF_A_RUN is
# what a run may raise.
BUSY = MpconnxrError("the model is still computing, or another one in its arena")
SHORT = UnsupportedError("not enough memory to load or run the model")
OF_A_RUN = (MpconnxrError, OSError)

_FIELDS = ("nbytes", "dtype", "shape", "name", "nelem", "scale", "zero_point")


def fresh(error):
    """Return a new error like this one, whose traceback would grow each time it is raised.

    Where there is no memory for that, return it itself. MicroPython leaves a module's name behind
    where memory ends while it makes the module, and takes it for imported ever after: without
    those names the next load imports them again.
    """
    for name in sys.modules:  # of which MicroPython lets names go meanwhile
        if sys.modules.get(name) is None:
            sys.modules.pop(name, None)
    try:
        return type(error)(*error.args)
    except MemoryError:
        return error


class Border:
    """An input or output. Whatever it has not itself, a Tensor that is made for that has.

    data: its items; of: the values of _FIELDS, then what tensor.of_border takes.
    """

    fed = None  # see feed

    def __init__(self, data, of):
        self.data, self._of = data, of

    def __getattr__(self, name):
        of = self._of
        if name in _FIELDS:
            return of[_FIELDS.index(name)]
        try:
            from .tensor import of_border

            return getattr(of_border(self, *of[len(_FIELDS) :]), name)
        except MemoryError:
            raise fresh(SHORT)

    # Short, as they stay in the heap: what they do is Tensor's.

    def __bool__(self):
        return True

    def __len__(self):
        return self.get("len")

    def __getitem__(self, i):
        return self.get(i)

    def __repr__(self):
        return self.get(None)


def turn(of):
    """Return a model's `_take` and `_free`, by what gives it its turn: a lock, or several."""
    return of.acquire, (none, of.release)


def run(self, x=None, deadline_us=None):
    """Compute the outputs.

    x: nothing if the inputs' data were filled; the value of the only input (array, bytes in C
       order, list, nested list, or a number for a scalar); a list or tuple of such values if
       there are several inputs; or a dict by input name. Of an input whose shape the caller
       decides also (value, shape).
    deadline_us: microseconds before which not to return, so that the time a run takes does
       not tell what it computed.
    Returns self.outputs; their data hold until the next run of a model in this arena. The
    inputs' memory may be overwritten: fill it before each run.
    Raises InputError, MpconnxrError while this model, or another one in its arena, is still
    computing; what else goes wrong in a step is an MpconnxrError, too, or an OSError of the
    file that weights are streamed from.
    """
    free = self._free[self._take(False)]
    try:
        if free is none:
            raise fresh(BUSY)
        if deadline_us is None:
            if x is not None:
                fill(self, x)
            compute(self)
        else:
            self._until(x, deadline_us)
        free()
        return self.outputs
    except:  # noqa: E722, as there would be a jump to compare
        free()
        raise


def fill(model, x):  # noqa: F811
    """Find what fills inputs, when values come for the first time."""
    global fill
    try:
        from .feed import filled as fill
    except MemoryError:
        raise fresh(SHORT)
    except RuntimeError:
        model._fail()
    fill(model, x)


def compute(model):
    """Compute the outputs of what the inputs hold."""
    try:
        model._compute()
    except OF_A_RUN:
        raise
    except MemoryError:
        raise fresh(SHORT)
    except Exception:
        model._fail()
