"""Both cores of a board for the runs of a program: what stays in memory for that.

The second core runs a thread of its own from the first load(cores=2) until the last such model is
closed. It makes calls that were prepared, and allocates nothing.
"""

import sys
from array import array

from .errors import MpconnxrError, UnsupportedError
from .forms import get as _form
from .replay import Program, run

try:
    import time
except ImportError:  # which only start() minds
    time = None

_loops = _form("handover")  # of a program's own files: the loops themselves
attend, fence = _loops.attend, _loops.fence

_HOSTS = ("linux", "darwin")
_PORTS = ("rp2",) + _HOSTS  # threads run at once there, without a lock of the interpreter
_MODE = const(0)  # of shared: see loops/handover
_ASKED = const(3)
_DONE = const(4)
_FAILED = const(5)
_ENDS = const(6)
_LEFT = const(7)
_ALL = const(0x1FFFFFFF)  # calls: more than any program has
_PATIENCE = const(20000)  # milliseconds

shared = array("i", [0] * 8)
# some microseconds, in which other threads run; on a board, where none do, nothing
idle = time.sleep_us if sys.platform in _HOSTS else fence
box = [None, None, 0]  # what the second core runs, what it raised, 1 while it is here
users = []  # models that need it


class Pair(Program):
    """A program for two cores. Until start() one core makes the calls of both, in turns."""

    def __init__(self, what, second, calls, chunks):
        """second: what, for the second core: see loops/program."""
        Program.__init__(self, what, calls, chunks)
        self._second = second

    def _step(self, lo, hi):
        """The extent is calls of the first core; a part of it is computed on that alone."""
        if hi - lo == self._steps[0][0] and self in users:
            return self._at_once()
        words, other = self._what[1], self._second[1]
        shared[_MODE] = 0
        if lo == 0:
            _rewind(words)
            _rewind(other)
        words[1] = hi - lo
        while True:
            shared[_LEFT] = -1
            self._go_on()
            left = shared[_LEFT]
            if left < 0:
                return
            other[1] = _ALL
            run(self._second)
            words[1] = left

    def _at_once(self):
        _give_up()
        _rewind(self._what[1])
        _rewind(self._second[1])
        self._what[1][1] = self._second[1][1] = _ALL
        box[0], box[1] = self._second, None
        shared[_MODE] = 1
        shared[1] = shared[2] = shared[_FAILED] = 0
        fence(0)
        shared[_ASKED] = shared[_ASKED] + 1 & _ALL
        try:
            self._go_on()
        except BaseException:
            _give_up()
            raise
        _settle()
        if box[1]:
            raise box[1]
        if shared[_FAILED]:
            raise MpconnxrError("the second core does not answer")

    def _go_on(self):
        """Calls of the first core, with the reads between them."""
        while True:
            i = run(self._what) - 256
            if i < 0:
                return
            self._read(*self._chunks[i])


def _rewind(words):
    words[0] = words[3] = words[4] = 0


def _give_up():
    """Ends what the second core does, if it does anything."""
    if shared[_ASKED] != shared[_DONE]:
        shared[_FAILED] = 1
        _settle()


def _settle():
    """Waits until the second core does nothing."""
    if shared[_ASKED] == shared[_DONE]:
        fence(0)
        return
    start = time.ticks_ms()
    while shared[_ASKED] != shared[_DONE]:
        if time.ticks_diff(time.ticks_ms(), start) > _PATIENCE:
            raise MpconnxrError("the second core does not answer")
    fence(0)


def start(model):
    """Lets a model that was loaded run on two cores. Raises UnsupportedError."""
    if sys.platform not in _PORTS:
        raise UnsupportedError("cores=2: on an RP2040 or RP2350, not on " + sys.platform)
    try:
        from _thread import start_new_thread
    except ImportError:
        raise UnsupportedError("cores=2: this firmware has no _thread")
    if not box[2]:
        shared[_ENDS] = 0
        shared[_DONE] = shared[_ASKED]
        box[2] = 1
        try:
            start_new_thread(_serve, ())
        except OSError:
            box[2] = 0
            raise UnsupportedError("cores=2: the second core is in use")
    users.append(model)


def stop(model):
    """The model runs on no second core any more; without others, nothing does."""
    if model in users:
        users.remove(model)
        _give_up()
    if not users and box[2]:
        box[0] = None
        shared[_ENDS] = 1
        while box[2]:
            fence(0)


def _serve():
    """The second core's thread."""
    while not shared[_ENDS]:
        try:
            attend(shared, box, run, idle)
        except BaseException as e:
            box[1] = e
            shared[_FAILED] = 1
            shared[_DONE] = shared[_ASKED]
    box[2] = 0
