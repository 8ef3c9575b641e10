"""The part of a model file that says how run-time dims decide shapes and parameters."""

from __future__ import annotations

from collections.abc import Iterable

from ..shapes import extent, extent_forms


class Table:
    """Collects what refers to run-time dims; words(): the section of the file."""

    def __init__(self):
        self._dims: dict[tuple[str, int], int] = {}
        self._expressions: dict[tuple[int, ...], int] = {}
        self._places: list[tuple[int, int]] = []

    @property
    def n_dims(self) -> int:
        """Number of dims that a run decides."""
        return len(self._dims)

    def _number(self, key):
        return self._dims.setdefault(key, len(self._dims))

    def _expression(self, value):
        words = tuple(extent_forms.postfix(value, self._number))
        return self._expressions.setdefault(words, len(self._expressions))

    def dims(self, shape: Iterable[int]) -> list[int]:
        """A shape's words: -1 - e for the value of expression e."""
        return [-1 - self._expression(d) if extent.is_open(d) else int(d) for d in shape]

    def graph(self, words: Iterable[int]) -> list[int]:
        """The graph's words as plain numbers; notes which of them are expressions."""
        plain = []
        for at, word in enumerate(words):
            if isinstance(word, extent.DimNumber):
                plain.append(self._number(word.key))
            elif extent.is_open(word):
                self._places.append((at, self._expression(word)))
                plain.append(0)
            else:
                plain.append(int(word))
        return plain

    def words(self) -> list[int]:
        """How many words, the words, number of dims; nothing where there are none.

        The words: bounds; how many expressions, each with its length; (place in the graph,
        expression).
        """
        if not self._dims:
            return []
        words = [bound for _, bound in self._dims] + [len(self._expressions)]
        for expression in self._expressions:
            words += [len(expression), *expression]
        words += [word for place in self._places for word in place]
        return [len(words), *words, len(self._dims)]
