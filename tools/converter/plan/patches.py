"""Compute chains of convolutions and pools by bands of rows, so no inner tensor is whole.

1. A chain is cut into bands of its last output's rows. Each band computes the rows of inner
   tensors that it needs in small tensors of its own; rows at the edges are computed twice.
2. The chain's output may lie over its input, behind the rows that later bands still read, unless
   each band reads all of the input. If its readers take strides, its rows may follow one another
   (channels last), which lets it follow the input closely.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..ir import Graph, Step, Tensor
from ..ops._move import emit_move
from ..steps.overlap import lag
from ..steps.rows import ElementRows, Image
from .blocks import aligned, size_of
from .bound import together
from .moves import with_input

_LONGEST = 8  # most steps of a chain
_HEIGHTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


@dataclass
class Patch:
    """A chain of steps that is computed in bands of rows of its output.

    Attributes:
        chain: the steps.
        first: number of the first step.
        bands: for each band the rows of the chain's input, then of each step's output.
        channels_last: layout of the output.
        over: the output overwrites the input.
        lead: bytes by which the output then starts before the input.
        nbytes: bytes of output, input and a band.
        macs: multiply-accumulates, with those that are computed again.
    """

    chain: list[Step]
    first: int
    bands: list[list[tuple[int, int]]]
    channels_last: bool
    over: bool
    lead: int = 0
    nbytes: int = 0
    macs: int = 0

    @property
    def last(self) -> int:
        """Return the number of the last step."""
        return self.first + len(self.chain) - 1

    @property
    def source(self) -> Tensor:
        """Return the tensor that the chain reads."""
        return self.chain[0].inputs[0].root

    @property
    def out(self) -> Tensor:
        """Return the tensor that the chain writes."""
        return self.chain[-1].outputs[0].root

    @property
    def writes_strides(self) -> bool:
        """Return True if the last kernel writes rows into a larger output; else a move does."""
        return bool(self.chain[-1].rows.out)

    def measure(self) -> Patch:
        """Compute lead, nbytes and macs from the other attributes, and return the patch."""
        source, target = self.ends()
        if self.over:
            read = np.array([spans[0][0] for spans in self.bands]) * source.strides[1]
            rows = np.array([spans[-1][1] for spans in self.bands])
            written = rows * target.strides[1] + self._beyond_rows(target)
            lead = lag(read * source.tensor.itemsize, written * target.tensor.itemsize)
            self.lead = aligned(max(0, lead - source.tensor.start))
        sizes = [size_of(t) for t in (self.out, self.source)]
        whole = together(sizes[0], [(self.lead, sizes[1])]) if self.over else sum(sizes)
        self.nbytes = whole + max(self._band_nbytes(spans) for spans in self.bands)
        self.macs = sum(
            step.macs * (hi - lo) // step.rows.n_rows(step)
            for spans in self.bands
            for step, (lo, hi) in zip(self.chain, spans[1:], strict=True)
        )
        return self

    def _beyond_rows(self, target):
        """Return the elements from the end of the first channel's last row to the image's end."""
        c = target.tensor.shape[1]
        return 0 if self.channels_last else (c - 1) * target.strides[0]

    def _band_nbytes(self, spans):
        """Return the largest sum of inner rows and scratch alive at one time."""
        sizes = [0]
        for step, (lo, hi) in zip(self.chain[:-1], spans[1:], strict=False):
            t = step.outputs[0]
            sizes.append(aligned(t.nbytes // t.shape[2] * (hi - lo)))
        t, (lo, hi) = self.chain[-1].outputs[0], spans[-1]
        sizes.append(0 if self.writes_strides else aligned(t.nbytes // t.shape[2] * (hi - lo)))
        most = 0
        for k, step in enumerate(self.chain):
            scratch = sum(aligned(t.nbytes) for t in step.scratch)
            in_place = isinstance(step.rows, ElementRows) and 0 < k
            most = max(most, sizes[k + 1] + scratch + (0 if in_place else sizes[k]))
        return most

    def ends(self) -> tuple[Image, Image]:
        """Return the chain's input and output as Images: with their strides in memory."""
        source, target = self.chain[0].rows.images(self.chain[0])[0], self.chain[-1].outputs[0]
        _, c, n, width = target.shape
        strides = (1, width * c, c) if self.channels_last else (n * width, width, 1)
        return source, Image(target, n, strides)

    def steps(self) -> list[Step]:
        """Return the steps of all bands."""
        source, target = self.ends()
        steps = []
        for spans in self.bands:
            x = source
            for step, (lo, hi) in zip(self.chain, spans[1:], strict=True):
                t = step.outputs[0]
                if step is self.chain[-1] and self.writes_strides:
                    out = target.rows(lo, hi)
                else:
                    shape = (1, t.shape[1], hi - lo, t.shape[3])
                    out = Image.dense(Tensor(f"{t.name}[{lo}:{hi}]", t.dtype, shape), lo)
                steps.append(step.rows.part(step, x, out, lo, hi))
                x = out
            if not self.writes_strides:
                steps.append(_copy(x, target, self.chain[-1].node))
        return steps


