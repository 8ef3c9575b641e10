"""Walks through decision trees on integers.

w holds the table of kernel trees: roots, slots, cuts, nodes, contiguous.

A slot is a feature with its sorted cuts and the side to which NaN goes, four words: feature * 2 +
(1 if NaN goes left), first cut, number of negative cuts, number of cuts. The key of a float32 is
its magnitude bits, for a negative one 2**31 - 1 less these: keys of one sign are in the order of
the values.

A node is two words, or three if wide: slot << rank_bits | rank, then left and right. These are
references: bit `reference_bits` marks a leaf; the bits below it are the leaf's number, or the
distance to the child in nodes. Children lie ahead, so that each walk ends. In nodes of two words,
left is above right in the second word.
"""

from ._words import set_at

# Parameters of rank
_X_START = 0  # [elements] 0..
_SLOTS = const(1)  # [slots] 0..
_SLOT_START = const(2)  # start of the slots in w [words] 0..
_CUT_START = const(3)  # start of the cuts in w [words] 0..
_MAGNITUDE_MASK = const(4)  # all bits except the sign [mask] 2**31 - 1
_INFINITY = const(5)  # [float bits] 2139095040

# Parameters of walk
_TREES = const(0)  # [trees] 1..

# Parameters of check
_NODES = 0  # [nodes] 0..

# Parameters of walk, check
_NODE_START = const(1)  # start of the nodes in w [words] 0..
_WORDS_PER_NODE = const(2)  # 2, or 3 if nodes are wide [words] 2, 3
_RANK_BITS = const(3)  # [bits] 0..29
_REFERENCE_BITS = const(4)  # bits below the leaf bit [bits] 14, 29
_LEFT_SHIFT = const(5)  # shift of the left reference in its word [bits] 0, 15
_RIGHT_WORD = const(6)  # word of a node with the right reference [words] 1, 2

# Parameters of check
_CHECK_SLOTS = const(7)  # [slots] 0..
_LEAVES = 8  # [leaves] 0..


def rank(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Set out[slot] to 1 + the number of its cuts below x's feature.

    NaN gives 0 if it goes left, else 1 + all. x holds float32 bits.

    Access:
        given the slots in w name features of x, and cuts in w
        reads x[x_start : len(x)] if slots
        reads w[slot_start : slot_start + 4 * slots]
        reads w[cut_start : len(w)] if slots
        writes out[0 : slots]
    """
    slot, place = 0, p[_SLOT_START]
    while slot < p[_SLOTS]:
        v = x[p[_X_START] + (w[place] >> 1)]
        key, first = v & p[_MAGNITUDE_MASK], p[_CUT_START] + w[place + 1]
        low, high, is_nan_left = first, first + w[place + 3], 0
        if key > p[_INFINITY]:
            low, is_nan_left = high, w[place] & 1
        elif (v >> 31) & 1:
            high, key = low + w[place + 2], p[_MAGNITUDE_MASK] - key
        else:
            low += w[place + 2]
        while low < high:
            middle = (low + high) >> 1
            if w[middle] < key:
                low = middle + 1
            else:
                high = middle
        if is_nan_left:
            out[slot] = 0
        else:
            out[slot] = low - first + 1
        place += 4
        slot += 1


def walk(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Set out[tree] to the number of the leaf that the ranks x lead to.

    Access:
        given check has accepted the nodes, and the roots are nodes or leaves
        reads x[0 : len(x)] if trees
        reads w[0 : trees]
        reads w[node_start : len(w)] if trees
        writes out[0 : trees]
    """
    tree, words_per_node, rank_bits = 0, p[_WORDS_PER_NODE], p[_RANK_BITS]
    rank_mask, reference_bits = (1 << rank_bits) - 1, p[_REFERENCE_BITS]
    reference_mask, left, right = (1 << reference_bits) - 1, p[_LEFT_SHIFT], p[_RIGHT_WORD]
    while tree < p[_TREES]:
        reference = w[tree]
        leaf, reference = (reference >> 29) & 1, reference & 0x1FFFFFFF
        at = p[_NODE_START] + reference * words_per_node
        while leaf == 0:
            head, reference = w[at], w[at + right]
            if x[head >> rank_bits] <= head & rank_mask:
                reference = w[at + 1] >> left
            leaf, reference = (reference >> reference_bits) & 1, reference & reference_mask
            at += reference * words_per_node
        out[tree] = reference
        tree += 1


def check(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Set out[0] to 1 if a node has a slot or a reference that is out of range, else to 0.

    Access:
        last = node_start + (nodes - 1) * words_per_node
        reads w[node_start : last + right_word + 1] if nodes
        writes out[0 : 1]
    """
    nodes, node, at, bad = p[_NODES], 0, p[_NODE_START], 0
    reference_mask = (1 << p[_REFERENCE_BITS]) - 1
    while node < nodes:
        head = w[at]
        if ((head >> 31) & 1) == 1 or head >> p[_RANK_BITS] >= p[_CHECK_SLOTS]:
            bad = 1
        for side in range(2):
            reference = w[at + 1] >> p[_LEFT_SHIFT]
            if side == 1:
                reference = w[at + p[_RIGHT_WORD]]
            number = reference & reference_mask
            if (reference >> p[_REFERENCE_BITS]) & 1:
                if number >= p[_LEAVES]:
                    bad = 1
            elif number == 0 or node + number >= nodes:
                bad = 1
        at += p[_WORDS_PER_NODE]
        node += 1
    zero = set_at(out, 0, bad)
