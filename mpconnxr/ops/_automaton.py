"""Deterministic automata over strings, which the converter builds from regular expressions.

Each character leads from one state to the next, by the class of its code point. State 0 is the
initial state.

    starts   int32 (I), ascending: the first code point of each of I intervals
    table    int32 (S, 1 + C): per state, whether it accepts, then the next state for each class
    classes  int32 (I): the class of each interval

A kernel lists table and classes in PROVED. `starts` needs no proof: whatever its contents, the
binary search ends at one of the intervals.
"""


def automaton(node, starts, table, classes, n_states, n_classes):
    """Check the contents of the three tensors and return an _Automaton of them.

    n_states and n_classes are its S and C, not negative. Every state and class is proved to lie
    within the table, so that reading a string cannot leave it. Raises ModelError if one does not.
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
    """An automaton whose tables are checked.

    Attributes:
        width: elements of one row of the table.
        dead: offset of the row of the dead state, or -1 if there is none.
    """

    def __init__(self, starts, table, classes, width):
        self.starts, self.table, self.classes, self.width = starts, table, classes, width
        self.dead = self._dead()

    def _dead(self):
        """Return the offset of the state that does not accept and leads only to itself, or -1."""
        for at in range(0, len(self.table), self.width):
            targets = [self.table[at + k] * self.width for k in range(1, self.width)]
            if self.table[at] == 0 and set(targets) == {at}:
                return at
        return -1

    def accepts(self, s):
        """Return True if all of s matches."""
        at = 0
        for c in s:
            at = self.table[at + 1 + self._class(ord(c))] * self.width
        return self.table[at] != 0

    def end(self, codes, i):
        """Return the end of the longest match that starts at codes[i], or i if nothing matches.

        The search reads on until no further match is possible. For an expression such as a*b, the
        time therefore grows with the square of the length of a text without b.
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
