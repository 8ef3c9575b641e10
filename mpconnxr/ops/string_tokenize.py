"""string_tokenize: tokens of strings, found by regular expressions.

    out[i] = the tokens of x[i], padded to the largest number of tokens

Tokens are the longest matches of one expression, from left to right. With `splits`, the
expressions match separators instead, each within the parts that the one before it left. Empty
matches do not count. Tokens that are too short are dropped, also between two expressions. With
`marked`, U+0002 precedes and U+0003 follows a string's tokens, unless no string has any.

Serves Tokenizer of com.microsoft (version 1).

    x       strings of fixed shape, (N) or (M, N);  pad  one string, a constant
    starts, table, classes  int32, constants: the expressions' automata (see _automaton),
        concatenated
    out     strings (*x's shape, most tokens), known only at run time
Raises ModelError. A step allocates the strings and lists that it makes, and the code points of a
string.
"""

from ..io.objects import expect_fixed
from ._automaton import automaton

# params
_SPLITS = const(0)  # flag: the expressions match separators
_MARKED = const(1)  # flag
_LEAST = const(2)  # characters of a token, from 1
_SIZES = const(3)  # [*] states, classes and intervals of each expression

OBJECTS = True
PROVED = (3, 4)


def prepare(node):
    n = (len(node.params) - _SIZES) // 3
    node.require(n > 0 and len(node.params) == _SIZES + 3 * n, "params")
    node.expect(5, 1, len(node.params))
    x, pad, starts, table, classes = node.inputs
    out = node.outputs[0]
    expect_fixed(node, x, pad)
    node.expect_dtype("int32", starts, table, classes)
    node.expect_dtype("string", out)
    node.require(pad.nelem == 1 and out.is_open, "sizes")
    node.require(len(out.shape) == len(x.shape) + 1, "shapes")
    splits, marked, least = node.extents(0, _SIZES)
    node.require(splits < 2 and marked < 2 and least > 0 and (splits or n == 1), "params")
    step = _Tokenize(x, out, pad.data[0], least)
    step.splits, step.marked = splits, marked
    step.expressions = _expressions(node, starts.data, table.data, classes.data)
    return 1, step.step


def _expressions(node, starts, table, classes):
    """Return the automata, which must fill the three tensors."""
    automata, interval, cell = [], 0, 0
    sizes = node.extents(_SIZES, len(node.params) - _SIZES)
    node.require(len(starts) == len(classes), "sizes")
    for i in range(0, len(sizes), 3):
        n_states, n_classes, n = sizes[i : i + 3]
        to, end = interval + n, cell + n_states * (n_classes + 1)
        node.require(to <= len(starts) and end <= len(table), "sizes")
        parts = starts[interval:to], table[cell:end], classes[interval:to]
        automata.append(automaton(node, *parts, n_states, n_classes))
        interval, cell = to, end
    node.require(interval == len(starts) and cell == len(table), "sizes")
    return automata


class _Tokenize:
    """The step. `prepare` sets its flags splits and marked, and the list of automata."""

    def __init__(self, x, out, pad, least):
        self.x, self.out, self.pad, self.least = x, out, pad, least

    def step(self, lo, hi):
        rows = [self._tokens(s) for s in self.x.data]
        longest = 0
        for row in rows:
            longest = max(longest, len(row))
        if self.marked and longest:
            longest += 2
            rows = [["\x02"] + row + ["\x03"] for row in rows]
        result = []
        for row in rows:
            result += row + [self.pad] * (longest - len(row))
        self.out.set(self.x.shape + (longest,), result)

    def _tokens(self, s):
        parts = [s]
        for expression in self.expressions:
            tokens = []
            for part in parts:
                self._find(expression, part, tokens)
            parts = tokens
        return parts

    def _find(self, expression, s, tokens):
        """Append the matches, or the parts between matches, to `tokens`."""
        codes = [ord(c) for c in s]
        i = start = 0
        while i < len(codes):
            end = expression.end(codes, i)
            if end == i:
                i += 1
                continue
            if self.splits:
                self._add(s[start:i], tokens)
            else:
                self._add(s[i:end], tokens)
            i = start = end
        if self.splits:
            self._add(s[start:], tokens)

    def _add(self, token, tokens):
        """Append a token that is long enough."""
        if len(token) >= self.least:
            tokens.append(token)
