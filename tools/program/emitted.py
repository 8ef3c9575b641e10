"""What stands for mpconnxr.build.calls.Calls while a program is recorded: each call by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .call import Loop

Make = Callable[[Any, tuple, Any, tuple[int, int]], None]


class Unrolled:
    """The calls of a part of a step.

    The step's extent is its units, one after another: the calls of a round of the innermost
    repeat, or of a piece; or an item that parts() gives to one call. What comes before the first
    one is of every part, as it makes what the units need, and so is what comes in a round before
    the repeat in it, of each part with units of that; what comes behind a unit is of its part.

    constants: of the step, a calls.Constants. first, end: the part. If that is empty, calls are
    but counted. make: takes a loop, its arguments, its block, and where the call was emitted: the
    units before it and the calls between these and it, which are the same for a call in each part
    that makes it. has_form: whether the board runs a family of loops in a form.
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
        self._calls, self._block = 0, None  # of the last call
        self._origin = 0, -1
        self._rounds: list[list[_Made]] = []  # calls of the open ones, but for their repeats'

    @property
    def extent(self) -> int:
        """The extent of all that was emitted."""
        return self._n or min(self._calls, 1)

    def place(self, t: Any, code: str | None = None, first: int = 0) -> Any:
        """Return a tensor's items, from the first of them on, as a loop takes them."""
        return (t.data if code is None else t.view(code))[first:]

    def constants(self, code: str, numbers: Iterable[float]) -> Any:
        """Return an array of these numbers as a loop takes it."""
        return self.place(self._constants.tensor(code, numbers), code)

    def hold(self, thing: Any) -> Any:
        """Return what a loop takes as it is."""
        return thing

    def part(self, first: int = 0, last: int | None = None) -> Words:
        """Return what stands for words of a block."""
        return Words(first, last)

    def fpu(self, name: str, exact: str) -> Any:
        """Return the loops of a family for an FPU, or None where the board takes others."""
        return Family(name) if self._has_form(name, "vfp") else None

    def later(self, family: str, name: str) -> Loop:
        """Return a loop that is imported when it is first called."""
        return Loop(family, name, True)

    def drive(self, loop: Any, p: Any, w: list, left: tuple[int, ...] = ()) -> None:
        """Call a loop that calls others, if the call is of this part."""
        p = self._begin(p)
        self._make(loop, (p, w), p)

    def call(self, loop: Any, x: Any, w: Any, out: Any, p: Any) -> None:
        """Call the loop, if the call is of this part."""
        p = self._begin(p)
        # What a loop does not use is another buffer: a number takes more time to hand over.
        any_one = next(a for a in (x, w, out) if a is not None)
        buffers = [any_one if a is None else a for a in (x, w, out)]
        self._make(loop, (*buffers, p), p)

    def _begin(self, p: Any) -> Any:
        """Begin a call, and the unit that it is the first one of; return its block."""
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
        """Go through n rounds."""
        if n < 2:
            yield from range(n)
            return
        for i in range(n):
            self._begins = True
            self._rounds.append([])
            yield i
            self._rounds.pop()

    def pieces(self, n: int, size: int) -> Iterator[tuple[int, int]]:
        """Go through n in pieces of a size, of which the last may be less."""
        for i in self.repeat(-(-n // size)):
            yield i * size, min(size, n - i * size)

    def parts(self, n: int, work: int = 1) -> Iterator[tuple[int, int]]:
        """Give the items of one call that are of this part; behind a call of a round all."""
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
    """Words of a block, from the first one up to the last."""

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
    """A call, which is made once."""

    loop: Any
    arguments: tuple
    p: Any
    origin: tuple[int, int]
    is_made: bool = False

    def make(self, call: Make) -> None:
        if not self.is_made:
            self.is_made = True
            call(self.loop, self.arguments, self.p, self.origin)
