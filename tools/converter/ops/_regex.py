"""Compile regular expressions to deterministic automata, as far as RE2 and Python agree.

Python's own parser reads the expression. A Problem is raised for what is not regular (look-around,
references) or differs between RE2 and Python.
"""

from __future__ import annotations

import itertools
import re
import warnings
from re import _constants as c
from re import _parser

from ..errors import Problem

_LAST = 0x10FFFF
_MAX_STATES = 1000
_MAX_NODES = 20_000  # of the nondeterministic automaton

Ranges = list[tuple[int, int]]

_CATEGORIES = {  # of RE2, which knows ASCII only
    c.CATEGORY_DIGIT: [(48, 57)],
    c.CATEGORY_SPACE: [(9, 10), (12, 13), (32, 32)],
    c.CATEGORY_WORD: [(48, 57), (65, 90), (95, 95), (97, 122)],
}
_NEGATIONS = {
    c.CATEGORY_NOT_DIGIT: c.CATEGORY_DIGIT,
    c.CATEGORY_NOT_SPACE: c.CATEGORY_SPACE,
    c.CATEGORY_NOT_WORD: c.CATEGORY_WORD,
}

# Neighbours of a position: an end of the string, a character of a word, another character.
_EDGE, _WORD, _OTHER = range(3)
_CONDITIONS = {
    c.AT_BEGINNING: lambda before, after: before == _EDGE,
    c.AT_BEGINNING_STRING: lambda before, after: before == _EDGE,
    c.AT_END: lambda before, after: after == _EDGE,
    c.AT_BOUNDARY: lambda before, after: (before == _WORD) != (after == _WORD),
    c.AT_NON_BOUNDARY: lambda before, after: (before == _WORD) == (after == _WORD),
}


def automaton(pattern: str) -> tuple[list[int], list[int], list[list[int]]]:
    """Compile a pattern for mpconnxr/ops/_automaton.py.

    Returns:
        The first code points of intervals, the class of each interval, and a table with one row
        for each state: 1 if it accepts, then the next state for each class.
    """
    nfa = _Nfa()
    end = nfa.add(_parse(pattern), 0)
    starts = nfa.starts()
    rows, accepting = _determinize(nfa, end, starts)
    rows, accepting = _minimize(rows, accepting)
    columns = list(zip(*rows, strict=True))
    distinct = list(dict.fromkeys(columns))
    classes = [distinct.index(column) for column in columns]
    kept = [i for i in range(len(starts)) if i == 0 or classes[i] != classes[i - 1]]
    table = [[int(a), *(col[i] for col in distinct)] for i, a in enumerate(accepting)]
    return [starts[i] for i in kept], [classes[i] for i in kept], table


def has_conditions(pattern: str) -> bool:
    r"""Return True if a match depends on its neighbours: ^, $, \b or \B."""
    nfa = _Nfa()
    nfa.add(_parse(pattern), 0)
    return any(condition is not None for jumps in nfa.jumps for condition, _ in jumps)


# Syntax that Python reads otherwise than RE2, or not at all.
_DIFFERENT = {"{,": "{,", "[:": "a POSIX class", "\\Z": "\\Z", "(?P=": "a reference"}


