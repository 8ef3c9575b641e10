"""A run on two cores: which steps are cut, and proof that they compute what one core computes.

A kernel's step computes any part of its extent, so the first core does step(0, m) and the second
one step(m, n), with scratch of its own. By the declarations of the loops that they call, neither
half writes what the other one reads or writes. Where this does not hold, as of an output that lies
over the input, it may still hold for parts one after another, between which the cores meet.

The halves are the more even the smaller the pieces in which a kernel works. But the arena lets an
output lie over its input for the file's own pieces, and smaller ones read less before they write:
so no half may read its input where the step has written before. Where that cannot be proved, the
file's own pieces stay. If it cannot be proved of these, the step writes its output beside the
arena, and both cores copy it to its place when they have read all inputs. If not even that holds,
a step is the first core's alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np

from tools.format.layout import STORAGE_ARENA
from tools.loops.parameters import places

from . import overwritten
from .aside import copies, is_written
from .call import UNKNOWN, Call, CannotRecord, Given, Loop, Part, Recording, Step, Value
from .record import Share, record
from .touched import Bytes, meet, merged, touched

MEET = Loop("handover", "meet")
_ALIGNED = 8
_OF_A_CALL = 3000  # instructions around a loop, and before its innermost one
_OF_A_MAC = 5
_MOST_WAVES = 8
_MOST_UNITS = 512  # parts of an extent that are looked at one by one, to make waves of them
_MOST_ASIDE = 2  # an output that is written beside the arena takes a half of that at most
_LEAST, _LEAST_ASIDE = 4, 6  # calls that take as long as a step that is worth being cut
_OF_A_COPY = 8  # bytes that a step touches for each one that it copies then
_OF_A_CHANNEL = 8  # bytes of the table of loops/qdot
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
    """What is known of a step. n: its extent; waves: (first, cut, end) of the parts in which the
    cores share it, none if they do not; channels: where there is one item, how many of its
    channels are the first core's; scratch: (place, bytes) of each; moved: where that of the second
    core begins; output: (place, bytes), None if there is not just one in the arena; is_aside: the
    output is written behind the arena, and copied to its place afterwards.
    """

    kernel: str = ""
    n: int = 0
    waves: list[tuple[int, int, int]] = field(default_factory=list)
    parameters: dict[int, int] = field(default_factory=dict)
    channels: int = 0
    scratch: list[tuple[int, int]] = field(default_factory=list)
    moved: int | None = None
    output: tuple[int, int] | None = None
    is_aside: bool = False


@dataclass
class Pair:
    """What each core does, step by step, with meetings; cut: numbers of the steps of which both do
    a half. more_nbytes: of the arena, for the second core's scratch.
    """

    cores: tuple[Recording, Recording]
    cut: frozenset[int]
    more_nbytes: int


class _Half(Share):
    """core: 0 or 1; plans: by step; arena: where scratch of the second core is, unless planned."""

    def __init__(self, core: int, plans: Mapping[int, _Plan], more_nbytes: int, arena: int):
        self._core, self._plans = core, plans
        self.more_nbytes, self._arena = more_nbytes, arena

    def parameters(self, step: int, params: Any) -> Any:
        plan = self._plans.get(step)
        if plan is None or not plan.parameters:
            return params
        made = params[:]
        for i, value in plan.parameters.items():
            made[i] = value
        return made

    def moved(self, step: int, scratch: list[Any]) -> list[int]:
        plan = self._plans.get(step)
        if plan is None or self._core == 0 or not scratch:
            return []
        at = self._arena + _aside_nbytes(plan) if plan.moved is None else plan.moved
        found = []
        for t in scratch:
            found.append(at)
            at += _aligned(t.nbytes)
        return found

    def moved_outputs(self, step: int, outputs: list[Any]) -> list[int]:
        plan = self._plans.get(step)
        return [self._arena] if plan and plan.is_aside else []

    def parts(self, step: int | None, n: int) -> list[tuple[int, int]]:
        plan = self._plans.get(step) if step is not None else None
        if plan is None:
            return [] if self._core else [(0, n)]
        if plan.channels:
            return [(0, n)]
        return [w[self._core : self._core + 2] for w in plan.waves]

    def meeting(self) -> Call:
        return _meeting(self._core + 1)


class _InTurn(_Half):
    """The same parts, all on one core, in their order."""

    def parts(self, step: int | None, n: int) -> list[tuple[int, int]]:
        plan = self._plans.get(step) if step is not None else None
        return [part for w in plan.waves for part in (w[:2], w[1:])] if plan else []


class _Units(_Half):
    """Each item of a step's extent by itself, or a few of many, and what they do."""

    def parts(self, step: int | None, n: int) -> list[tuple[int, int]]:
        plan = self._plans.get(step) if step is not None else None
        size = _unit(n)
        return [(i, min(i + size, n)) for i in range(0, n, size)] if plan else []


