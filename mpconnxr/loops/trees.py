"""Walks decision trees on integers. Written once, in the common subset of Python and viper.

    w    the table of kernel trees: roots, slots, cuts, nodes, one after the other

A slot is one feature with its sorted cuts, four words: feature * 2 + (1 where NaN goes left),
first cut, how many cuts are negative, how many there are. The key of a float32 is its bits without
the sign, for a negative one 2**31 - 1 less these: keys of one sign rise with the values.

A node is two words, or three if wide: slot << rank_bits | rank, then left and right. These are
references: the bit `ref_bits` tells a leaf, and below it are the leaf's number, or how many nodes
ahead the child is. Always ahead, so each walk ends. Left of two words is above right.
"""

from ._words import set_at


def rank(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """out[slot] = 1 + number of its cuts below x's feature; NaN: 0 to go left, else 1 + all cuts.

    x    float32 bits
    p    first item of x, slots, first word of the slots, of the cuts, 2**31 - 1, bits of inf

    Access:
        given the slots in w name features of x, and cuts in w
        reads x[p[0] : len(x)] if p[1]
        reads w[p[2] : p[2] + 4 * p[1]]
        reads w[p[3] : len(w)] if p[1]
        writes out[0 : p[1]]
    """
    slot, at = 0, p[2]
    while slot < p[1]:
        v = x[p[0] + (w[at] >> 1)]
        key, first = v & p[4], p[3] + w[at + 1]
        low, high, found = first, first + w[at + 3], 0
        if key > p[5]:
            low, found = high, w[at] & 1
        elif (v >> 31) & 1:
            high, key = low + w[at + 2], p[4] - key
        else:
            low += w[at + 2]
        while low < high:
            middle = (low + high) >> 1
            if w[middle] < key:
                low = middle + 1
            else:
                high = middle
        if found:
            out[slot] = 0
        else:
            out[slot] = low - first + 1
        at += 4
        slot += 1


def walk(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """out[tree] = number of the leaf that the ranks x lead to.

    p    trees, first word of the nodes, words a node, rank_bits, ref_bits, shift of left, word of
         right

    Access:
        given check has found the nodes good, and the roots are nodes
        reads x[0 : len(x)] if p[0]
        reads w[0 : p[0]]
        reads w[p[1] : len(w)] if p[0]
        writes out[0 : p[0]]
    """
    tree, words, rank_bits = 0, p[2], p[3]
    rank_mask, ref_bits = (1 << rank_bits) - 1, p[4]
    ref_mask, left, right = (1 << ref_bits) - 1, p[5], p[6]
    while tree < p[0]:
        ref = w[tree]
        leaf, ref = (ref >> 29) & 1, ref & 0x1FFFFFFF
        at = p[1] + ref * words
        while leaf == 0:
            v, ref = w[at], w[at + right]
            if x[v >> rank_bits] <= v & rank_mask:
                ref = w[at + 1] >> left
            leaf, ref = (ref >> ref_bits) & 1, ref & ref_mask
            at += ref * words
        out[tree] = ref
        tree += 1


def check(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """out[0] = 1 if a node has a slot or a reference that is out of range.

    p    nodes, first word of the nodes, words a node, rank_bits, ref_bits, shift of left, word of
         right, slots, leaves

    Access:
        reads w[p[1] : p[1] + (p[0] - 1) * p[2] + max(1, p[6]) + 1] if p[0]
        writes out[0 : 1]
    """
    n, i, at, bad = p[0], 0, p[1], 0
    ref_mask = (1 << p[4]) - 1
    while i < n:
        v = w[at]
        if ((v >> 31) & 1) == 1 or v >> p[3] >= p[7]:
            bad = 1
        for side in range(2):
            ref = w[at + 1] >> p[5]
            if side == 1:
                ref = w[at + p[6]]
            number = ref & ref_mask
            if (ref >> p[4]) & 1:
                if number >= p[8]:
                    bad = 1
            elif number == 0 or i + number >= n:
                bad = 1
        at += p[2]
        i += 1
    zero = set_at(out, 0, bad)
