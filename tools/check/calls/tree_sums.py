"""Random calls of loops/tree_sums (see draw.py).

Entries are as in a model file: the last one of a leaf has no flag `more`. The last limb of each
sum in `store` holds flags.
"""

from array import array

_BIAS = 1 << 29


def _entries(d, n, limbs):
    """Draw n entries; the last one ends a leaf."""
    entries = array("H")
    for i in range(n):
        more = d.below(2) if i + 1 < n else 0
        entries.append(d.below(limbs - 2) << 2 | d.below(2) << 1 | more)
        entries.extend(array("H", [d.word() & 0xFFFF, d.word() & 0xFFFF]))
    return entries


def add(d):
    n, trees, limbs = d.between(1, 9), d.between(1, 20), d.between(3, 24)
    leaves = array("i", [d.below(n) for _ in range(trees)])
    mirrored = limbs // 2 * d.below(2)
    common_leaf = d.below(n)
    p = [trees, limbs, mirrored, common_leaf]
    return leaves, _entries(d, n, limbs), d.blank("i", limbs + 1), p


def settle(d):
    targets, limbs = d.between(1, 4), d.between(2, 14)
    sums = d.blank("i", targets * limbs + 1)
    for i in range(targets * limbs):
        sums[i] = _BIAS + (d.word() >> d.between(4, 31)) * d.below(2)
    divisor = d.between(1, 4096) if d.below(2) else 1
    return sums, sums, sums, [targets, limbs, divisor]


def store(d):
    """Draw digits with zeros above and below, often in the middle between two floats."""
    targets, limbs, first = d.between(1, 4), d.between(8, 14), d.below(3)
    sums = array("i", [0] * targets * limbs)
    for t in range(targets):
        low = d.below(limbs - 1)
        for k in range(low, d.between(low, limbs - 1)):
            sums[t * limbs + k] = (0, 255, 128, d.below(256))[d.below(4)]
        sums[t * limbs + limbs - 1] = d.below(4)
    least = d.between(1, 8 * (limbs - 5) + 1)
    exponent = d.between(-22 - least, 230 - 8 * limbs)
    if d.below(8) == 0:
        exponent = 255 - 4 * limbs
    out = d.blank("H", 2 * (first + targets) + 1)
    return sums, sums, out, [targets, first, limbs, least, exponent + _BIAS]


def check(d):
    n, limbs = d.between(1, 9), d.between(3, 24)
    entries = _entries(d, n, limbs + d.below(2))
    entries[3 * n - 3] |= d.below(8) == 0  # rarely, the last leaf has no end, which is reported
    most_entries = d.between(2, 9)
    return entries, entries, d.blank("i", 2), [n, limbs, most_entries]
