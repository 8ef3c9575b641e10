"""What is tried, and in which order: single options, then together where one is not enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tools.converter.report.fits import OFF

from .placement import Placement
from .samples import CALIBRATION
from .trial import Task, Trial, tried

# How products of floats can be computed with less; they exclude each other.
_NUMBERS = (
    ("--float", "fast16"),
    ("--weights", "int8"),
    ("--quantize", "int8", "--calibration", CALIBRATION),
    ("--weights", "f16"),
)
GUESSED = 16  # for a dim that the model leaves open
_MOST_SIZES = 8  # trials to give sizes to what is open
_LEAST = 2.0  # s that a trial is begun with


@dataclass(frozen=True)
class Row:
    """A trial in one of its placements."""

    trial: Trial
    placement: Placement

    @property
    def is_plain(self) -> bool:
        """Whether no option was tried."""
        return not self.trial.options and not self.placement.flash_options


@dataclass
class Advice:
    """plain: the model as it is; rows: of all trials with a model, best first; refused: trials
    without one; late: what there was no time for.
    """

    plain: Trial
    rows: list[Row] = field(default_factory=list)
    refused: list[Trial] = field(default_factory=list)
    late: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def fits(self) -> bool:
        """As it is, without any option."""
        return bool(self.plain.placements) and self.plain.placements[0].fits

    @property
    def best(self) -> Row | None:
        """The first row, if it fits."""
        return self.rows[0] if self.rows and self.rows[0].placement.fits else None


def advise(
    task: Task,
    seconds: float,
    attempt: Callable[[Task, tuple[str, ...], float], Trial] = tried,
) -> Advice:
    """Tries until all is tried or the time is over."""
    return _Search(task, seconds, attempt).run()


class _Search:
    def __init__(self, task, seconds, attempt):
        self._task, self._attempt = task, attempt
        self._end = time.monotonic() + seconds
        self._trials: list[Trial] = []
        self._late: list[tuple[str, ...]] = []

    def run(self) -> Advice:
        plain = self._try(())
        if plain.placements:
            self._improve(plain)
        else:
            closed = self._closed(plain)
            if closed:
                self._improve(closed[0])
        advice = Advice(plain, late=self._late)
        # one with a limit that was too small has been tried again with the least
        advice.refused = [t for t in self._trials if not t.placements and not t.least]
        whole = next((t for t in self._trials if t.placements), plain)
        rows = [Row(t, p) for t in self._trials for p in t.placements if _helps(t, p, whole)]
        advice.rows = sorted(rows, key=_rank)
        return advice

    def _try(self, options) -> Trial:
        """A trial, whose options are late where there is no time for it."""
        left = self._end - time.monotonic()
        if self._trials and left < _LEAST:
            self._late.append(options)
            return Trial(options)
        trial = self._attempt(self._task, options, max(left, _LEAST))
        self._trials.append(trial)
        return trial

    def _closed(self, plain) -> list[Trial]:
        """Models with sizes for what is open; what one option leaves open, others may give."""
        found, queue = [], [plain] if plain.is_open else []
        while queue and len(self._trials) <= _MOST_SIZES:
            trial = queue.pop(0)
            for options in _closing(trial):
                made = self._try((*trial.options, *options))
                if made.placements:
                    found.append(made)
                elif made.is_open:
                    queue.append(made)
        return found

    def _improve(self, plain):
        if self._task.board.unable:
            return
        self._shrink(plain)
        singles = [self._try(options) for options in _numbers(plain, self._task.given)]
        for trial in sorted((t for t in singles if t.placements), key=_heap):
            self._shrink(trial)

    def _shrink(self, trial):
        """Adds --arena and --window where they are what is missing: each alone, then both.

        Neither makes files smaller.
        """
        if trial.fits or all(p.lacks_flash for p in trial.placements):
            return
        taken = self._task.given
        names = [name for name in ("--arena", "--window") if name not in taken]
        found = [t for name in names if (t := self._limited(trial, name)) and t.placements]
        if len(found) == 2 and not any(t.fits for t in found):
            both = [t.options[len(trial.options) :] for t in found]
            self._try((*trial.options, *both[0], *both[1]))

    def _limited(self, trial, name):
        """With the limit that the board's heap asks for, or the least that the converter finds;
        None where what it limits is a small part of what is missing.
        """
        size = {"--arena": trial.arena, "--window": trial.window}[name]
        needs, lacking = trial.placements[0].needs, _lacking(trial, self._task.board)
        part = {"--arena": needs.tensors, "--window": needs.window}[name]
        if part < lacking / 10:
            return None
        made = self._try((*trial.options, name, str(max(size - lacking, size // 4))))
        if made.least and made.least < size:
            made = self._try((*trial.options, name, str(made.least)))
        return made


def _numbers(plain, given):
    """Options besides the trial's that may apply: not to integers, nor against the user's."""
    if not plain.has_floats or any(o in given for o in ("--float", "--weights", "--quantize")):
        return []
    found = [o for o in _NUMBERS if o[0] != "--quantize" or plain.has_samples]
    return [(*plain.options, *options) for options in found]


def _closing(trial) -> Iterator[tuple[str, ...]]:
    """Options that fix the dims of 'x [1, time]', or leave them to each run within a bound."""
    bounds = [f"{name}={GUESSED}" for name in trial.open_values]
    if bounds and not set(bounds) & set(trial.options):
        yield tuple(part for bound in bounds for part in ("--bound", bound))
    open_dims = trial.open_dims
    names = {n.strip() for text in open_dims for n in text.rpartition("[")[2][:-1].split(",")}
    free = sorted(n for n in names if n.isidentifier())
    if not free:
        return
    for option in ("--dim", "--bound"):
        yield tuple(part for name in free for part in (option, f"{name}={GUESSED}"))


def _lacking(trial, board):
    """Bytes of heap, with what an estimate may be off."""
    plain = trial.placements[0]
    heap = board.free_heap_bytes or plain.heap
    return round(plain.heap * (1 + OFF)) - heap + 1


def _heap(trial):
    return min(p.heap for p in trial.placements)


def _helps(trial, placement, plain):
    """True for the model as it is; else for what fits or takes less, more than the same model's
    usual placement does.
    """
    first = trial.placements[0]
    if placement is not first and placement.heap >= first.heap:
        return False
    return trial is plain and placement is first or placement.fits or placement.heap < _heap(plain)


def _rank(row):
    """What fits first, of these the least loss, then the fastest, with the fewest options; else
    the smallest.
    """
    placement, error = row.placement, row.trial.accuracy.error
    if not placement.fits:
        return (1, placement.heap)
    loss = 9 if error is None else sum(error > most for most in (1e-3, 1e-2, 1e-1))
    seconds = placement.seconds.likely if placement.seconds else 0.0
    count = len(row.trial.options) + len(placement.flash_options)
    return (0, placement.verdict == "may fit", loss, seconds, count, placement.heap)
