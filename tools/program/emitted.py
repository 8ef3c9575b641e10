"""Receive the calls that kernels emit, one by one, while a program is recorded.

Unrolled has the methods of mpconnxr.build.calls.Calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .call import Loop

Make = Callable[[Any, tuple, Any, tuple[int, int]], None]


class Unrolled:
    """Calls of one part of a step.

    The step's extent consists of units, one after another: a unit is the calls of a round of the
    innermost repeat, or of a chunk, or an element that parts() gives to one call. Calls before the
    first unit belong to every part, since they prepare the units. So do calls in a round before
    the repeat in it, for each part with units of that round. Calls behind a unit belong to the
    unit's part.

    Args:
        constants: constants of the step, a calls.Constants.
        first: first unit of the part.
        end: end of the part; if it equals first, calls are only counted.
        make: takes a loop, its arguments, its block, and the call's origin: the number of units
            before it, and of calls since the last unit. The origin is the same in each part.
        has_form: returns True if the board runs a family of loops in a form.
    """

    def __init__(
        self,
        constants: Any,
        first: int,
        end: int,
        make: Make,
        has_form: Callable[[str, str], bool],
    ):
        self._constants, self._call, self._has_form = constants, make, has_form
        self._first, self._end = first, end
        self._is_ours, self._begins, self._n = first < end, False, 0
        self._calls, self._block = 0, None  # block of the last call
        self._origin = 0, -1
        self._rounds: list[list[_Made]] = []  # calls of open rounds, without inner ones

    @property
    def extent(self) -> int:
        """The step's extent: its number of units, or 1 for calls without units."""
        return self._n or min(self._calls, 1)

    def place(self, t: Any, code: str | None = None, first: int = 0) -> Any:
        """Return a tensor's elements from `first` on, as a loop takes them."""
        return (t.data if code is None else t.view(code))[first:]

    def constants(self, code: str, numbers: Iterable[float]) -> Any:
        """Return an array of numbers as a loop takes it."""
        return self.place(self._constants.tensor(code, numbers), code)

    def hold(self, thing: Any) -> Any:
        """Return an object that a loop takes as it is."""
        return thing

    def part(self, first: int = 0, last: int | None = None) -> Words:
        """Return a placeholder for words of a parameter block."""
        return Words(first, last)

    def fpu(self, name: str, exact: str) -> Any:
        """Return the loops of a family for an FPU; None if the board takes others."""
        return Family(name) if self._has_form(name, "vfp") else None

    def later(self, family: str, name: str) -> Loop:
        """Return a loop that is imported when it is first called."""
        return Loop(family, name, True)

    def drive(self, loop: Any, p: Any, w: list, left: tuple[int, ...] = ()) -> None:
        """Record a call of a driver, a loop that calls others, if it belongs to the part.

        Args:
            loop: the driver.
            p: its parameter block; None for that of the last call.
            w: the list that it takes.
            left: indices of words that it may change; not used here.
        """
        p = self._begin(p)
        self._make(loop, (p, w), p)

    def call(self, loop: Any, x: Any, w: Any, out: Any, p: Any) -> None:
        """Record a call of a loop, if it belongs to the part.

        Args:
            loop: the loop.
            x: its first buffer; None if the loop does not use it, likewise w and out.
            w: its second buffer.
            out: its third buffer.
            p: its parameter block; None for that of the last call.
        """
        p = self._begin(p)
        # An unused argument is another buffer: passing a number would take more time.
        any_one = next(a for a in (x, w, out) if a is not None)
        buffers = [any_one if a is None else a for a in (x, w, out)]
        self._make(loop, (*buffers, p), p)

    def _begin(self, p: Any) -> Any:
        """Begin a call, and its unit if it is the first call of one; return its block."""
        if p is None:
            return self._block
        self._calls += 1
        self._block = p
        if self._begins:
            self._begins, self._is_ours = False, self._first <= self._n < self._end
            self._n += 1
        return p

    def _make(self, loop: Any, arguments: tuple, p: Any) -> None:
        unit, nth = self._origin
        self._origin = self._n, nth + 1 if unit == self._n else 0
        made = _Made(loop, arguments, p, self._origin)
        if self._is_ours:
            for earlier in [each for calls in self._rounds[:-1] for each in calls]:
                earlier.make(self._call)
            made.make(self._call)
        if self._rounds:
            self._rounds[-1].append(made)

    def repeat(self, n: int) -> Iterator[int]:
        """Yield 0 to n - 1; the calls of each round are emitted on their own, as a unit.

        calls.Calls.repeat emits the calls of all rounds at once.
        """
        if n < 2:
            yield from range(n)
            return
        for i in range(n):
            self._begins = True
            self._rounds.append([])
            yield i
            self._rounds.pop()

    def pieces(self, n: int, size: int) -> Iterator[tuple[int, int]]:
        """Yield (start, size) of chunks of n; the last one may be smaller."""
        for i in self.repeat(-(-n // size)):
            yield i * size, min(size, n - i * size)

    def parts(self, n: int, work: int = 1) -> Iterator[tuple[int, int]]:
        """Yield the range of the n elements that belongs to the part.

        After a call in the same round, all elements belong to the unit of that call.
        """
        if self._rounds and self._rounds[-1]:
            if n:
                yield 0, n
            return
        at, self._begins = self._n, False
        self._n += n
        low, high = max(self._first - at, 0), min(self._end - at, n)
        self._is_ours = low < high
        if low < high:
            yield low, high
        elif self._first == self._end:
            yield 0, n


@dataclass(frozen=True)
class Words:
    """Words first to last - 1 of a parameter block."""

    first: int
    last: int | None


class Family:
    """A family of loops that this computer cannot import."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Loop:
        return Loop(self._name, name)


@dataclass
class _Made:
    """A call, which is made at most once."""

    loop: Any
    arguments: tuple
    p: Any
    origin: tuple[int, int]
    is_made: bool = False

    def make(self, call: Make) -> None:
        if not self.is_made:
            self.is_made = True
            call(self.loop, self.arguments, self.p, self.origin)
