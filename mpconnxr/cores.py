"""Runs of a program on both cores of a board: the part that stays in memory.

The second core runs a thread from the first load(cores=2) until the last such model is closed. It
makes prepared calls, and allocates nothing.
"""

import sys
from array import array

from .errors import MpconnxrError, UnsupportedError
from .forms import get as _form
from .replay import Program as _OfOne
from .replay import run
from .turn import lock

try:
    import time
except ImportError:  # which only two cores mind
    time = None

_loops = _form("handover")  # of a program's own files: the loops themselves
attend, begin, fence = _loops.attend, _loops.begin, _loops.fence

_HOSTS = ("linux", "darwin")
_PORTS = ("rp2",) + _HOSTS  # threads run at once there, without a lock of the interpreter
_MODE = const(0)  # of shared: see loops/handover
_REQUESTED = const(3)
_DONE = const(4)
_FAILED = const(5)
_ENDS = const(6)
_LEFT = const(7)
_ALL = const(0x1FFFFFFF)  # calls, as in replay
_PATIENCE = const(20000)  # milliseconds
_SHORT = const(100)

turn = [lock()]  # of all programs for two cores, which have what follows in common
shared = array("i", [0] * 8)
# takes some microseconds, in which other threads run; on a board, where none do, nothing
idle = time.sleep_us if sys.platform in _HOSTS else fence
# what the second core runs, what it raised, 1 while it is here, how many models need it
box = [None, None, 0, 0]


class Program(_OfOne):
    """A program for two cores. Until use_cores(2), one core makes the calls of both in turn.

    Attributes:
        cores: 1 or 2.
    """

    cores = 1

    def __init__(self, both, calls, chunks):
        """Create a program. both: the runner's argument for each core; see replay.Program."""
        _OfOne.__init__(self, both[0], calls, chunks)
        self._second = both[1]

    def use_cores(self, n):
        """Run on n cores, 1 or 2, from the next run on. Raises UnsupportedError."""
        from .rare import alone

        alone(self, self.change_cores, n)

    def change_cores(self, n):
        """Run on n cores from the next run on, within the model's turn."""
        if n != self.cores:
            (_join if n == 2 else _leave)()
            self.cores = n

    def _compute(self, lo=0, hi=_ALL):
        """Make calls lo to hi of the first core. Only a whole run takes both cores."""
        if self.cores == 2 and hi - lo >= self._steps[0][0]:
            return self._at_once()
        _give_up()
        words, other = self._what[1], self._second[1]
        shared[_MODE] = 0
        if lo == 0:
            begin(shared, words, other)
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
        """Make the calls of a run on both cores, and wait until both are done."""
        _give_up()
        box[0] = other = self._second
        box[1] = None
        begin(shared, self._what[1], other[1])
        shared[_MODE] = 1
        fence(0)
        shared[_REQUESTED] = shared[_REQUESTED] + 1 & _ALL
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
        """Make the calls of the first core, with the reads of weights between them."""
        while True:
            i = run(self._what) - 256
            if i < 0:
                return
            self._read(*self._chunks[i])


def _give_up():
    """End the calls of the second core, if it makes any."""
    if shared[_REQUESTED] != shared[_DONE]:
        shared[_FAILED] = 1
        _settle()


def _settle():
    """Wait until the second core is idle."""
    if shared[_REQUESTED] == shared[_DONE]:
        fence(0)
        return
    start = time.ticks_ms()
    while shared[_REQUESTED] != shared[_DONE]:
        if time.ticks_diff(time.ticks_ms(), start) > _PATIENCE:
            raise MpconnxrError("the second core does not answer")
    fence(0)


def _join():
    """Count one more model that needs the second core; start its thread for the first model."""
    if sys.platform not in _PORTS:
        raise UnsupportedError("cores=2: on an RP2040 or RP2350, not on " + sys.platform)
    try:
        from _thread import start_new_thread
    except ImportError:
        raise UnsupportedError("cores=2: this firmware has no _thread")
    if not box[2]:
        shared[_ENDS] = 0
        shared[_DONE] = shared[_REQUESTED]
        box[2] = 1
        _start(start_new_thread)
    box[3] += 1


def _start(start_new_thread):
    began = time.ticks_ms()
    while True:
        try:
            return start_new_thread(_serve, ())
        except OSError:  # a thread that has just ended may still be there
            if time.ticks_diff(time.ticks_ms(), began) > _SHORT:
                box[2] = 0
                raise UnsupportedError("cores=2: another thread is on the second core")


def _leave():
    """Count one model less that needs the second core; end its thread after the last model."""
    _give_up()
    box[3] -= 1
    if box[3] == 0:
        box[0] = None
        shared[_ENDS] = 1
        start = time.ticks_ms()
        while box[2] and time.ticks_diff(time.ticks_ms(), start) < _PATIENCE:
            fence(0)


def _serve():
    """Run the second core's thread."""
    while not shared[_ENDS]:
        try:
            attend(shared, box, run, idle)
        except BaseException as e:
            box[1] = e
            shared[_FAILED] = 1
            shared[_DONE] = shared[_REQUESTED]
    box[2] = 0
