"""Weights of bytes as the integer kernels read them, and the layout of their tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ir import Tensor
from ._dtypes import INT8, INT16

_MAX_K = 33024  # the kernel's limit
_INT32 = 1 << 31
_COUNTS = ("n", "g", "c", "h", "w", "m", "kh", "kw", "oh", "ow")
AS_IT_IS = (32, 0, 0, 0, 0)  # parameters of a table with 8 bytes for each channel


@dataclass
class Geometry:
    """Sizes of a convolution of bytes, and the strides of its elements in memory.

    Attributes:
        counts: sizes, in the order of _COUNTS.
        x_strides: strides of x by (batch, group, channel, y, x) [elements].
        out_strides: strides of the output by (batch, group, channel, position) [elements].
        strides: (y, x) strides of the windows.
        dilations: (y, x) dilations of the windows.
        pads: (y, x) padding at the beginning.
    """

    counts: Sequence[int]
    x_strides: Sequence[int]
    out_strides: Sequence[int]
    strides: Sequence[int] = (1, 1)
    dilations: Sequence[int] = (1, 1)
    pads: Sequence[int] = (0, 0)

    @property
    def named(self) -> dict[str, Any]:
        """Return all attributes by the names of kernels' parameters."""
        sizes = dict(zip(_COUNTS, self.counts, strict=True))
        return {
            **sizes,
            "strides": self.strides,
            "dilations": self.dilations,
            "x_strides": self.x_strides,
            "out_strides": self.out_strides,
            "pads": self.pads,
        }

    @property
    def macs(self) -> int:
        n, g, c, _, _, m, kh, kw, oh, ow = self.counts
        return n * g * c * m * kh * kw * oh * ow


def outer(geometry: Geometry, strides: Sequence[int]) -> list[int]:
    """Return strides, with 0 along a batch or group axis of extent 1.

    No kernel uses these, and a 0 takes one byte of the file.
    """
    counts = geometry.counts[: len(strides)]
    is_one = [i < 2 and type(n) is int and n == 1 for i, n in enumerate(counts)]
    return [0 if one else stride for one, stride in zip(is_one, strides, strict=True)]


@dataclass
class Weights:
    """Unsigned weights with their zero point.

    Attributes:
        rows: uint8 (channels, K).
        bias: a summand of each channel, int64.
    """

    rows: np.ndarray
    zero: int
    bias: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))

    def constants(self, x_zero: int) -> np.ndarray:
        """Return the constant of each channel's sum.

        sum((x - x_zero) * (w - zero)) + bias = sum(x * w) - zero * sum(x) + constant.
        """
        return self.bias + x_zero * self.per_zero()

    def per_zero(self) -> np.ndarray:
        k = self.rows.shape[1]
        return k * self.zero - self.rows.sum(1, dtype=np.int64)

    def range(self, x_zero: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest possible sum of each row."""
        zero, shift = np.uint8(self.zero), self.rows.shape[1] * self.zero
        plus = np.maximum(self.rows, zero).sum(1, dtype=np.int64) - shift
        minus = np.minimum(self.rows, zero).sum(1, dtype=np.int64) - shift
        largest = plus * (255 - x_zero) - minus * x_zero + self.bias
        return minus * (255 - x_zero) - plus * x_zero + self.bias, largest

    def fits(self, x_zero: int) -> bool:
        """Return True if no sum or constant can exceed int32, and rows are not too long."""
        least, largest = self.range(x_zero)
        fixed = np.abs(self.constants(x_zero))
        most = max(int(largest.max()), int(-least.min()), int(fixed.max()))
        return most < _INT32 and self.rows.shape[1] <= _MAX_K


def scalar(t: Tensor | None, default: float = 0):
    """Return the value of all elements of a constant; None if they differ or are unknown."""
    if t is None:
        return default
    if t.data is None or t.nelem == 0 or (t.data != t.data.flat[0]).any():
        return None
    return t.data.flat[0].item()


def shift_of(t: Tensor) -> int:
    """Return the number that makes the integers of a tensor unsigned when added."""
    return {INT8: 128, INT16: 32768}.get(t.dtype, 0)


def unsigned(data: np.ndarray) -> np.ndarray:
    """Return int8 plus 128 as uint8; return uint8 unchanged."""
    return data if data.dtype == np.uint8 else data.view(np.uint8) ^ np.uint8(128)


def padded(k: int) -> int:
    """Return the bytes of a row of k weights in the order of the loops, a multiple of 4."""
    return k + 3 & -4


def pack(rows: np.ndarray, groups: int, constants: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Return a table of two words for each channel, then weights in the order of loops/qdot.

    Args:
        rows: weights (channels, K).
        groups: number of groups.
        constants: first word of each channel.
        words: second word of each channel.
    """
    return np.concatenate([table(constants, words, len(rows)), packed_rows(rows, groups)])


def packed_rows(rows: np.ndarray, groups: int) -> np.ndarray:
    """Return weights (channels, K) in the order of loops/qdot, without a table."""
    channels, k = rows.shape
    wide = np.zeros((groups, channels // groups, padded(k)), np.uint8)
    wide[:, :, :k] = rows.reshape(groups, -1, k)
    n_tiles = wide.shape[1] // 4
    fours = wide.view(np.uint32)[:, : 4 * n_tiles]
    tiled = fours.reshape(groups, n_tiles, 4, padded(k) // 4).transpose(0, 1, 3, 2)
    tiled = tiled.reshape(groups, -1).view(np.uint8)
    rest = wide[:, 4 * n_tiles :].reshape(groups, -1)
    return np.concatenate([tiled, rest], 1).reshape(-1)


def rows_of(packed: np.ndarray, groups: int, channels: int, k: int) -> np.ndarray:
    """Return weights (channels, k) in the order of channels: the inverse of packed_rows.

    Args:
        packed: the result of packed_rows.
        groups: groups of the convolution.
        channels: channels of all groups.
        k: weights of a channel, without padding.
    """
    m, width = channels // groups, padded(k)
    by_groups = packed.reshape(groups, m * width)
    n_tiles = m // 4
    tiled = by_groups[:, : 4 * n_tiles * width].reshape(groups, n_tiles, width // 4, 4, 4)
    tiled = tiled.transpose(0, 1, 3, 2, 4).reshape(groups, 4 * n_tiles, width)
    rest = by_groups[:, 4 * n_tiles * width :].reshape(groups, m % 4, width)
    return np.concatenate([tiled, rest], 1).reshape(channels, width)[:, :k]


def row_sums(weights: np.ndarray, groups: int, channels: int) -> np.ndarray:
    """Return the sum of each row of packed weights, int64 (groups * channels,)."""
    n_tiles, k = channels // 4, len(weights) // (groups * channels)
    by_groups = weights.reshape(groups, -1).astype(np.int64)
    tiled = by_groups[:, : 4 * n_tiles * k].reshape(groups, n_tiles, k // 4, 4, 4).sum((2, 4))
    rest = by_groups[:, 4 * n_tiles * k :].reshape(groups, channels % 4, k).sum(2)
    return np.concatenate([tiled.reshape(groups, -1), rest], 1).reshape(-1)


def table(constants: np.ndarray, words: np.ndarray, channels: int) -> np.ndarray:
    """Return the two words of each channel, as bytes."""
    pairs = [np.broadcast_to(v, (channels,)) for v in (constants, words)]
    return (np.stack(pairs, 1) & 0xFFFFFFFF).astype("<u4").reshape(-1).view(np.uint8)
