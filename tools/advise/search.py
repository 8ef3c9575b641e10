"""Choose the options to try, and their order: single ones, then pairs if one is not enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tools.converter.report.fits import OFF

from .placement import Placement
from .samples import CALIBRATION
from .trial import Task, Trial, tried

# Cheaper products of floats; they exclude each other.
_NUMBERS = (
    ("--float", "fast16"),
    ("--weights", "int8"),
    ("--quantize", "int8", "--calibration", CALIBRATION),
    ("--weights", "f16"),
)
GUESSED = 16  # size of a dim that the model leaves open
_MOST_SIZES = 8  # trials to find sizes for open dims
_LEAST = 2.0  # seconds that must be left to begin a trial


@dataclass(frozen=True)
class Row:
    """A trial in one of its placements."""

    trial: Trial
    placement: Placement

    @property
    def is_plain(self) -> bool:
        """True if no option was tried."""
        return not self.trial.options and not self.placement.flash_options


@dataclass
class Advice:
    """The result of a search.

    Attributes:
        plain: the trial without further options.
        rows: useful placements of all trials, the best first.
        refused: trials without a model.
        late: options for which there was no time.
    """

    plain: Trial
    rows: list[Row] = field(default_factory=list)
    refused: list[Trial] = field(default_factory=list)
    late: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def fits(self) -> bool:
        """True if the model fits without any option."""
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
    """Try options until none is left or the time is over.

    Args:
        task: the model and the board.
        seconds: time limit.
        attempt: runs one trial.
    """
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
        # a trial with too small a limit was repeated with the least one
        advice.refused = [t for t in self._trials if not t.placements and not t.least]
        whole = next((t for t in self._trials if t.placements), plain)
        rows = [Row(t, p) for t in self._trials for p in t.placements if _helps(t, p, whole)]
        advice.rows = sorted(rows, key=_rank)
        return advice

    def _try(self, options) -> Trial:
        """Run a trial; without time for it, note its options as late."""
        left = self._end - time.monotonic()
        if self._trials and left < _LEAST:
            self._late.append(options)
            return Trial(options)
        trial = self._attempt(self._task, options, max(left, _LEAST))
        self._trials.append(trial)
        return trial

    def _closed(self, plain) -> list[Trial]:
        """Return trials with options that fix or bound the sizes which the model leaves open.

        If a trial still leaves sizes open, further options are added to it.
        """
        closed, queue = [], [plain] if plain.is_open else []
        while queue and len(self._trials) <= _MOST_SIZES:
            trial = queue.pop(0)
            for options in _closing(trial):
                longer = self._try((*trial.options, *options))
                if longer.placements:
                    closed.append(longer)
                elif longer.is_open:
                    queue.append(longer)
        return closed

    def _improve(self, plain):
        if self._task.board.unable:
            return
        self._shrink(plain)
        singles = [self._try(options) for options in _numbers(plain, self._task.user_options)]
        for trial in sorted((t for t in singles if t.placements), key=_heap):
            self._shrink(trial)

    def _shrink(self, trial):
        """Add --arena and --window, each alone and then both, if they can make the trial fit.

        They cannot if the flash is too small, since neither makes files smaller.
        """
        if trial.fits or all(p.lacks_flash for p in trial.placements):
            return
        taken = self._task.user_options
        names = [name for name in ("--arena", "--window") if name not in taken]
        limited = [t for name in names if (t := self._limited(trial, name)) and t.placements]
        if len(limited) == 2 and not any(t.fits for t in limited):
            both = [t.options[len(trial.options) :] for t in limited]
            self._try((*trial.options, *both[0], *both[1]))

    def _limited(self, trial, name):
        """Run the trial with a limit that fits the heap, or else the least possible limit.

        Args:
            trial: a trial that does not fit.
            name: --arena or --window.

        Returns:
            The trial; None if the limit concerns only a small part of the missing bytes.
        """
        size = {"--arena": trial.arena, "--window": trial.window}[name]
        needs, lacking = trial.placements[0].needs, _lacking(trial, self._task.board)
        part = {"--arena": needs.tensors, "--window": needs.window}[name]
        if part < lacking / 10:
            return None
        limited = self._try((*trial.options, name, str(max(size - lacking, size // 4))))
        if limited.least and limited.least < size:
            limited = self._try((*trial.options, name, str(limited.least)))
        return limited


def _numbers(plain, user_options):
    """Return options for products of floats, unless the user has chosen one."""
    has_choice = {"--float", "--weights", "--quantize"}.intersection(user_options)
    if not plain.has_floats or has_choice:
        return []
    possible = [o for o in _NUMBERS if o[0] != "--quantize" or plain.has_samples]
    return [(*plain.options, *options) for options in possible]


def _closing(trial) -> Iterator[tuple[str, ...]]:
    """Yield options that fix open dims, such as 'x [1, time]', or bound them in each run."""
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
    """Return the missing bytes of heap, including the margin of an estimated heap."""
    plain = trial.placements[0]
    heap = board.free_heap_bytes or plain.heap
    return round(plain.heap * (1 + OFF)) - heap + 1


def _heap(trial):
    return min(p.heap for p in trial.placements)


def _helps(trial, placement, plain):
    """Return True if a placement is worth a row.

    That holds for the model without options, and for placements that fit or take less heap than
    it. A trial's later placements must take less heap than its first one.
    """
    first = trial.placements[0]
    if placement is not first and placement.heap >= first.heap:
        return False
    return trial is plain and placement is first or placement.fits or placement.heap < _heap(plain)


def _rank(row):
    """Return the sort key of a row.

    Rows that fit come first, ordered by loss, time and number of options; others by heap.
    """
    placement, error = row.placement, row.trial.accuracy.error
    if not placement.fits:
        return (1, placement.heap)
    loss = 9 if error is None else sum(error > most for most in (1e-3, 1e-2, 1e-1))
    seconds = placement.seconds.likely if placement.seconds else 0.0
    count = len(row.trial.options) + len(placement.flash_options)
    return (0, placement.verdict == "may fit", loss, seconds, count, placement.heap)
