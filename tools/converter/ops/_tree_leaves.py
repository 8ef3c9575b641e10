"""Leaves of decision trees -> the constants and parameters that kernels add them up from.

exact: integers of one unit for kernel trees. As bit 0 of a target's sum is far below the lowest
bit of any weight, 25 significant bits are always there to round from, also after a division.

listed: floats for kernel trees_float.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

AVERAGE, SUM, MIN, MAX = range(4)

_MOST_TREES = 1 << 12
_MOST_LIMBS = 1 << 14
_PARTS = 4  # of 32 bits, of one target in one leaf
_LEAST_EXPONENT = 149  # every float32 is a multiple of 2**-149
_GUARDS, _GUARDS_DIVIDED = 3, 5  # limbs below the weights': 24 bits, and as many of the divisor's
_HEADROOM = 4  # limbs above: sums of _MOST_TREES, the last part of an entry, a sign

Leaf = Sequence[tuple[int, np.floating]]  # (target, weight)


@dataclass
class Leaves:
    """numbers: of the forest's leaves in the table; end: no number is that high."""

    kernel: str
    numbers: dict[int, int]
    end: int
    arrays: list[np.ndarray]
    params: list[int]
    n_words: int = 0  # of scratch


def exact(
    leaves: Sequence[Leaf],
    used: Sequence[int],
    base: np.ndarray,
    divisor: int,
    n_trees: int,
    mirrored: bool = False,
) -> Leaves | None:
    """For kernel trees; None where it does not serve.

    base: of each target; mirrored: target 0 is its base less target 1.
    """
    common = [(t, w) for t, w in enumerate(base)]
    if n_trees > _MOST_TREES or not _finite([*leaves, common]):
        return None
    sums = [_sums(leaves[leaf]) for leaf in used]
    always = {t: v * divisor for t, v in _sums(common).items()}
    found = [v for leaf in (*sums, always) for v in leaf.values()]
    lowest = min(map(_trailing_zeros, found), default=0)
    bits = max((abs(v).bit_length() for v in found), default=0) - lowest
    guards = _GUARDS if divisor == 1 else _GUARDS_DIVIDED
    limbs = guards + -(-bits // 8) + _HEADROOM + 1
    if limbs * len(base) > _MOST_LIMBS:
        return None
    rows, starts, numbers = [], {}, []
    for leaf in (*sums, always):
        units = {t: v >> lowest << 8 * guards for t, v in leaf.items()}
        entries = _entries(units, limbs)
        if len(entries) > _PARTS * len(base):
            return None
        if entries not in starts:
            starts[entries] = len(rows)
            rows += entries
        numbers.append(starts[entries])
    least = max(1, 8 * guards - lowest)
    exponent = 127 - _LEAST_EXPONENT + lowest - 8 * guards
    return Leaves(
        "trees",
        dict(zip(used, numbers, strict=False)),
        len(rows),
        [np.array(rows, np.uint16)],
        [divisor, numbers[-1], limbs, least, exponent, int(mirrored)],
        1 + limbs * len(base),
    )


def _finite(leaves):
    return all(np.isfinite(w) for leaf in leaves for _, w in leaf)


def _sums(leaf):
    """{target: its weight in units of 2**-149}"""
    found: dict[int, int] = {}
    for t, w in leaf:
        found[t] = found.get(t, 0) + int(math.ldexp(float(w), _LEAST_EXPONENT))
    return {t: v for t, v in found.items() if v}


def _trailing_zeros(v):
    return (v & -v).bit_length() - 1


def _entries(units, limbs):
    """(limb and flags, low, high) of a leaf: see loops/tree_sums."""
    found = []
    for t, v in units.items():
        rest, minus = abs(v), int(v < 0) << 1
        while rest:
            k = _trailing_zeros(rest) // 8
            part = rest >> 8 * k & 0xFFFFFFFF
            found.append(((t * limbs + k) << 2 | minus | 1, part & 0xFFFF, part >> 16))
            rest -= part << 8 * k
    found = found or [(1, 0, 0)]
    place, low, high = found[-1]
    return (*found[:-1], (place - 1, low, high))


def listed(
    leaves: Sequence[Leaf], used: Sequence[int], base: np.ndarray, aggregate: int, dtype: type
) -> Leaves:
    """For kernel trees_float: equal leaves once, no zeros in sums."""
    numbers, packed, first, entries = {}, {}, [0], []
    for leaf in used:
        pairs = tuple(_merged(leaves[leaf], aggregate).items())
        key = tuple((t, w.tobytes()) for t, w in pairs)
        if key not in packed:
            packed[key] = len(packed)
            entries += pairs
            first.append(len(entries))
        numbers[leaf] = packed[key]
    targets = _narrow([t for t, _ in entries])
    weights = np.array([w for _, w in entries], dtype)
    arrays = [_narrow(first), targets, weights, base.astype(dtype)]
    return Leaves("trees_float", numbers, len(packed), arrays, [aggregate])


def _merged(entries, aggregate):
    """{target: weight}"""
    found = {}
    for target, weight in entries:
        if target not in found:
            found[target] = weight
        elif aggregate in (MIN, MAX):
            found[target] = (min if aggregate == MIN else max)(found[target], weight)
        else:
            found[target] = found[target] + weight
    if aggregate in (MIN, MAX):
        return found
    return {t: w for t, w in found.items() if w != 0}


def _narrow(values):
    """As the smallest of the dtypes that the kernel takes."""
    top = max(values, default=0)
    return np.array(values, np.uint8 if top < 256 else np.uint16 if top < 65536 else np.int32)