def patches(graph: Graph, at: int, keep_inputs: bool) -> Iterator[Patch]:
    """Yield the patches of chains through step `at`, in all possible heights and layouts."""
    users = _users(graph.steps)
    kept = {t.root for t in graph.outputs} | (
        {t.root for t in graph.inputs} if keep_inputs else set()
    )
    steps = graph.steps
    first = last = at
    while last + 1 < len(steps) and _is_linked(steps, last, users, kept):
        last += 1
    while first > 0 and _is_linked(steps, first - 1, users, kept):
        first -= 1
    for i in range(max(first, at - _LONGEST), at + 1):
        for j in range(max(at, i + 1), min(last, i + _LONGEST) + 1):
            yield from _of_chain(steps, i, j, users, kept)


def _copy(x: Image, out: Image, node: str) -> Step:
    """Return the step that moves the rows of an Image to their place in another one."""
    steps: list[Step] = []
    _, *dims = x.tensor.shape

    def emit(**step):
        steps.append(Step.of(**step, node=node))

    at = x.first * out.strides[1]
    emit_move(emit, x.tensor, out.tensor, dims, x.strides, out.strides, 0, at)
    return steps[0]


def _of_chain(steps, first, last, users, kept):
    """Yield the patches of the chain from step `first` to step `last`.

    Args:
        steps: all steps.
        first: number of the first step.
        last: number of the last step.
        users: numbers of the steps that use each tensor.
        kept: tensors that must stay whole.
    """
    chain = steps[first : last + 1]
    end, source = chain[-1], chain[0].inputs[0].root
    if isinstance(chain[0].rows, ElementRows):  # a whole image has its channels' rows apart
        return
    if end.outputs[0].alias or users[end.outputs[0].root][0] != last:
        return
    over = source.data is None and users[source][-1] == first and source not in kept
    over = over and not source.persistent and not chain[0].rows.reads_all
    out = end.outputs[0].root
    readers = [steps[i] for i in users[out][1:]]
    layouts = [False, True] if out not in kept and _take_strides(readers, out) else [False]
    for height in _HEIGHTS:
        if height < end.rows.n_rows(end):
            bands = _bands(chain, height)
            for channels_last in layouts:
                yield Patch(chain, first, bands, channels_last, over).measure()


def _bands(chain, height):
    """Return for each band the rows of the chain's input and of each step's output."""
    n = chain[-1].rows.n_rows(chain[-1])
    bands = []
    for lo in range(0, n, height):
        spans = [(lo, min(lo + height, n))]
        for step in reversed(chain):
            spans.append(step.rows.needed(step, *spans[-1]))
        bands.append(spans[::-1])
    return bands


def _users(steps: list[Step]) -> dict[Tensor, list[int]]:
    """Return the numbers of the steps that use each root, in order."""
    users: dict[Tensor, list[int]] = {}
    for i, step in enumerate(steps):
        for root in dict.fromkeys(t.root for t in step.inputs + step.outputs + step.scratch):
            users.setdefault(root, []).append(i)
    return users


def _is_linked(steps, i, users, kept):
    """Return True if step i + 1 reads the output of step i as a whole, and no other step does.

    Args:
        steps: all steps.
        i: number of the first of the two.
        users: numbers of the steps that use each tensor.
        kept: tensors that must stay whole.
    """
    if not all(_can_be_cut(s) for s in steps[i : i + 2]):
        return False
    t, x = steps[i].outputs[0], steps[i + 1].inputs[0]
    whole = t.alias is None and x.root is t and x.shape == t.shape
    return whole and users[t] == [i, i + 1] and t not in kept


def _can_be_cut(step):
    if step.rows is None or step.bodies or not step.rows.is_cut(step):
        return False
    return _is_image(step, step.outputs[0]) and not step.outputs[0].is_open


def _is_image(step, t):
    return len(t.shape) == 4 and t.shape[0] == 1 and 0 not in t.shape


def _take_strides(readers, root):
    """Return True if all readers of a value could read it with channels last."""
    return all(
        _can_be_cut(s)
        and bool(s.rows.x)
        and s.inputs[0].root is root
        and s.inputs[0].shape == root.shape
        and sum(t.root is root for t in s.inputs + s.outputs) == 1
        for s in readers
    )


def apply(graph: Graph, patch: Patch) -> None:
    """Replace the chain by its bands, and give its readers the output's layout."""
    after = graph.steps[patch.last + 1 :]
    _, target = patch.ends()
    if patch.channels_last:
        after = [_reading(s, patch.out, target) for s in after]
    graph.steps = [*graph.steps[: patch.first], *patch.steps(), *after]
    if patch.over:
        graph.overlays[patch.out, patch.source] = patch.lead


def _reading(step, root, image):
    return with_input(step, image) if any(t.root is root for t in step.inputs) else step
