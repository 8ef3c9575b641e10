"""The run of a model, its inputs and outputs, and its turn.

A model computes for one caller at a time. That caller has the model's turn; other calls are
refused. A model has `_take` and `_free`. Where the firmware has threads a turn is a lock, which
two cores cannot take at once; elsewhere an interrupting call ends before the interrupted one goes
on. Callers have no jump between `_take` and `try`, nor around `free()`: at a jump MicroPython runs
callbacks and raises KeyboardInterrupt, and a turn that was taken must be given back.

    free = model._free[model._take(False)]
    try:
        if free is none:
            raise fresh(BUSY)
        ...
    finally:
        free()

All of this module stays in memory, for programs too. Some firmware keeps frames of more than 11
words in the heap. Each frame of a run is smaller; therefore `run` has no `finally`, and `except`
no `as`. Modules that few runs need are found by a name in text: they import this one.
"""

import sys
from gc import isenabled as none

try:
    from _thread import allocate_lock as lock  # noqa: F401
except ImportError:
    from .flag import Flag as lock  # noqa: F401


class MpconnxrError(Exception):
    """Base class of all errors of this package; the others are in errors.py."""


class UnsupportedError(MpconnxrError):
    """The model is well-formed but needs something that this board or version does not have."""


# Made once: a hard callback cannot allocate, nor can anything once memory has ended. OF_A_RUN:
# errors that a run may raise.
BUSY = MpconnxrError("the model is still computing, or another one in its arena")
SHORT = UnsupportedError("not enough memory to load or run the model")
OF_A_RUN = (MpconnxrError, OSError)

_FIELDS = ("nbytes", "dtype", "shape", "name", "nelem", "scale", "zero_point")


def fresh(error):
    """Return a new copy of an error, as a traceback grows each time its error is raised.

    Without memory for a copy, return the error itself. If memory ends while MicroPython imports a
    module, the module's name stays behind and the module counts as imported ever after. Such names
    are removed here, so that the next load imports the modules again.
    """
    for name in sys.modules:  # of which MicroPython lets names go meanwhile
        if sys.modules.get(name) is None:
            sys.modules.pop(name, None)
    try:
        return type(error)(*error.args)
    except MemoryError:
        return error


class LightTensor:
    """An input or output that takes little heap; for everything but its data it makes a Tensor.

    Attributes:
        data: its elements.
        fed: the typecode that feed fills it by, None before the first time.
    """

    fed = None  # see feed

    def __init__(self, data, of):
        """Create one. of: values of _FIELDS, then arguments of tensor.full_tensor."""
        self.data, self._of = data, of

    def __getattr__(self, name):
        of = self._of
        if name in _FIELDS:
            return of[_FIELDS.index(name)]
        try:
            full = __import__("mpconnxr.tensor").tensor.full_tensor
            return getattr(full(self, *of[len(_FIELDS) :]), name)
        except MemoryError:
            raise fresh(SHORT)

    # Short, as they stay in the heap: a Tensor does the work.

    def __bool__(self):
        return True

    def __len__(self):
        return self.get("len")

    def __getitem__(self, i):
        return self.get(i)

    def __repr__(self):
        return self.get(None)


def turn(of):
    """Return the `_take` and `_free` of a model, from the lock or locks of its turn."""
    return of.acquire, (none, of.release)


def run(self, x=None, deadline_us=None):
    """Compute the outputs.

    Args:
        self: the model.
        x: nothing if the inputs' data were filled; the value of the only input (array, bytes in C
            order, list, nested list, or a number for a scalar); a list or tuple of such values if
            there are several inputs; or a dict by input name. For an input whose shape the caller
            decides also (value, shape).
        deadline_us: microseconds before which not to return, so that the time a run takes does not
            tell what it computed.

    Returns:
        self.outputs. Their data hold until the next run of a model in this arena. A run may
        overwrite the inputs' memory: fill it before each run.

    Raises:
        InputError: a value does not fit its input.
        MpconnxrError: this model, or another one in its arena, is still computing; or a step
            failed.
        OSError: of the file that weights are streamed from.
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
    """Copy x into the inputs; the first call finds the function that does so."""
    global fill
    try:
        fill = __import__("mpconnxr.feed").feed.filled
    except MemoryError:
        raise fresh(SHORT)
    except RuntimeError:
        model._fail()
    fill(model, x)


def compute(model):
    """Compute the outputs from the data of the inputs."""
    try:
        model._compute()
    except OF_A_RUN:
        raise
    except MemoryError:
        raise fresh(SHORT)
    except Exception:
        model._fail()