def _parse(pattern):
    for text, why in _DIFFERENT.items():
        if text in pattern:
            raise Problem(f"pattern {pattern!r}: {why}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # for syntax that a later Python will read otherwise
            parsed = _parser.parse(pattern)
    except (re.error, Warning, OverflowError, RecursionError) as e:
        raise Problem(f"pattern {pattern!r}: {e}") from None
    if parsed.state.flags & ~re.UNICODE:
        raise Problem(f"pattern {pattern!r}: flags")
    return list(parsed)


class _Nfa:
    """A nondeterministic automaton. Its nodes are numbered.

    Attributes:
        moves: for each node a list of (ranges of characters, next node).
        jumps: for each node a list of (condition or None, node reached without a character).
    """

    def __init__(self):
        self.moves: list[list[tuple[Ranges, int]]] = [[]]
        self.jumps: list[list[tuple[object, int]]] = [[]]

    def node(self) -> int:
        if len(self.moves) >= _MAX_NODES:
            raise Problem("the pattern is too large")
        self.moves.append([])
        self.jumps.append([])
        return len(self.moves) - 1

    def jump(self, a: int, b: int, condition: object = None) -> None:
        self.jumps[a].append((condition, b))

    def add(self, tokens, at: int) -> int:
        """Add nodes for parsed tokens after node `at`; return the last node."""
        for op, value in tokens:
            at = self._add_one(op, value, at)
        return at

    def _add_one(self, op, value, at):
        if op in (c.MAX_REPEAT, c.MIN_REPEAT):  # greediness makes no difference
            return self._repeat(*value, at)
        if op == c.SUBPATTERN and not value[1] and not value[2]:
            return self.add(value[3], at)
        if op == c.BRANCH:
            end = self.node()
            for branch in value[1]:
                self.jump(self.add(branch, at), end)
            return end
        end = self.node()
        if op == c.AT and value in _CONDITIONS:
            self.jump(at, end, value)
            return end
        self.moves[at].append((_ranges(op, value), end))
        return end

    def _repeat(self, minimum, maximum, tokens, at):
        for _ in range(minimum):
            at = self.add(tokens, at)
        if maximum == c.MAXREPEAT:
            # a node of its own, so that the loop cannot lead into what was before
            start = self.node()
            self.jump(at, start)
            self.jump(self.add(tokens, start), start)
            end = self.node()
            self.jump(start, end)
            return end
        end = self.node()
        for _ in range(maximum - minimum):
            self.jump(at, end)
            at = self.add(tokens, at)
        self.jump(at, end)
        return end

    def starts(self) -> list[int]:
        """Return the first code points of intervals whose members no range separates."""
        all_ranges = [ranges for moves in self.moves for ranges, _ in moves]
        if any(condition for jumps in self.jumps for condition, _ in jumps):
            all_ranges.append(_CATEGORIES[c.CATEGORY_WORD])
        starts = {0}
        for first, last in itertools.chain(*all_ranges):
            starts |= {first, last + 1}
        return sorted(starts - {_LAST + 1})

    def closure(self, nodes, before: int, after: int) -> set[int]:
        """Return the nodes reached without a character between neighbours of these kinds."""
        reached, left = set(), list(nodes)
        while left:
            node = left.pop()
            if node not in reached:
                reached.add(node)
                jumps = self.jumps[node]
                left += [n for at, n in jumps if at is None or _CONDITIONS[at](before, after)]
        return reached


def _ranges(op, value) -> Ranges:
    """Return the code points that one character of the pattern matches."""
    if op == c.LITERAL:
        return [(value, value)]
    if op == c.NOT_LITERAL:
        return _complement([(value, value)])
    if op == c.ANY:
        return _complement([(10, 10)])
    if op == c.RANGE:
        return [value]
    if op == c.CATEGORY:
        return _CATEGORIES.get(value) or _complement(_CATEGORIES[_NEGATIONS[value]])
    if op == c.IN:
        negated = value[0][0] == c.NEGATE
        ranges = [r for token in value[negated:] for r in _ranges(*token)]
        return _complement(ranges) if negated else ranges
    raise Problem(f"a pattern with {str(op).lower()}")


def _complement(ranges: Ranges) -> Ranges:
    others, at = [], 0
    for first, last in sorted(ranges):
        if at < first:
            others.append((at, first - 1))
        at = max(at, last + 1)
    return others + ([(at, _LAST)] if at <= _LAST else [])


def _determinize(nfa, end, starts):
    """Build a deterministic automaton; a state is a set of nodes and the last character's kind.

    Args:
        nfa: the nondeterministic automaton.
        end: its accepting node.
        starts: first character of each interval of characters that behave alike.

    Returns:
        For each state the next state by interval, and whether it accepts.
    """
    words = _CATEGORIES[c.CATEGORY_WORD]
    kinds = [_WORD if any(a <= code <= b for a, b in words) else _OTHER for code in starts]
    first = (frozenset([0]), _EDGE)
    numbers, states = {first: 0}, [first]
    rows, accepting = [], []
    while len(rows) < len(states):
        nodes, before = states[len(rows)]
        accepting.append(end in nfa.closure(nodes, before, _EDGE))
        moves = {}
        for kind in (_WORD, _OTHER):
            reached = nfa.closure(nodes, before, kind)
            moves[kind] = [m for node in reached for m in nfa.moves[node]]
        row = []
        for code, kind in zip(starts, kinds, strict=True):
            reached_nodes = {
                n for ranges, n in moves[kind] if any(a <= code <= b for a, b in ranges)
            }
            state = (frozenset(reached_nodes), kind if reached_nodes else _OTHER)
            if state not in numbers:
                if len(numbers) >= _MAX_STATES:
                    raise Problem(f"the pattern needs more than {_MAX_STATES} states")
                numbers[state] = len(states)
                states.append(state)
            row.append(numbers[state])
        rows.append(row)
    return rows, accepting


def _minimize(rows, accepting):
    """Merge states that no string distinguishes (Moore)."""
    group = [int(a) for a in accepting]
    while True:
        keys = [(group[i], *(group[n] for n in row)) for i, row in enumerate(rows)]
        numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}  # state 0 stays 0
        new = [numbers[key] for key in keys]
        if len(numbers) == len(set(group)):
            break
        group = new
    chosen = {g: i for i, g in reversed(list(enumerate(new)))}
    order = sorted(chosen)
    return [[new[n] for n in rows[chosen[g]]] for g in order], [
        accepting[chosen[g]] for g in order
    ]
