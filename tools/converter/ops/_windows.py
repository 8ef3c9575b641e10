"""Windows of convolutions and pools: strides, dilations, pads, auto_pad, ceil_mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import any_open, is_open
from ..steps import overlap


@dataclass
class Windows:
    """Windows over three spatial dimensions z, y, x, of which the first may be added ones.

    Attributes:
        pads: padding at the beginning.
        end_pads: padding at the end.
    """

    in_dims: list[int]
    kernel: list[int]
    out_dims: list[int]
    strides: list[int]
    dilations: list[int]
    pads: list[int]
    end_pads: list[int]

    @property
    def named(self) -> dict[str, Any]:
        """Return all attributes by the names of kernels' parameters."""
        return {
            **dict(zip(("d", "h", "w"), self.in_dims, strict=True)),
            **dict(zip(("kd", "kh", "kw"), self.kernel, strict=True)),
            **dict(zip(("od", "oh", "ow"), self.out_dims, strict=True)),
            "strides": self.strides,
            "dilations": self.dilations,
            "pads": self.pads,
        }

    @property
    def named_2d(self) -> dict[str, Any]:
        """Return the attributes of y and x by the names of kernels' parameters."""
        named = self.named
        groups = {name: named[name][1:] for name in ("strides", "dilations", "pads")}
        sizes = {name: named[name] for name in ("h", "w", "kh", "kw", "oh", "ow")}
        return sizes | groups


def windows_of(node, kernel: Sequence[int], out_shape: Sequence[int]) -> Windows:
    """Read the attributes of a convolution or pool with windows of these spatial extents."""
    x = node.inputs[0]
    rank = len(x.shape) - 2
    if not 1 <= rank <= 3:
        raise Problem(f"{rank} spatial dimensions", "1 to 3 are supported")
    in_dims, out_dims = list(x.shape[2:]), list(out_shape[2:])
    strides = list(node.attr("strides", [1] * rank))
    dilations = list(node.attr("dilations", [1] * rank))
    pads = list(node.attr("pads", [0] * rank * 2))
    auto = auto_pad(node)
    if auto == "VALID":
        pads = [0] * rank * 2
    elif auto.startswith("SAME"):
        pads = _same_pads(auto, in_dims, out_dims, kernel, strides, dilations)
    three = [1] * (3 - rank)
    zero = [0] * (3 - rank)
    return Windows(
        three + in_dims,
        three + list(kernel),
        three + out_dims,
        three + strides,
        three + dilations,
        zero + pads[:rank],
        zero + pads[rank:],
    )


def auto_pad(node) -> str:
    """Return the attribute auto_pad."""
    auto = node.attr("auto_pad", "NOTSET")
    if auto not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise Problem(f"auto_pad {auto}")
    return auto


def window_behind(planes: int, w: Windows, x: Tensor) -> dict[int, int]:
    """Return the lead of input 0 of a kernel that reads its windows one by one, in C order."""
    sizes = (planes, *w.in_dims, *w.out_dims)
    if any_open(sizes) or math.prod(sizes) > overlap.MAX_TRACKED * math.prod(w.in_dims):
        return {}
    return {0: overlap.pool(planes, w.in_dims, w.out_dims, w.strides, w.pads, x.itemsize)}


def counts_of(windows: Windows, dim: int, padding: bool = False) -> np.ndarray:
    """Return how many taps of each window are inside the input, along one dimension.

    padding: True to count taps inside the padding as well.
    """
    begin, end = 0, windows.in_dims[dim]
    if padding:
        begin, end = -windows.pads[dim], end + windows.end_pads[dim]
    corners = np.arange(windows.out_dims[dim]) * windows.strides[dim] - windows.pads[dim]
    step, kernel = windows.dilations[dim], windows.kernel[dim]
    # the first tap at or behind the beginning, and the first one at or behind the end
    first, last = (np.clip(-((corners - edge) // step), 0, kernel) for edge in (begin, end))
    return last - first


def require_whole(node, w: Windows) -> None:
    """Raise Problem for a window larger than the padded input, which only ceil_mode allows.

    onnx's inference and onnxruntime round -1 / 2 to 0, and so make one window of none.
    """
    if node.attr("ceil_mode", 0):
        return
    for i, d in enumerate(w.in_dims):
        reach, padded = (w.kernel[i] - 1) * w.dilations[i] + 1, d + w.pads[i] + w.end_pads[i]
        if not is_open(d) and w.out_dims[i] and reach > padded:
            text = f"a window of {reach} elements over {padded}, padding included"
            raise Problem(text, "make kernel_shape smaller, or pads larger")


def require_nonempty(w: Windows) -> None:
    """Raise Problem if a window has no element of the input: its mean is 0 / 0."""
    for i, d in enumerate(w.in_dims):
        if is_open(d):
            is_empty = w.pads[i] >= w.kernel[i] or w.end_pads[i] >= w.kernel[i]
        else:
            is_empty = not counts_of(w, i).all()
        if is_empty:
            raise Problem("a window that lies in the padding alone", "make pads smaller")


def _same_pads(auto, in_dims, out_dims, kernel, strides, dilations):
    """Return pads that make output = ceil(input / stride), first all begins, then all ends.

    Args:
        auto: SAME_UPPER, with more padding at the end, or SAME_LOWER, with more at the beginning.
        in_dims: spatial dims of the input.
        out_dims: spatial dims of the output.
        kernel: sizes of a window.
        strides: strides of windows.
        dilations: distances between the elements of a window.
    """
    begin, end = [], []
    for i in range(len(in_dims)):
        reach = (kernel[i] - 1) * dilations[i] + 1
        total = max((out_dims[i] - 1) * strides[i] + reach - in_dims[i], 0)
        small = total // 2
        begin.append(small if auto == "SAME_UPPER" else total - small)
        end.append(total - begin[-1])
    return begin + end
