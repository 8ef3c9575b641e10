"""Divide a run between two cores, with proof that they compute what one core computes.

A kernel's step computes any part of its extent: the first core does step(0, m), the second one
step(m, n), with scratch of its own. By the declarations of the loops, neither half writes what the
other one reads or writes. Where this does not hold, as for an output that lies over the input, it
may still hold for waves: parts one after another, between which the cores meet.

The halves are the more even the smaller the chunks in which a kernel works. But the arena lets an
output lie over its input for the file's own chunks, and smaller ones read less before they write:
so no half may read its input where the step has written before. If that cannot be proved, the
file's own chunks stay. If it cannot be proved for these either, the step writes its output behind
the arena, and both cores copy it back when they have read all inputs. If not even that holds, the
first core runs the step alone.
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
from .call import (
    UNKNOWN,
    Call,
    CannotRecord,
    Loop,
    Part,
    Recording,
    StartArgument,
    StepCalls,
    Value,
)
from .output_copies import copies, is_written
from .record import Share, record
from .touched import Bytes, meet, merged, touched

MEET = Loop("handover", "meet")
_ALIGNED = 8
_CALL_INSTRUCTIONS = 3000  # instructions of a call outside of its innermost loop
_MAC_INSTRUCTIONS = 5
_MAX_WAVES = 8
_MAX_UNITS = 512  # units of an extent from which waves are formed
_MAX_COPIED_SHARE = 2  # an output behind the arena takes at most 1/2 of the arena's size
_MIN_CALLS, _MIN_CALLS_COPIED = 4, 6  # duration of a step that is worth sharing, in calls
_ACCESSES_PER_COPY = 8  # bytes that a step must access per byte of its copied output
_CHANNEL_NBYTES = 8  # bytes of a channel in the table of loops/qdot


def _conv_sizes(p: Any) -> tuple[int, int, int]:
    return p("n") * p("g"), p("oh") * p("ow"), p("m") * p("c") * p("kh") * p("kw")


def _depthwise_sizes(p: Any) -> tuple[int, int, int]:
    if p("out_rows") < p("oh") or p("g") == 1:
        return 1, 0, 0
    return p("n"), p("g"), p("m") * p("oh") * p("ow") * p("kh") * p("kw")


# Kernels that work in chunks: the parameter with their size, and a function of the parameters
# that returns the number of parts of the extent, elements of a part, and MACs of an element.
_CHUNKS: dict[str, tuple[str, Callable[[Any], tuple[int, int, int]]]] = {
    "qconv": ("piece", _conv_sizes),
    "wide_conv": ("piece", _conv_sizes),
    "qdepthwise": ("planes", _depthwise_sizes),
}


@dataclass
class _Plan:
    """How two cores share a step.

    Attributes:
        kernel: kernel of the step.
        n: extent of the step.
        waves: (first, cut, end) of parts of the extent: the first core computes first to cut, the
            second one cut to end, then both meet. Empty if they share nothing.
        parameters: {index: value} of parameters that are changed.
        channels: for an extent of 1, the number of channels that the first core computes.
        scratch: (offset, bytes) of each scratch tensor.
        moved: offset of the second core's scratch, None if it is behind the arena.
        output: (offset, bytes) of the only output in the arena, else None.
        is_copied: True if the output is written behind the arena, and copied back.
    """

    kernel: str = ""
    n: int = 0
    waves: list[tuple[int, int, int]] = field(default_factory=list)
    parameters: dict[int, int] = field(default_factory=dict)
    channels: int = 0
    scratch: list[tuple[int, int]] = field(default_factory=list)
    moved: int | None = None
    output: tuple[int, int] | None = None
    is_copied: bool = False


@dataclass
class Pair:
    """The calls of both cores.

    Attributes:
        cores: recording of each core, with meetings.
        cut: numbers of the steps that both cores share.
        more_nbytes: bytes added to the arena, for the second core's scratch.
    """

    cores: tuple[Recording, Recording]
    cut: frozenset[int]
    more_nbytes: int


class _Half(Share):
    """The half of each planned step that one core computes.

    Args:
        core: 0 or 1.
        plans: plan by step; the first core computes all other steps.
        more_nbytes: bytes added to the arena.
        arena: offset of the second core's scratch, unless planned.
    """

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
        at = self._arena + _copied_nbytes(plan) if plan.moved is None else plan.moved
        offsets = []
        for t in scratch:
            offsets.append(at)
            at += _aligned(t.nbytes)
        return offsets

    def moved_outputs(self, step: int, outputs: list[Any]) -> list[int]:
        plan = self._plans.get(step)
        return [self._arena] if plan and plan.is_copied else []

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
    """Record the parts of both cores on one core, one after another."""

    def parts(self, step: int | None, n: int) -> list[tuple[int, int]]:
        plan = self._plans.get(step) if step is not None else None
        return [part for w in plan.waves for part in (w[:2], w[1:])] if plan else []


class _Units(_Half):
    """Record each unit of a planned step's extent as a part, to see what every unit accesses."""

    def parts(self, step: int | None, n: int) -> list[tuple[int, int]]:
        plan = self._plans.get(step) if step is not None else None
        size = _unit(n)
        return [(i, min(i + size, n)) for i in range(0, n, size)] if plan else []


