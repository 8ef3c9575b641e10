"""Kernels that go through images row by row: their steps for some rows, and for other layouts.

A lowering declares with Rows where its kernel's parameters say so. Only steps of one image (N = 1,
and D = 1) are ever cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..ir import Step, Tensor
from .overlap import item_by_item


@dataclass(frozen=True)
class Image:
    """Rows of an image in memory. strides: of channel, y, x, in items.

    tensor: starts with row `first` of the image and holds `n` of them.
    """

    tensor: Tensor
    n: int
    strides: tuple[int, int, int]
    first: int = 0

    @classmethod
    def dense(cls, tensor: Tensor, first: int = 0) -> Image:
        """Of a tensor (.., H, W) in C order."""
        n, width = tensor.shape[-2:]
        return cls(tensor, n, (n * width, width, 1), first)

    def rows(self, lo: int, hi: int) -> Image:
        """Some rows of it, in the same memory."""
        t = self.tensor
        at = (lo - self.first) * self.strides[1]
        left = (*t.shape[:-3], t.nelem - at, 1, 1)
        view = Tensor(f"{t.name}[{lo}:{hi}]", t.dtype, left, alias=t, alias_at=at * t.itemsize)
        return Image(view, hi - lo, self.strides, lo)

    @property
    def is_dense(self) -> bool:
        """Whether the rows lie behind each other."""
        width = self.strides[1]
        return self.strides == (self.n * width, width, 1)


@dataclass(frozen=True)
class Rows:
    """Names of the parameters that hold it; None where the kernel has none.

    n_in, n_out: rows of input 0 and of the output; stride, taps, dilation, pad: of the windows,
    downwards; groups, c, m: groups and channels of each, in and out; x, out: strides of (group,
    channel, y, x), where None is what follows from the others; single: what has to be 1.
    takes_strides: whether input 0 may lie in other ways than C order; else x is not looked at.
    reads_all: whether the kernel looks at all of input 0 for any rows, as for an exponent.
    """

    n_in: str = "h"
    n_out: str = "oh"
    stride: str = "strides.y"
    taps: str = "kh"
    dilation: str = "dilations.y"
    pad: str = "pads.y"
    c: str | None = "c"
    m: str | None = "m"
    x: Sequence[str | None] = ()
    out: Sequence[str | None] = ()
    single: Sequence[str] = ("n",)
    reads_all: bool = False

    def is_cut(self, step: Step) -> bool:
        """True if this step can be cut."""
        are_known = all(type(v) is int for v in step.params)
        return are_known and all(step[name] == 1 for name in self.single)

    def needed(self, step: Step, lo: int, hi: int) -> tuple[int, int]:
        """Rows of the input that the output rows from lo to hi need."""
        stride, pad, n = step[self.stride], step[self.pad], step[self.n_in]
        first = lo * stride - pad
        last = (hi - 1) * stride - pad + (step[self.taps] - 1) * step[self.dilation]
        low = min(max(first, 0), n - 1)
        return low, max(min(last + 1, n), low + 1)

    def n_rows(self, step: Step) -> int:
        """Return the number of rows of the output."""
        return step[self.n_out]

    def images(self, step: Step) -> tuple[Image, Image]:
        """Input 0 and the output as they lie now."""
        return self._image(step, step.inputs[0], self.n_in, self.x), self._image(
            step, step.outputs[0], self.n_out, self.out
        )

    def _image(self, step, t, n, strides):
        dense = Image(t, step[n], _dense(t, step[n]))
        if not strides:
            return dense
        _, channel, y, x = (None if name is None else step[name] for name in strides)
        return replace(dense, strides=(channel, dense.strides[1] * x if y is None else y, x))

    def part(self, step: Step, x: Image, out: Image, lo: int, hi: int) -> Step:
        """The step for the output rows from lo to hi; out: those rows."""
        made = Step(step.kernel, [x.tensor, *step.inputs[1:]], [out.tensor], list(step.params))
        made[self.pad] += x.first - lo * step[self.stride]
        made[self.n_in], made[self.n_out] = x.n, hi - lo
        for names, image, channels in ((self.x, x, self.c), (self.out, out, self.m)):
            if names:
                n = 1 if channels is None else step[channels]
                values = (n * image.strides[0], *image.strides)
                for name, value in zip(names, values, strict=True):
                    if name is not None:
                        made[name] = value
        made.scratch = [Tensor(t.name, t.dtype, t.shape) for t in step.scratch]
        made.node = step.node
        made.macs = step.macs * (hi - lo) // max(step[self.n_out], 1)
        return made


class ItemRows:
    """The same of a kernel whose items have no neighbours, and whose parameters no sizes."""

    x = out = ()
    reads_all = False

    def is_cut(self, step: Step) -> bool:
        """Return whether the step can be cut into rows."""
        return len(step.outputs[0].shape) == 4 and step.outputs[0].shape[0] == 1

    def needed(self, step: Step, lo: int, hi: int) -> tuple[int, int]:
        """Return the rows of the input that rows lo to hi of the output need."""
        return lo, hi

    def n_rows(self, step: Step) -> int:
        """Return the number of rows of the output."""
        return step.outputs[0].shape[2]

    def images(self, step: Step) -> tuple[Image, Image]:
        """Return the input and the output as images."""
        return Image.dense(step.inputs[0]), Image.dense(step.outputs[0])

    def part(self, step: Step, x: Image, out: Image, lo: int, hi: int) -> Step:
        """Return the step for rows lo to hi."""
        over = item_by_item(out.tensor, [x.tensor])
        inputs = [x.tensor, *step.inputs[1:]]
        return Step(step.kernel, inputs, [out.tensor], step.params, node=step.node, over=over)


def _dense(t, n):
    width = t.shape[-1]
    return n * width, width, 1