def _unit(n: int) -> int:
    """Return how many items of an extent of n are a unit of waves."""
    return -(-n // _MOST_UNITS)


class _Whole(Share):
    """Notes what steps there are, while one core does all."""

    def __init__(self) -> None:
        self.plans: dict[int, _Plan] = {}

    def parameters(self, step: int, params: Any) -> Any:
        if step in self.plans:
            raise CannotRecord("steps in steps")  # of both, a number says nothing then
        self.plans.setdefault(step, _Plan()).parameters = dict(enumerate(params))
        return params

    def moved(self, step: int, scratch: list[Any]) -> list[int]:
        plan = self.plans.setdefault(step, _Plan())
        plan.scratch = [(t.offset, t.nbytes) for t in scratch]
        return []

    def moved_outputs(self, step: int, outputs: list[Any]) -> list[int]:
        if len(outputs) == 1 and outputs[0].storage == STORAGE_ARENA:
            plan = self.plans.setdefault(step, _Plan())
            plan.output = outputs[0].offset, outputs[0].nbytes
        return []

    def parts(self, step: int | None, n: int) -> list[tuple[int, int]]:
        if step is not None:
            self.plans[step].n = n
        return [(0, n)]


def record_pair(
    data: bytes, has_form: Callable[[str, str], bool], stream: bool = False
) -> Pair | None:
    """A run of a model file on two cores; None if no step of it is cut. Raises CannotRecord."""
    whole = _Whole()
    one = record(data, has_form, stream, whole)
    kernels = {step.number: step.kernel or "" for step in one.steps if step.number is not None}
    arena = _aligned(one.arena_nbytes)
    given = {i: replace(plan, kernel=kernels.get(i, "")) for i, plan in whole.plans.items()}
    aside = {i: replace(p, is_aside=True) for i, p in given.items() if _may_lie_aside(p, arena)}
    room = max(map(_room_of, [*given.values(), *aside.values()]), default=0)
    recorded = _Recorded(data, has_form, stream, room + arena - one.arena_nbytes, arena)
    plans = recorded.proved({i: _planned(plan) for i, plan in given.items()})
    # Smaller pieces may write where a larger one would have read first: the file's own stay then.
    left = {i: given[i] for i in given if i not in plans and _works_in_pieces(given[i])}
    plans |= recorded.proved({i: _in_own_pieces(plan) for i, plan in left.items()})
    plans |= recorded.proved({i: _planned(p) for i, p in aside.items() if i not in plans})
    if not plans:
        return None
    more = _place_scratch(plans, recorded, arena)
    room = more + arena - one.arena_nbytes if more else 0
    placed = recorded.halves(plans)
    assert all(_are_apart(*halves) and _is_in_order(*halves) for halves in placed.values())
    assert all(_ends_before(arena + more, *halves) for halves in placed.values())
    _meet(pair := recorded.pair(plans))
    first, second = (replace(r, arena_nbytes=one.arena_nbytes + room) for r in pair)
    return Pair((first, second), frozenset(plans), room)


@dataclass(frozen=True)
class _Recorded:
    """Records what each core does, with room for its scratch behind the arena."""

    data: bytes
    has_form: Callable[[str, str], bool]
    stream: bool
    room: int
    arena: int

    def _of(self, share: Share) -> Recording:
        return record(self.data, self.has_form, self.stream, share)

    def pair(self, plans: Mapping[int, _Plan]) -> list[Recording]:
        """All that both do."""
        found = [self._of(_Half(core, plans, self.room, self.arena)) for core in (0, 1)]
        for core, recording in enumerate(found):
            for step, plan in _planned_steps(recording, plans):
                if plan.channels:
                    _cut_channels(step.calls, core, plan.channels)
                if plan.is_aside:
                    step.calls += [_meeting(core + 1), *self._copies(step, plan)[core]]
        return found

    def _copies(self, step: Step, plan: _Plan) -> tuple[list[Call], list[Call]]:
        assert plan.output
        return copies(step, self.arena, *plan.output)

    def halves(self, plans: Mapping[int, _Plan]) -> dict[int, tuple[list, list]]:
        """Of each of these steps the calls of both, wave by wave."""
        if not plans:
            return {}
        found = [_by_number(recording) for recording in self.pair(plans)]
        return {i: (found[0][i], found[1][i]) for i in plans}

    def proved(self, plans: dict[int, _Plan]) -> dict[int, _Plan]:
        """Return those of the plans whose halves give what one core gives, with more waves where
        these are needed.
        """
        plans = {i: plan for i, plan in plans.items() if plan.waves}
        apart = {i for i, halves in self.halves(plans).items() if _are_apart(*halves)}
        others = {i: plan for i, plan in plans.items() if i not in apart}
        for i, units in self.units(others).items():
            size, n = _unit(plans[i].n), plans[i].n
            waves = _waves(units, plans[i].scratch)
            plans[i].waves = [tuple(min(at * size, n) for at in wave) for wave in waves]
        plans = {i: plan for i, plan in plans.items() if any(w[1] < w[2] for w in plan.waves)}
        in_turn, halves = self.in_turn(plans), self.halves(plans)
        return {
            i: plan
            for i, plan in plans.items()
            if self._is_proved(plan, halves[i], in_turn[i]) and not _is_small(halves[i], plan)
        }

    def _is_proved(self, plan: _Plan, halves: tuple[list, list], in_turn: list) -> bool:
        behind = self.arena + _aside_nbytes(plan)
        places = plan.scratch, [(behind, _room(plan.scratch))]
        is_own = all(map(_is_on_its_own, halves, places))
        is_same = _are_same(halves, in_turn) and _find_the_same(in_turn, plan.scratch)
        calls = (call for waves in halves for part in waves for call in part)
        is_whole = not plan.is_aside or is_written(calls, self.arena, _output_nbytes(plan))
        is_right = _are_apart(*halves) and _is_in_order(*halves)
        return bool(is_own and (is_same or plan.channels) and is_whole and is_right)

    def is_accepted(self, i: int, plan: _Plan) -> bool:
        """Whether the step's kernel takes its tensors where the plan has them."""
        try:
            self.halves({i: plan})
        except CannotRecord:
            return False
        return True

    def in_turn(self, plans: Mapping[int, _Plan]) -> dict[int, list]:
        """The same calls, first and second half after one another, as one core makes them."""
        if not plans:
            return {}
        recording = self._of(_InTurn(0, plans, self.room, self.arena))
        for step, plan in _planned_steps(recording, plans):
            if plan.is_aside:
                for half in self._copies(step, plan):
                    step.calls += [_meeting(1), *half]
        found = _by_number(recording)
        return {i: found[i] for i in plans}

    def units(self, plans: Mapping[int, _Plan]) -> dict[int, list]:
        """The calls of each item of the extents of these steps."""
        if not plans:
            return {}
        found = _by_number(self._of(_Units(0, plans, self.room, self.arena)))
        return {i: found[i] for i in plans}


def _by_number(recording: Recording) -> dict[int, list[list[Call]]]:
    """The calls of steps from meeting to meeting."""
    found: dict[int, list[list[Call]]] = {}
    for step in recording.steps:
        if step.number is not None:
            waves = found[step.number] = [[]]
            for call in step.calls:
                if isinstance(call, Call) and call.loop == MEET:
                    waves.append([])
                else:
                    waves[-1].append(call)
    return found


def _planned_steps(
    recording: Recording, plans: Mapping[int, _Plan]
) -> Iterator[tuple[Step, _Plan]]:
    for step in recording.steps:
        plan = plans.get(step.number) if step.number is not None else None
        if plan:
            yield step, plan


def _aligned(nbytes: int) -> int:
    return -(-nbytes // _ALIGNED) * _ALIGNED


def _place_scratch(plans: Mapping[int, _Plan], recorded: _Recorded, arena: int) -> int:
    """Place the second core's scratch.

    Scratch of both may lie where the file has it for one, as pieces are smaller.

    Returns:
        How many bytes are needed behind the arena.

    """
    more = 0
    for i, (one, two) in recorded.halves(plans).items():
        plan = plans[i]
        aside = _aside_nbytes(plan)
        more = max(more, aside)
        if not plan.scratch:
            continue
        first, nbytes = plan.scratch[0][0], _room(plan.scratch)
        of_one = max(_used(calls, first, nbytes) for calls in one)
        of_two = max(_used(calls, arena + aside, nbytes) for calls in two)
        behind = _aligned(first + of_one)
        plan.moved = behind
        lies_behind = len(plan.scratch) == 1 and behind + of_two <= first + nbytes
        if not (lies_behind and recorded.is_accepted(i, plan)):
            plan.moved = None
            more = max(more, aside + of_two)
    return more


def _used(calls: list, first: int, nbytes: int) -> int:
    """Bytes of scratch from its first to the last one that is touched."""
    reach, high = _Reach(calls), first + nbytes
    ends = [r.high for r in (*reach.reads, *reach.writes) if r.memory == "arena" and r.low < high]
    return max([min(end, high) - first for end in ends if end > first], default=0)


def _room(scratch: Iterable[tuple[int, int]]) -> int:
    return sum(_aligned(nbytes) for _, nbytes in scratch)


def _waves(units: list, scratch: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Parts of an extent whose halves are apart, as many as there have to be; none where that is
    unknown or takes too many.
    """
    reaches = [_Reach(calls) for calls in units]
    if not all(r.is_known for r in reaches):
        return []
    nbytes = max(r.high for reach in reaches for r in (*reach.reads, *reach.writes))
    maps = [reach.maps(nbytes) for reach in reaches]
    for each in (m for pair in maps for m in pair):
        for at, n in scratch:  # each core has its own
            each[at : at + n] = False
    reads, writes = (np.array(kind) for kind in zip(*maps, strict=True))

    def is_cut(first: int, end: int) -> bool:
        at = (first + end + 1) // 2
        one, two = slice(first, at), slice(at, end)
        read, written = reads[two].any(0), writes[two].any(0)
        both = writes[one].any(0) & (read | written) | reads[one].any(0) & written
        return not both.any()

    found: list[tuple[int, int, int]] = []
    first, n = 0, len(units)
    while first < n:
        low, high = first + 1, n  # the largest end, as what is longer meets sooner
        while low < high:
            end = (low + high + 1) // 2
            low, high = (end, high) if is_cut(first, end) else (low, end - 1)
        if low == first + 1 and found and found[-1][1] == found[-1][2]:
            found[-1] = found[-1][0], low, low
        else:
            found.append((first, (first + low + 1) // 2, low))
        first = low
    return found if len(found) <= _MOST_WAVES else []


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


def _works_in_pieces(plan: _Plan) -> bool:
    """Return True if the kernel of a step has a parameter that says how large its pieces are."""
    return plan.kernel in _PIECES


def _in_own_pieces(plan: _Plan) -> _Plan:
    """Return the plan of a step that is cut in the middle of the pieces that the file has."""
    waves = _halves(-(-plan.n // 2), plan.n)
    return replace(plan, waves=waves, parameters={}, channels=0, moved=None)


def _planned(plan: _Plan) -> _Plan:
    """Where a step is to be cut, and in which pieces it works then."""
    words = [plan.parameters[i] for i in sorted(plan.parameters)]
    made = _in_own_pieces(plan)
    if not _works_in_pieces(plan):
        return made
    name, items_of = _PIECES[plan.kernel]
    module = import_module(f"mpconnxr.ops.{plan.kernel}")

    def place(name: str) -> int:
        return int(getattr(module, f"_{name.upper()}"))

    parts, items, macs = items_of(lambda name: words[place(name)])
    if parts == items == 1 and plan.kernel == "qconv":
        made.channels = (words[place("m")] // 2 + 2) & -4
        made.waves = [(0, 1, 2)] if 0 < made.channels < words[place("m")] else []
        return made
    if parts % 2 == 0 or items < 2:
        return made
    at = place(name)
    piece, count = _best(items, min(words[at], items), macs * _OF_A_MAC)
    made.parameters = {at: piece}
    pieces = -(-items // piece)
    made.n = parts * pieces
    made.waves = _halves((parts - 1) // 2 * pieces + count, made.n)
    return made


def _cut_channels(calls: Iterable[Any], core: int, channels: int) -> None:
    """Has the loops of loops/qdot compute the first channels alone, or those behind them."""
    for call in calls:
        if not isinstance(call, Call) or call.loop.family not in ("qdot", "qdot32"):
            continue
        [block] = [a.block for a in call.arguments if isinstance(a, Part)]
        p, at = call.words[block], places(call.loop.family, call.loop.name)
        if core == 0:
            p[at["channels"]] = channels
            continue
        p[at["w_start"]] += channels * p[at["columns"]]
        p[at["table_start"]] += _OF_A_CHANNEL * channels
        p[at["channels"]] -= channels
        p[at["out_start"]] += channels * p[at["out_channel_stride"]]


def _output_nbytes(plan: _Plan) -> int:
    return plan.output[1] if plan.output else 0


def _aside_nbytes(plan: _Plan) -> int:
    """Return the bytes behind the arena that a step's output takes, if it is written there."""
    return _aligned(_output_nbytes(plan)) if plan.is_aside else 0


def _room_of(plan: _Plan) -> int:
    """Return the bytes behind the arena that a step takes at most."""
    return _aside_nbytes(plan) + _room(plan.scratch)


def _may_lie_aside(plan: _Plan, arena: int) -> bool:
    """Return True if a step's output is small enough to be written beside the arena."""
    return 0 < _output_nbytes(plan) * _MOST_ASIDE <= arena


def _ends_before(end: int, *halves: list) -> bool:
    """Return True if no call touches anything in the arena behind this."""
    reaches = [_Reach(calls) for waves in halves for calls in waves]
    ranges = [r for reach in reaches for r in (*reach.reads, *reach.writes)]
    return all(r.high <= end for r in ranges if r.memory == "arena")


def _halves(at: int, n: int) -> list[tuple[int, int, int]]:
    return [(0, at, n)] if at < n else []


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
    """What calls read and write. is_known: it is all of that; in ranges, and as a map of the
    arena, of which that is closer.
    """

    def __init__(self, calls: Iterable[Any]):
        found = [touched(call) if isinstance(call, Call) else None for call in calls]
        self.is_known = all(call is not None for call in found)
        self._calls = [call for call in found if call is not None]
        self.reads = merged(r for call in self._calls for r in call.reads)
        self.writes = merged(r for call in self._calls for r in call.writes)

    def maps(self, nbytes: int) -> list[np.ndarray]:
        """Which bytes of the arena are read, and which are written."""
        found = []
        for kind in ("reads", "writes"):
            of_kind = np.zeros(nbytes, bool)
            for call in self._calls:
                for r in getattr(call, kind):
                    if r.memory == "arena":
                        of_kind[call.bytes_of(r)] = True
            found.append(of_kind)
        return found

    def outside(self, kind: str) -> list[Bytes]:
        """Ranges of other memories."""
        return [r for r in getattr(self, kind) if r.memory != "arena"]


def _is_on_its_own(waves: Iterable[list], scratch: list[tuple[int, int]]) -> bool:
    """Return whether a core reads nothing of its scratch that it has not written in the same part:
    what another part has left there, the other core may have.
    """
    is_scratch = _map_of(scratch, max([at + n for at, n in scratch], default=0))
    for calls in waves:
        unwritten = is_scratch.copy()
        for call in calls:
            found = touched(call) if isinstance(call, Call) else None
            if found is None:
                return False
            for r in found.reads:
                if r.memory == "arena" and unwritten[r.low : r.high].any():
                    return False
            for r in found.writes:
                if r.memory == "arena":
                    unwritten[r.low : r.high] = False
    return True


def _map_of(scratch: list[tuple[int, int]], nbytes: int) -> np.ndarray:
    """Return which of so many bytes of the arena are scratch."""
    made = np.zeros(nbytes, bool)
    for at, n in scratch:
        made[at : at + n] = True
    return made


def _are_same(halves: tuple[list, list], in_turn: list) -> bool:
    """Whether the cores' calls have the parameters that one core's have: none depends on what
    loops have written to parameters in another part.
    """
    parts = [part for wave in zip(*halves, strict=True) for part in wave]
    return [[_words(c) for c in p] for p in parts] == [[_words(c) for c in p] for p in in_turn]


def _find_the_same(parts: list, scratch: list[tuple[int, int]]) -> bool:
    """Return whether each call finds in the scratch what the same one finds on one core.

    A part begins with calls that an earlier one made as well, as of an initial state. What such a
    call wrote is no longer there on one core where another call has written since.

    Args:
        parts: the calls of each, in the order in which one core makes them.
        scratch: (place, bytes) of each.

    """
    every = _Reach(call for calls in parts for call in calls)
    nbytes = max((r.high for r in (*every.reads, *every.writes)), default=0)
    is_scratch = _map_of(scratch, nbytes)
    on_one_core = np.full(nbytes, -1)  # the call that has written each byte
    known: dict[tuple, tuple[int, np.ndarray]] = {}  # its number, and what its reads had written
    for calls in parts:
        in_part = np.full(nbytes, -1)
        before = {*known}
        for call in calls:
            if not isinstance(call, Call) or call.origin is None:
                continue
            reads, writes = (m & is_scratch for m in _Reach([call]).maps(nbytes))
            key = call.origin, tuple(map(tuple, _words(call)))
            if key not in before:
                known[key] = len(known), on_one_core[reads]
                on_one_core[writes] = known[key][0]
            number, found = known[key]
            if not np.array_equal(in_part[reads], found):
                return False
            in_part[writes] = number
    return True


def _words(call: Any) -> list:
    return [[id(w) if w is UNKNOWN else w for w in words] for words in call.words.values()]


def _is_small(halves: Iterable[list], plan: _Plan) -> bool:
    """Return True if the meetings, and copies, take about as long as a step does.

    Each byte that a step touches counts as a product.
    """
    calls = [touched(call) for half in halves for calls in half for call in calls]
    ranges = [r for call in calls if call for r in (*call.reads, *call.writes)]
    nbytes = sum(r.high - r.low for r in ranges)
    if plan.is_aside:
        is_quick = nbytes < _output_nbytes(plan) * _OF_A_COPY
        return is_quick or nbytes * _OF_A_MAC < _LEAST_ASIDE * _OF_A_CALL
    return nbytes * _OF_A_MAC < _LEAST * _OF_A_CALL


def _is_in_order(one: list, two: list) -> bool:
    """Return True if no call of a step reads its input where an earlier one has written.

    Args:
        one: the first core's calls, wave by wave.
        two: those of the second core. Within a wave both are apart, so the order in which the
            cores make them does not matter.

    """
    waves = zip(one, two, strict=True)
    return overwritten.is_proved(call for wave in waves for half in wave for call in half)


def _are_apart(one: list, two: list) -> bool:
    """Whether in no wave a half writes what the other one reads or writes."""
    return all(map(_are_calls_apart, one, two))


def _are_calls_apart(of_one: list, of_two: list) -> bool:
    one, two = _Reach(of_one), _Reach(of_two)
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
