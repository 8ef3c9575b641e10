"""Steps of kernels that compute images row by row: cut them into rows, and change their layout.

A lowering passes a Rows that names the kernel's parameters to Node.emit; the planner uses it. Only
steps of one image (N = 1 and D = 1) are ever cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..ir import Step, Tensor
from .overlap import element_leads


@dataclass(frozen=True)
class Image:
    """Rows of an image in memory.

    Attributes:
        tensor: starts with row `first` of the image.
        n: number of rows that `tensor` holds.
        strides: strides of channel, y and x [elements].
    """

    tensor: Tensor
    n: int
    strides: tuple[int, int, int]
    first: int = 0

    @classmethod
    def dense(cls, tensor: Tensor, first: int = 0) -> Image:
        """Return the image of a tensor (.., H, W) in C order."""
        n, width = tensor.shape[-2:]
        return cls(tensor, n, (n * width, width, 1), first)

    def rows(self, lo: int, hi: int) -> Image:
        """Return rows lo to hi - 1 as a view into the same memory."""
        t = self.tensor
        start = (lo - self.first) * self.strides[1]
        left = (*t.shape[:-3], t.nelem - start, 1, 1)
        view = Tensor(f"{t.name}[{lo}:{hi}]", t.dtype, left, alias=t, alias_at=start * t.itemsize)
        return Image(view, hi - lo, self.strides, lo)

    @property
    def is_dense(self) -> bool:
        """Return True if the rows of a channel are contiguous, and its columns as well."""
        width = self.strides[1]
        return self.strides == (self.n * width, width, 1)


@dataclass(frozen=True)
class Rows:
    """Names of the parameters that hold a kernel's sizes; None for those that it lacks.

    Attributes:
        n_in: rows of input 0.
        n_out: rows of the output.
        stride: vertical stride of the windows.
        taps: rows of a window.
        dilation: vertical dilation of the windows.
        pad: rows of padding above.
        c: channels of a group of the input.
        m: channels of a group of the output.
        x: strides of (group, channel, y, x) of input 0; () if it must be in C order. A stride that
            follows from the others is None.
        out: strides of the output, like x.
        single: parameters that have to be 1.
        reads_all: the kernel reads all of input 0 for any rows, as for a common exponent.
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
        """Return True if the step can be cut into rows."""
        are_known = all(type(v) is int for v in step.params)
        return are_known and all(step[name] == 1 for name in self.single)

    def needed(self, step: Step, lo: int, hi: int) -> tuple[int, int]:
        """Return the rows (first, end) of the input that rows lo to hi of the output need."""
        stride, pad, n = step[self.stride], step[self.pad], step[self.n_in]
        first = lo * stride - pad
        last = (hi - 1) * stride - pad + (step[self.taps] - 1) * step[self.dilation]
        low = min(max(first, 0), n - 1)
        return low, max(min(last + 1, n), low + 1)

    def n_rows(self, step: Step) -> int:
        """Return the number of rows of the output."""
        return step[self.n_out]

    def images(self, step: Step) -> tuple[Image, Image]:
        """Return input 0 and the output as Images with their present layouts."""
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
        """Return the step that computes rows lo to hi - 1 of the output.

        Args:
            step: the step for all rows.
            x: the rows of input 0 that it needs.
            out: the rows of the output.
            lo: the first row.
            hi: the row behind the last one.
        """
        part = Step(step.kernel, [x.tensor, *step.inputs[1:]], [out.tensor], list(step.params))
        part[self.pad] += x.first - lo * step[self.stride]
        part[self.n_in], part[self.n_out] = x.n, hi - lo
        for names, image, channels in ((self.x, x, self.c), (self.out, out, self.m)):
            if names:
                n = 1 if channels is None else step[channels]
                values = (n * image.strides[0], *image.strides)
                for name, value in zip(names, values, strict=True):
                    if name is not None:
                        part[name] = value
        part.scratch = [Tensor(t.name, t.dtype, t.shape) for t in step.scratch]
        part.node = step.node
        part.macs = step.macs * (hi - lo) // max(step[self.n_out], 1)
        return part


class ElementRows:
    """Rows of an elementwise kernel: elements have no neighbours, parameters hold no sizes."""

    x = out = ()
    reads_all = False

    def is_cut(self, step: Step) -> bool:
        """Return True if the step can be cut into rows."""
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
        """Return the step that computes rows lo to hi - 1: see Rows.part."""
        over = element_leads(out.tensor, [x.tensor])
        inputs = [x.tensor, *step.inputs[1:]]
        return Step(step.kernel, inputs, [out.tensor], step.params, node=step.node, over=over)


def _dense(t, n):
    width = t.shape[-1]
    return n * width, width, 1
