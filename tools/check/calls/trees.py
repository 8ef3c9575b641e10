"""Random calls of loops/trees (see draw.py): nodes refer to others, and slots to sorted cuts."""

from array import array

_MOST, _INF = 0x7FFFFFFF, 0x7F800000
_LEAF = 1 << 29
_LEAVES = 9


def _cuts(d, n):
    """Draw n keys of one sign, rising."""
    return sorted([(d.word() & _MOST) % (_INF + 1) for _ in range(n)])


def rank(d):
    slots, cuts, features = [], [], 5
    for _ in range(d.between(1, 4)):
        negative, positive = d.below(5), d.below(5)
        slots += [d.below(features) * 2 + d.below(2), len(cuts), negative, negative + positive]
        cuts += _cuts(d, negative) + _cuts(d, positive)
    first, before, n = d.below(4), d.below(3), len(slots) // 4
    x = d.words(first + features)
    if cuts and d.below(2):  # a feature equal to a cut, or next to one
        x[first + d.below(features)] = min(cuts[d.below(len(cuts))] + d.between(-1, 1), _MOST)
    w = array("i", [0] * before + slots + cuts)
    return x, w, d.blank("i", n + 1), [first, n, before, before + 4 * n, _MOST, _INF]


def _nodes(d, n, slots, rank_bits, wide):
    """Draw the words of n nodes, whose children are later nodes or leaves.

    Args:
        d: draws numbers.
        n: number of nodes.
        slots: number of (feature, missing) pairs.
        rank_bits: bits of a threshold's rank.
        wide: nodes have three words rather than two.
    """

    def reference(i):
        leaf = i + 1 == n or d.below(2)
        return d.below(_LEAVES) | 1 << (29 if wide else 14) if leaf else d.between(1, n - 1 - i)

    words = []
    for i in range(n):
        words.append(d.below(slots) << rank_bits | d.below(1 << rank_bits))
        left, right = reference(i), reference(i)
        words += [left, right] if wide else [left << 15 | right]
    return words


def _forest(d):
    trees, n, slots = d.between(1, 4), d.between(1, 12), d.between(1, 5)
    rank_bits, wide = d.between(1, 6), d.below(2)
    roots = [d.below(_LEAVES) | _LEAF if not d.below(4) else d.below(n) for _ in range(trees)]
    w = array("i", roots + _nodes(d, n, slots, rank_bits, wide))
    return (
        w,
        (trees, n, slots),
        [trees, 2 + wide, rank_bits] + ([29, 0, 2] if wide else [14, 15, 1]),
    )


def walk(d):
    w, (trees, _, slots), p = _forest(d)
    ranks = array("i", [d.below(64) for _ in range(slots)])
    return ranks, w, d.blank("i", trees + 1), [trees] + p


def check(d):
    """Draw a forest; in half of them one word is any number."""
    w, (trees, n, slots), p = _forest(d)
    if d.below(2):
        w[d.between(trees, len(w) - 1)] = d.word()
    return w, w, d.blank("i", 2), [n] + p + [slots, _LEAVES]
