"""Deterministic automata that read strings. The converter makes them of regular expressions.

From state 0 each character leads to another state, by the class of its code point.

    starts   int32 (I), rising: the first code points of I intervals, from 0
    table    int32 (S, 1 + C): by state whether it accepts, then the next state for each class
    classes  int32 (I): the class of each interval

A kernel lists table and classes in PROVED. Starts need no proof: whatever they are, the search
ends, and finds one of the intervals.
"""


def automaton(node, starts, table, classes, n_states, n_classes):
    """An _Automaton of these contents. Raises ModelError.

    node: a Node of mpconnxr/node.py; n_states, n_classes: its S and C, not negative. Each state
    and each class lies within the table, so reading a string cannot leave it.
    """
    width = n_classes + 1
    node.require(n_states > 0 and len(table) == n_states * width, "table")
    node.require(len(starts) == len(classes) > 0, "sizes")
    for i in range(len(table)):
        node.require(0 <= table[i] < n_states or i % width == 0, "state")
    for i in range(len(classes)):
        node.require(0 <= classes[i] < n_classes, "class")
    return _Automaton(starts, table, classes, width)


class _Automaton:
    """width: of a row of the table; dead: where the row is that no match comes from, or -1."""

    def __init__(self, starts, table, classes, width):
        self.starts, self.table, self.classes, self.width = starts, table, classes, width
        self.dead = self._dead()

    def _dead(self):
        """Of a state that accepts nothing and leads to itself only."""
        for at in range(0, len(self.table), self.width):
            ways = [self.table[at + k] * self.width for k in range(1, self.width)]
            if self.table[at] == 0 and set(ways) == {at}:
                return at
        return -1

    def accepts(self, s):
        """Whether all of s matches."""
        at = 0
        for c in s:
            at = self.table[at + 1 + self._class(ord(c))] * self.width
        return self.table[at] != 0

    def end(self, codes, i):
        """Where the longest match of code points from codes[i] on ends; i where there is none.

        It reads on until nothing can match any more. So an expression such as a*b takes a time
        that grows with the square of a text without b.
        """
        at, end = 0, i
        while i < len(codes) and at != self.dead:
            at = self.table[at + 1 + self._class(codes[i])] * self.width
            i += 1
            if self.table[at] != 0:
                end = i
        return end

    def _class(self, code):
        low, high = 0, len(self.starts)
        while high - low > 1:
            middle = (low + high) // 2
            if self.starts[middle] <= code:
                low = middle
            else:
                high = middle
        return self.classes[low]
