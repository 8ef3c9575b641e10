"""A run on two cores: which steps are cut, and proof that their halves do not meet.

A kernel's step computes any part of its extent, so the first core records step(0, m) and the
second one step(m, n), with scratch of its own. By the declarations of the loops that they call,
neither half writes what the other one reads or writes; a step of which this is not known to hold
is the first core's alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tools.converter.kernel_parameters import declaration_of

from .record import Call, Given, Loop, Recording, Share, Step, Value, record
from .touched import Bytes, meet, merged, touched

MEET = Loop("handover", "meet")
_ALIGNED = 8
_OF_A_CALL = 3000  # instructions around a loop, and before its innermost one
_OF_A_MAC = 5
# Of kernels that work in pieces: the parameter that says how large those are, and of how many
# items each of so many parts of the extent is; the multiply-accumulates of an item.
_PIECES: dict[str, tuple[str, Callable[[Any], tuple[int, int, int]]]] = {}


def _pieces(kernel: str, name: str) -> Callable:
    def declared(function: Callable) -> Callable:
        _PIECES[kernel] = name, function
        return function

    return declared


@_pieces("qconv", "piece")
def _of_qconv(p: Any) -> tuple[int, int, int]:
    return p("n") * p("g"), p("oh") * p("ow"), p("m") * p("c") * p("kh") * p("kw")


@_pieces("wide_conv", "piece")
def _of_wide_conv(p: Any) -> tuple[int, int, int]:
    return _of_qconv(p)


@_pieces("qdepthwise", "planes")
def _of_qdepthwise(p: Any) -> tuple[int, int, int]:
    if p("out_rows") < p("oh") or p("g") == 1:
        return 1, 0, 0
    return p("n"), p("g"), p("m") * p("oh") * p("ow") * p("kh") * p("kw")


@dataclass
class _Plan:
    """What is known of a step. n: its extent; at: where it is cut, 0 if it is not; scratch: of
    the second half, in the arena.
    """

    kernel: str = ""
    n: int = 0
    at: int = 0
    parameters: dict[int, int] = field(default_factory=dict)
    scratch: list[tuple[int, int]] = field(default_factory=list)
    moved: int | None = None


@dataclass
class Pair:
    """What each core does, step by step, with meetings; cut: numbers of the steps of which both do
    a half. more_nbytes: of the arena, for the second core's scratch.
    """

    cores: tuple[Recording, Recording]
    cut: frozenset[int]
    more_nbytes: int


class _Half(Share):
    """core: 0 or 1; plans: by step; is_free: scratch of the second core is where nothing else is,
    behind the arena.
    """

    def __init__(self, core: int, plans: Mapping[int, _Plan], more_nbytes: int, arena: int):
        self._core, self._plans = core, plans
        self.more_nbytes, self._arena = more_nbytes, arena

    def parameters(self, step: int, params: Any) -> Any:
        plan = self._plans.get(step)
        if plan is None or not plan.at or not plan.parameters:
            return params
        made = params[:]
        for i, value in plan.parameters.items():
            made[i] = value
        return made

    def moved(self, step: int, scratch: list[Any]) -> list[int]:
        plan = self._plans.get(step)
        if plan is None or not plan.at or self._core == 0 or not scratch:
            return []
        at = self._arena if plan.moved is None else plan.moved
        found = []
        for t in scratch:
            found.append(at)
            at += -(-t.nbytes // _ALIGNED) * _ALIGNED
        return found

    def part(self, step: int | None, n: int) -> tuple[int, int] | None:
        plan = self._plans.get(step) if step is not None else None
        at = plan.at if plan else 0
        if self._core:
            return (at, n) if at else None
        return (0, at or n)


class _Whole(Share):
    """Notes what steps there are, while one core does all."""

    def __init__(self) -> None:
        self.plans: dict[int, _Plan] = {}

    def parameters(self, step: int, params: Any) -> Any:
        self.plans.setdefault(step, _Plan()).parameters = dict(enumerate(params))
        return params

    def moved(self, step: int, scratch: list[Any]) -> list[int]:
        plan = self.plans.setdefault(step, _Plan())
        plan.scratch = [(t.offset, t.nbytes) for t in scratch]
        return []

    def part(self, step: int | None, n: int) -> tuple[int, int]:
        if step is not None:
            self.plans[step].n = n
        return 0, n


def record_pair(
    data: bytes, has_form: Callable[[str, str], bool], stream: bool = False
) -> Pair | None:
    """A run of a model file on two cores; None if no step of it can be cut. Raises CannotRecord."""
    whole = _Whole()
    one = record(data, has_form, stream, True, whole)
    arena = -(-one.arena_nbytes // _ALIGNED) * _ALIGNED
    kernels = {step.number: step.kernel for step in one.steps if step.number is not None}
    plans = {i: _planned(plan, kernels.get(i) or "") for i, plan in whole.plans.items()}
    plans = {i: plan for i, plan in plans.items() if plan.at}
    if not plans:
        return None
    padding = arena - one.arena_nbytes
    room = padding + max(_room(plan.scratch) for plan in plans.values())
    pair = _recorded(data, has_form, stream, plans, room, arena)
    used = {}
    for i in list(plans):
        a, b = (_step(recording, i) for recording in pair)
        if a is None or b is None or not _are_apart(a, b):
            del plans[i]
        else:
            used[i] = _used(a, plans[i].scratch), _used(b, [(arena, room)])
    if not plans:
        return None
    # Scratch of both halves may lie where the file has it for one, as pieces are smaller.
    for i, (of_a, of_b) in used.items():
        if plans[i].scratch:
            first, nbytes = plans[i].scratch[0][0], _room(plans[i].scratch)
            behind = -(-(first + of_a) // _ALIGNED) * _ALIGNED
            plans[i].moved = behind if behind + of_b <= first + nbytes else arena
    more = max([used[i][1] for i in plans if plans[i].moved == arena], default=0)
    more += padding if more else 0
    pair = _recorded(data, has_form, stream, plans, max(more, room), arena)
    for i in plans:
        a, b = (_step(recording, i) for recording in pair)
        assert a and b and _are_apart(a, b)
    _meet(pair)
    first, second = (replace(r, arena_nbytes=one.arena_nbytes + more) for r in pair)
    return Pair((first, second), frozenset(plans), more)


def _meet(pair: Sequence[Recording]) -> None:
    """Has the cores meet before and behind each step that both do."""
    have_met = True
    for steps in zip(pair[0].steps, pair[1].steps, strict=True):
        is_cut = bool(steps[1].calls)
        for me, step in enumerate(steps, 1):
            if is_cut:
                before = [] if have_met else [_meeting(me)]
                step.calls[:] = [*before, *step.calls, _meeting(me)]
        have_met = is_cut or have_met and not steps[0].calls


def _meeting(me: int) -> Call:
    return Call(MEET, (Given("h"), Given("w"), Value(me), Given("i")), {})


def _recorded(data, has_form, stream, plans, room, arena) -> list[Recording]:
    return [
        record(data, has_form, stream, True, _Half(core, plans, room, arena)) for core in (0, 1)
    ]


def _step(recording: Recording, number: int) -> Step | None:
    found = [step for step in recording.steps if step.number == number and step.calls]
    return found[0] if found else None


def _room(scratch: Iterable[tuple[int, int]]) -> int:
    return sum(-(-nbytes // _ALIGNED) * _ALIGNED for _, nbytes in scratch)


def _used(step: Step, scratch: list[tuple[int, int]]) -> int:
    """Bytes from the scratch's first to the last one that a step touches."""
    low, high = min([s[0] for s in scratch], default=0), max([sum(s) for s in scratch], default=0)
    reach = _Reach(step)
    ends = [r.high for r in (*reach.reads, *reach.writes) if r.memory == "arena" and r.low < high]
    return max([min(end, high) - low for end in ends], default=0)


