"""Pack the leaves of decision trees into constants and parameters for the kernels.

`pack_exact` makes integers of one unit for kernel trees. Bit 0 of a target's sum is far below the
lowest bit of any weight, so that there are always 25 significant bits to round from, even after a
division. `pack_floats` makes floats for kernel trees_float.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

AVERAGE, SUM, MIN, MAX = range(4)

_MAX_TREES = 1 << 12
_MAX_LIMBS = 1 << 14
_PARTS = 4  # parts of 32 bits for one target of one leaf, at most
_MIN_EXPONENT = 149  # every float32 is a multiple of 2**-149
_GUARDS, _GUARDS_DIVIDED = 3, 5  # limbs below the weights': 24 bits, and those of the divisor
_HEADROOM = 4  # limbs above: sums of _MAX_TREES, the last part of an entry, a sign

Leaf = Sequence[tuple[int, np.floating]]  # (target, weight)


@dataclass
class Leaves:
    """Packed leaves.

    Attributes:
        kernel: the kernel that reads them.
        numbers: the index in the table for each leaf of the forest.
        end: all indices are below it.
        arrays: the constants.
        params: the kernel's parameters.
        n_words: scratch [words].
    """

    kernel: str
    numbers: dict[int, int]
    end: int
    arrays: list[np.ndarray]
    params: dict[str, int]
    n_words: int = 0


def pack_exact(
    leaves: Sequence[Leaf],
    used: Sequence[int],
    base: np.ndarray,
    divisor: int,
    n_trees: int,
    mirrored: bool = False,
) -> Leaves | None:
    """Pack the used leaves for kernel trees, or return None if it does not serve them.

    Args:
        leaves: all leaves.
        used: numbers of those in use.
        base: the base value of each target.
        divisor: the sums are divided by it.
        n_trees: number of trees.
        mirrored: target 0 is its base minus target 1.
    """
    common = [(t, w) for t, w in enumerate(base)]
    if n_trees > _MAX_TREES or not _finite([*leaves, common]):
        return None
    sums = [_sums(leaves[leaf]) for leaf in used]
    always = {t: v * divisor for t, v in _sums(common).items()}
    values = [v for leaf in (*sums, always) for v in leaf.values()]
    lowest = min(map(_trailing_zeros, values), default=0)
    bits = max((abs(v).bit_length() for v in values), default=0) - lowest
    guards = _GUARDS if divisor == 1 else _GUARDS_DIVIDED
    limbs = guards + -(-bits // 8) + _HEADROOM + 1
    if limbs * len(base) > _MAX_LIMBS:
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
    exponent = 127 - _MIN_EXPONENT + lowest - 8 * guards
    return Leaves(
        "trees",
        dict(zip(used, numbers, strict=False)),
        len(rows),
        [np.array(rows, np.uint16)],
        {
            "divisor": divisor,
            "common": numbers[-1],
            "limbs": limbs,
            "least": least,
            "exponent": exponent,
            "mirrored": int(mirrored),
        },
        1 + limbs * len(base),
    )


def _finite(leaves):
    return all(np.isfinite(w) for leaf in leaves for _, w in leaf)


def _sums(leaf):
    """Return the weight of each target in units of 2**-149."""
    sums: dict[int, int] = {}
    for t, w in leaf:
        sums[t] = sums.get(t, 0) + int(math.ldexp(float(w), _MIN_EXPONENT))
    return {t: v for t, v in sums.items() if v}


def _trailing_zeros(v):
    return (v & -v).bit_length() - 1


def _entries(units, limbs):
    """Return (limb and flags, low, high) for each part of a leaf (see loops/tree_sums)."""
    entries = []
    for t, v in units.items():
        rest, minus = abs(v), int(v < 0) << 1
        while rest:
            k = _trailing_zeros(rest) // 8
            part = rest >> 8 * k & 0xFFFFFFFF
            entries.append(((t * limbs + k) << 2 | minus | 1, part & 0xFFFF, part >> 16))
            rest -= part << 8 * k
    entries = entries or [(1, 0, 0)]
    limb, low, high = entries[-1]
    return (*entries[:-1], (limb - 1, low, high))


def pack_floats(
    leaves: Sequence[Leaf], used: Sequence[int], base: np.ndarray, aggregate: int, dtype: type
) -> Leaves:
    """Pack the used leaves for kernel trees_float; equal leaves are stored once.

    Args:
        leaves: all leaves.
        used: numbers of the leaves in use.
        base: the base value of each target.
        aggregate: how the weights of a target are combined: SUM, AVERAGE, MIN or MAX.
        dtype: dtype of weights and base values.
    """
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
    return Leaves("trees_float", numbers, len(packed), arrays, {"aggregate": aggregate})


def _merged(entries, aggregate):
    """Return one weight for each target."""
    merged = {}
    for target, weight in entries:
        if target not in merged:
            merged[target] = weight
        elif aggregate in (MIN, MAX):
            merged[target] = (min if aggregate == MIN else max)(merged[target], weight)
        else:
            merged[target] = merged[target] + weight
    if aggregate in (MIN, MAX):
        return merged
    return {t: w for t, w in merged.items() if w != 0}


def _narrow(values):
    """Return values in the smallest dtype that the kernel reads."""
    top = max(values, default=0)
    return np.array(values, np.uint8 if top < 256 else np.uint16 if top < 65536 else np.int32)