def _unit(n: int) -> int:
    """Return how many elements of an extent of n form one unit of waves."""
    return -(-n // _MAX_UNITS)


class _Whole(Share):
    """Collect the steps' properties, while one core runs all."""

    def __init__(self) -> None:
        self.plans: dict[int, _Plan] = {}

    def parameters(self, step: int, params: Any) -> Any:
        if step in self.plans:
            raise CannotRecord("nested steps")  # their numbers are ambiguous
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
    """Record a run of a model file on two cores.

    Args:
        data: the model file.
        has_form: returns True if the board runs a family of loops in a form.
        stream: weights are read while it runs.

    Returns:
        The recordings; None if no step can be shared.

    Raises:
        CannotRecord: if the model cannot be a program.
    """
    whole = _Whole()
    one = record(data, has_form, stream, whole)
    kernels = {step.number: step.kernel or "" for step in one.steps if step.number is not None}
    arena = _aligned(one.arena_nbytes)
    own = {i: replace(plan, kernel=kernels.get(i, "")) for i, plan in whole.plans.items()}
    copied = {i: replace(p, is_copied=True) for i, p in own.items() if _may_be_copied(p, arena)}
    more_nbytes = max(map(_extra_nbytes, [*own.values(), *copied.values()]), default=0)
    recorded = _Recorded(data, has_form, stream, more_nbytes + arena - one.arena_nbytes, arena)
    plans = recorded.proved({i: _cut(plan) for i, plan in own.items()})
    # Smaller chunks may write where a larger one would have read first: keep the file's own.
    remaining = {i: own[i] for i in own if i not in plans and _works_in_chunks(own[i])}
    plans |= recorded.proved({i: _in_own_chunks(plan) for i, plan in remaining.items()})
    plans |= recorded.proved({i: _cut(p) for i, p in copied.items() if i not in plans})
    if not plans:
        return None
    more = _place_scratch(plans, recorded, arena)
    more_nbytes = more + arena - one.arena_nbytes if more else 0
    placed = recorded.halves(plans)
    assert all(_are_independent(*halves) and _is_in_order(*halves) for halves in placed.values())
    assert all(_ends_before(arena + more, *halves) for halves in placed.values())
    _insert_meetings(pair := recorded.pair(plans))
    first, second = (replace(r, arena_nbytes=one.arena_nbytes + more_nbytes) for r in pair)
    return Pair((first, second), frozenset(plans), more_nbytes)


@dataclass(frozen=True)
class _Recorded:
    """Record the calls of each core under given plans.

    Attributes:
        more_nbytes: bytes added to the arena.
        arena: offset behind the file's own arena.
    """

    data: bytes
    has_form: Callable[[str, str], bool]
    stream: bool
    more_nbytes: int
    arena: int

    def _of(self, share: Share) -> Recording:
        return record(self.data, self.has_form, self.stream, share)

    def pair(self, plans: Mapping[int, _Plan]) -> list[Recording]:
        """Record the calls of both cores."""
        recordings = [
            self._of(_Half(core, plans, self.more_nbytes, self.arena)) for core in (0, 1)
        ]
        for core, recording in enumerate(recordings):
            for step, plan in _steps_with_plans(recording, plans):
                if plan.channels:
                    _cut_channels(step.calls, core, plan.channels)
                if plan.is_copied:
                    step.calls += [_meeting(core + 1), *self._copies(step, plan)[core]]
        return recordings

    def _copies(self, step: StepCalls, plan: _Plan) -> tuple[list[Call], list[Call]]:
        assert plan.output
        return copies(step, self.arena, *plan.output)

    def halves(self, plans: Mapping[int, _Plan]) -> dict[int, tuple[list, list]]:
        """Return {step: (calls of the first core, of the second)}, each wave by wave."""
        if not plans:
            return {}
        both = [_by_number(recording) for recording in self.pair(plans)]
        return {i: (both[0][i], both[1][i]) for i in plans}

    def proved(self, plans: dict[int, _Plan]) -> dict[int, _Plan]:
        """Return the plans for which both cores provably compute what one core computes.

        A plan whose halves depend on each other gets more waves first.
        """
        plans = {i: plan for i, plan in plans.items() if plan.waves}
        apart = {i for i, halves in self.halves(plans).items() if _are_independent(*halves)}
        others = {i: plan for i, plan in plans.items() if i not in apart}
        for i, units in self.units(others).items():
            size, n = _unit(plans[i].n), plans[i].n
            waves = _divide_into_waves(units, plans[i].scratch)
            plans[i].waves = [tuple(min(at * size, n) for at in wave) for wave in waves]
        plans = {i: plan for i, plan in plans.items() if any(w[1] < w[2] for w in plan.waves)}
        in_turn, halves = self.in_turn(plans), self.halves(plans)
        return {
            i: plan
            for i, plan in plans.items()
            if self._is_proved(plan, halves[i], in_turn[i]) and not _is_too_small(halves[i], plan)
        }

    def _is_proved(self, plan: _Plan, halves: tuple[list, list], in_turn: list) -> bool:
        behind = self.arena + _copied_nbytes(plan)
        places = plan.scratch, [(behind, _scratch_nbytes(plan.scratch))]
        is_own = all(map(_reads_own_scratch, halves, places))
        is_same = _have_same_parameters(halves, in_turn) and _find_same_scratch(
            in_turn, plan.scratch
        )
        calls = (call for waves in halves for part in waves for call in part)
        is_whole = not plan.is_copied or is_written(calls, self.arena, _output_nbytes(plan))
        is_right = _are_independent(*halves) and _is_in_order(*halves)
        return bool(is_own and (is_same or plan.channels) and is_whole and is_right)

    def is_accepted(self, i: int, plan: _Plan) -> bool:
        """Return True if the step's kernel accepts its tensors where the plan places them."""
        try:
            self.halves({i: plan})
        except CannotRecord:
            return False
        return True

    def in_turn(self, plans: Mapping[int, _Plan]) -> dict[int, list]:
        """Return the calls of both halves in the order in which one core makes them, by step."""
        if not plans:
            return {}
        recording = self._of(_InTurn(0, plans, self.more_nbytes, self.arena))
        for step, plan in _steps_with_plans(recording, plans):
            if plan.is_copied:
                for half in self._copies(step, plan):
                    step.calls += [_meeting(1), *half]
        waves = _by_number(recording)
        return {i: waves[i] for i in plans}

    def units(self, plans: Mapping[int, _Plan]) -> dict[int, list]:
        """Return the calls of each unit of the steps' extents."""
        if not plans:
            return {}
        waves = _by_number(self._of(_Units(0, plans, self.more_nbytes, self.arena)))
        return {i: waves[i] for i in plans}


def _by_number(recording: Recording) -> dict[int, list[list[Call]]]:
    """Return the calls of each step, divided at meetings."""
    result: dict[int, list[list[Call]]] = {}
    for step in recording.steps:
        if step.number is not None:
            waves = result[step.number] = [[]]
            for call in step.calls:
                if isinstance(call, Call) and call.loop == MEET:
                    waves.append([])
                else:
                    waves[-1].append(call)
    return result


def _steps_with_plans(
    recording: Recording, plans: Mapping[int, _Plan]
) -> Iterator[tuple[StepCalls, _Plan]]:
    for step in recording.steps:
        plan = plans.get(step.number) if step.number is not None else None
        if plan:
            yield step, plan


def _aligned(nbytes: int) -> int:
    return -(-nbytes // _ALIGNED) * _ALIGNED


def _place_scratch(plans: Mapping[int, _Plan], recorded: _Recorded, arena: int) -> int:
    """Choose where each plan has the second core's scratch.

    Both cores' scratch may fit where the file has scratch for one core, as their parts are
    smaller.

    Returns:
        Bytes needed behind the arena.
    """
    more = 0
    for i, (one, two) in recorded.halves(plans).items():
        plan = plans[i]
        output_nbytes = _copied_nbytes(plan)
        more = max(more, output_nbytes)
        if not plan.scratch:
            continue
        first, nbytes = plan.scratch[0][0], _scratch_nbytes(plan.scratch)
        of_one = max(_used_nbytes(calls, first, nbytes) for calls in one)
        of_two = max(_used_nbytes(calls, arena + output_nbytes, nbytes) for calls in two)
        behind = _aligned(first + of_one)
        plan.moved = behind
        lies_behind = len(plan.scratch) == 1 and behind + of_two <= first + nbytes
        if not (lies_behind and recorded.is_accepted(i, plan)):
            plan.moved = None
            more = max(more, output_nbytes + of_two)
    return more


def _used_nbytes(calls: list, first: int, nbytes: int) -> int:
    """Return the number of bytes of scratch up to the last one that calls access.

    Args:
        calls: the calls.
        first: offset of the scratch in the arena.
        nbytes: size of the scratch.
    """
    reach, high = _Reach(calls), first + nbytes
    ends = [r.high for r in (*reach.reads, *reach.writes) if r.memory == "arena" and r.low < high]
    return max([min(end, high) - first for end in ends if end > first], default=0)


def _scratch_nbytes(scratch: Iterable[tuple[int, int]]) -> int:
    return sum(_aligned(nbytes) for _, nbytes in scratch)


def _divide_into_waves(units: list, scratch: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Divide an extent into as few waves as possible whose halves are independent.

    Returns:
        (first, cut, end) of each wave; none if calls are unknown, or too many waves are needed.
    """
    reaches = [_Reach(calls) for calls in units]
    if not all(r.is_known for r in reaches):
        return []
    nbytes = max(r.high for reach in reaches for r in (*reach.reads, *reach.writes))
    maps = [reach.maps(nbytes) for reach in reaches]
    for each in (m for pair in maps for m in pair):
        for at, n in scratch:  # each core has scratch of its own
            each[at : at + n] = False
    reads, writes = (np.array(kind) for kind in zip(*maps, strict=True))

    def is_cut(first: int, end: int) -> bool:
        at = (first + end + 1) // 2
        one, two = slice(first, at), slice(at, end)
        read, written = reads[two].any(0), writes[two].any(0)
        both = writes[one].any(0) & (read | written) | reads[one].any(0) & written
        return not both.any()

    result: list[tuple[int, int, int]] = []
    first, n = 0, len(units)
    while first < n:
        low, high = first + 1, n  # binary search for the largest end
        while low < high:
            end = (low + high + 1) // 2
            low, high = (end, high) if is_cut(first, end) else (low, end - 1)
        if low == first + 1 and result and result[-1][1] == result[-1][2]:
            result[-1] = result[-1][0], low, low
        else:
            result.append((first, (first + low + 1) // 2, low))
        first = low
    return result if len(result) <= _MAX_WAVES else []


def _insert_meetings(pair: Sequence[Recording]) -> None:
    """Insert a meeting of the cores before and after each step that both share."""
    have_met = True
    for steps in zip(pair[0].steps, pair[1].steps, strict=True):
        is_cut = bool(steps[1].calls)
        for me, step in enumerate(steps, 1):
            if is_cut:
                before = [] if have_met else [_meeting(me)]
                step.calls[:] = [*before, *step.calls, _meeting(me)]
        have_met = is_cut or have_met and not steps[0].calls


def _meeting(me: int) -> Call:
    return Call(MEET, (StartArgument("h"), StartArgument("w"), Value(me), StartArgument("i")), {})


def _works_in_chunks(plan: _Plan) -> bool:
    """Return True if a step's kernel has a parameter for the size of its chunks."""
    return plan.kernel in _CHUNKS


def _in_own_chunks(plan: _Plan) -> _Plan:
    """Return the plan of a step that is cut in the middle of the file's own chunks."""
    waves = _halves(-(-plan.n // 2), plan.n)
    return replace(plan, waves=waves, parameters={}, channels=0, moved=None)


def _cut(plan: _Plan) -> _Plan:
    """Return the plan of a step with its cut, and with the chunks that make the halves even."""
    words = [plan.parameters[i] for i in sorted(plan.parameters)]
    made = _in_own_chunks(plan)
    if not _works_in_chunks(plan):
        return made
    name, sizes_of = _CHUNKS[plan.kernel]
    module = import_module(f"mpconnxr.ops.{plan.kernel}")

    def place(name: str) -> int:
        return int(getattr(module, f"_{name.upper()}"))

    parts, n_elements, macs = sizes_of(lambda name: words[place(name)])
    if parts == n_elements == 1 and plan.kernel == "qconv":
        made.channels = (words[place("m")] // 2 + 2) & -4
        made.waves = [(0, 1, 2)] if 0 < made.channels < words[place("m")] else []
        return made
    if parts % 2 == 0 or n_elements < 2:
        return made
    at = place(name)
    piece, count = _choose_chunk(n_elements, min(words[at], n_elements), macs * _MAC_INSTRUCTIONS)
    made.parameters = {at: piece}
    pieces = -(-n_elements // piece)
    made.n = parts * pieces
    made.waves = _halves((parts - 1) // 2 * pieces + count, made.n)
    return made


def _cut_channels(calls: Iterable[Any], core: int, channels: int) -> None:
    """Restrict calls of loops/qdot to the channels of one core.

    Args:
        calls: calls of a step; changed.
        core: 0 computes the first `channels` channels, 1 the rest.
        channels: number of channels of the first core.
    """
    for call in calls:
        if not isinstance(call, Call) or call.loop.family not in ("qdot", "qdot32"):
            continue
        [block] = [a.block for a in call.arguments if isinstance(a, Part)]
        p, at = call.words[block], places(call.loop.family, call.loop.name)
        if core == 0:
            p[at["channels"]] = channels
            continue
        p[at["w_start"]] += channels * p[at["columns"]]
        p[at["table_start"]] += _CHANNEL_NBYTES * channels
        p[at["channels"]] -= channels
        p[at["out_start"]] += channels * p[at["out_channel_stride"]]


def _output_nbytes(plan: _Plan) -> int:
    return plan.output[1] if plan.output else 0


def _copied_nbytes(plan: _Plan) -> int:
    """Return the bytes behind the arena for a step's output; 0 unless it is written there."""
    return _aligned(_output_nbytes(plan)) if plan.is_copied else 0


def _extra_nbytes(plan: _Plan) -> int:
    """Return the largest number of bytes behind the arena that a step takes."""
    return _copied_nbytes(plan) + _scratch_nbytes(plan.scratch)


def _may_be_copied(plan: _Plan, arena: int) -> bool:
    """Return True if a step's output is small enough to be written behind the arena."""
    return 0 < _output_nbytes(plan) * _MAX_COPIED_SHARE <= arena


def _ends_before(end: int, *halves: list) -> bool:
    """Return True if no call accesses the arena at or behind an offset."""
    reaches = [_Reach(calls) for waves in halves for calls in waves]
    ranges = [r for reach in reaches for r in (*reach.reads, *reach.writes)]
    return all(r.high <= end for r in ranges if r.memory == "arena")


def _halves(at: int, n: int) -> list[tuple[int, int, int]]:
    return [(0, at, n)] if at < n else []


def _choose_chunk(n_elements: int, most: int, instructions: int) -> tuple[int, int]:
    """Choose chunks so that the slower core's half takes the fewest instructions.

    Args:
        n_elements: number of elements to share.
        most: the largest chunk [elements].
        instructions: estimated instructions of an element.

    Returns:
        The chunk size [elements] and the number of chunks in the first half.
    """
    candidates = []
    for piece in range(1, most + 1):
        n = -(-n_elements // piece)
        count = -(-n // 2)
        longest = min(count * piece, n_elements) * instructions + count * _CALL_INSTRUCTIONS
        candidates.append((longest, -piece, count))
    longest, piece, count = min(candidates)
    return -piece, count


class _Reach:
    """Bytes that calls read and write.

    Attributes:
        is_known: True if all calls are declared.
        reads: ranges that are read.
        writes: ranges that are written.
    """

    def __init__(self, calls: Iterable[Any]):
        accessed = [touched(call) if isinstance(call, Call) else None for call in calls]
        self.is_known = all(call is not None for call in accessed)
        self._calls = [call for call in accessed if call is not None]
        self.reads = merged(r for call in self._calls for r in call.reads)
        self.writes = merged(r for call in self._calls for r in call.writes)

    def maps(self, nbytes: int) -> list[np.ndarray]:
        """Return masks of the arena's bytes that are read, and that are written.

        They are more exact than the ranges.
        """
        masks = []
        for kind in ("reads", "writes"):
            of_kind = np.zeros(nbytes, bool)
            for call in self._calls:
                for r in getattr(call, kind):
                    if r.memory == "arena":
                        of_kind[call.bytes_of(r)] = True
            masks.append(of_kind)
        return masks

    def outside(self, kind: str) -> list[Bytes]:
        """Return the ranges of other memories than the arena."""
        return [r for r in getattr(self, kind) if r.memory != "arena"]


def _reads_own_scratch(waves: Iterable[list], scratch: list[tuple[int, int]]) -> bool:
    """Return True if a core reads only scratch that it has written in the same wave.

    Scratch that was written in another wave may belong to the other core.
    """
    is_scratch = _map_of(scratch, max([at + n for at, n in scratch], default=0))
    for calls in waves:
        unwritten = is_scratch.copy()
        for call in calls:
            accessed = touched(call) if isinstance(call, Call) else None
            if accessed is None:
                return False
            for r in accessed.reads:
                if r.memory == "arena" and unwritten[r.low : r.high].any():
                    return False
            for r in accessed.writes:
                if r.memory == "arena":
                    unwritten[r.low : r.high] = False
    return True


def _map_of(scratch: list[tuple[int, int]], nbytes: int) -> np.ndarray:
    """Return a mask of the arena's first bytes that are scratch."""
    made = np.zeros(nbytes, bool)
    for at, n in scratch:
        made[at : at + n] = True
    return made


def _have_same_parameters(halves: tuple[list, list], in_turn: list) -> bool:
    """Return True if both cores' calls have the parameters that one core's calls have.

    Then no call depends on parameters that loops wrote in the other core's part.
    """
    parts = [part for wave in zip(*halves, strict=True) for part in wave]
    return [[_words(c) for c in p] for p in parts] == [[_words(c) for c in p] for p in in_turn]


def _find_same_scratch(parts: list, scratch: list[tuple[int, int]]) -> bool:
    """Return True if each call of a divided step reads from scratch what it reads on one core.

    Each part repeats the calls that prepare it, such as those for an initial state. On one core
    their scratch may have been overwritten by another call in between.

    Args:
        parts: calls of each part, in the order in which one core makes them.
        scratch: (offset, bytes) of each scratch tensor.
    """
    every = _Reach(call for calls in parts for call in calls)
    nbytes = max((r.high for r in (*every.reads, *every.writes)), default=0)
    is_scratch = _map_of(scratch, nbytes)
    on_one_core = np.full(nbytes, -1)  # number of the call that wrote each byte
    known: dict[tuple, tuple[int, np.ndarray]] = {}  # number; writers of the bytes it reads
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
            number, writers = known[key]
            if not np.array_equal(in_part[reads], writers):
                return False
            in_part[writes] = number
    return True


def _words(call: Any) -> list:
    return [[id(w) if w is UNKNOWN else w for w in words] for words in call.words.values()]


def _is_too_small(halves: Iterable[list], plan: _Plan) -> bool:
    """Return True if a step takes no longer than its meetings and copies.

    Each byte that a step accesses counts as a multiplication.
    """
    calls = [touched(call) for half in halves for calls in half for call in calls]
    ranges = [r for call in calls if call for r in (*call.reads, *call.writes)]
    nbytes = sum(r.high - r.low for r in ranges)
    if plan.is_copied:
        is_quick = nbytes < _output_nbytes(plan) * _ACCESSES_PER_COPY
        return is_quick or nbytes * _MAC_INSTRUCTIONS < _MIN_CALLS_COPIED * _CALL_INSTRUCTIONS
    return nbytes * _MAC_INSTRUCTIONS < _MIN_CALLS * _CALL_INSTRUCTIONS


def _is_in_order(one: list, two: list) -> bool:
    """Return True if no call of a step reads its input where an earlier one has written.

    Args:
        one: calls of the first core, wave by wave.
        two: calls of the second core. Within a wave the cores are independent, so their order does
            not matter.
    """
    waves = zip(one, two, strict=True)
    return overwritten.is_proved(call for wave in waves for half in wave for call in half)


def _are_independent(one: list, two: list) -> bool:
    """Return True if in each wave neither half writes bytes that the other half accesses."""
    return all(map(_are_calls_independent, one, two))


def _are_calls_independent(of_one: list, of_two: list) -> bool:
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