def _planned(plan: _Plan, kernel: str) -> _Plan:
    """Where a step is to be cut, and in which pieces it works then."""
    words = [plan.parameters[i] for i in sorted(plan.parameters)]
    made = _Plan(kernel, plan.n, -(-plan.n // 2) if plan.n > 1 else 0, {}, plan.scratch)
    name, items_of = _PIECES.get(kernel, ("", None))
    if not items_of:
        return made
    places = declaration_of(kernel).places(words)
    parts, items, macs = items_of(lambda name: words[places[name].at])
    if parts % 2 == 0 or items < 2:
        return made
    at = places[name].at
    piece, count = _best(items, min(words[at], items), macs * _OF_A_MAC)
    made.parameters = {at: piece}
    made.at = (parts - 1) // 2 * -(-items // piece) + count
    return made


def _best(items: int, most: int, of_an_item: int) -> tuple[int, int]:
    """The size of a piece, and how many of them are the first half."""
    found = []
    for piece in range(1, most + 1):
        n = -(-items // piece)
        count = -(-n // 2)
        longest = min(count * piece, items) * of_an_item + count * _OF_A_CALL
        found.append((longest, -piece, count))
    longest, piece, count = min(found)
    return -piece, count



class _Reach:
    """What a step reads and writes. is_known: it is all of that; in ranges, and as a map of the
    arena, of which that is closer.
    """

    def __init__(self, step: Step):
        calls = [touched(call) if isinstance(call, Call) else None for call in step.calls]
        self.is_known = all(calls)
        self._calls = [call for call in calls if call]
        self.reads = merged(r for call in self._calls for r in call.reads)
        self.writes = merged(r for call in self._calls for r in call.writes)

    def maps(self, nbytes: int) -> list[np.ndarray]:
        """Which bytes of the arena it reads, and which it writes."""
        found = []
        for kind in ("reads", "writes"):
            of_kind = np.zeros(nbytes, bool)
            for call in self._calls:
                for r in getattr(call, kind):
                    if r.memory == "arena":
                        of_kind[call.items[r]() if r in call.items else slice(r.low, r.high)] = True
            found.append(of_kind)
        return found

    def outside(self, kind: str) -> list[Bytes]:
        """Ranges of other memories."""
        return [r for r in getattr(self, kind) if r.memory != "arena"]


def _are_apart(a: Step, b: Step) -> bool:
    """Whether neither half writes what the other one reads or writes."""
    one, two = _Reach(a), _Reach(b)
    if not one.is_known or not two.is_known:
        return False
    for kinds in (("writes", "reads"), ("reads", "writes"), ("writes", "writes")):
        if meet(one.outside(kinds[0]), two.outside(kinds[1])):
            return False
    if not meet(one.writes, two.reads + two.writes) and not meet(one.reads, two.writes):
        return True
    nbytes = max(r.high for reach in (one, two) for r in (*reach.reads, *reach.writes))
    (reads_a, writes_a), (reads_b, writes_b) = one.maps(nbytes), two.maps(nbytes)
    return not (writes_a & (reads_b | writes_b) | reads_a & writes_b).any()
