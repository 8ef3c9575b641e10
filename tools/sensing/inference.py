"""Parse what a board prints about its model and about each inference."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

from tools.deploy.errors import DeployError


@dataclass(frozen=True)
class About:
    """The interface of a model.

    Attributes:
        input: (name, dtype, shape).
        outputs: (name, dtype, shape) of each output.
        labels: names of the classes; None without any.
    """

    input: tuple
    outputs: list
    labels: tuple | None

    @staticmethod
    def of_line(line: str) -> About:
        """Parse the board's first line.

        Raises:
            DeployError: if it is something else.
        """
        try:
            return About(**ast.literal_eval(line))
        except (ValueError, SyntaxError, TypeError):
            raise DeployError(f"the board prints {line[:80]!r} instead of its model") from None

    @property
    def scores(self) -> int:
        """Index of the output with a score per class: the first float one with several, else 0."""
        for i, (_, dtype, shape) in enumerate(self.outputs):
            if "float" in dtype and math.prod(shape) > 1 or self.labels and dtype == "int8":
                return i
        return 0

    def name_of(self, i: int) -> str:
        """Return the name of class i."""
        return self.labels[i] if self.labels and i < len(self.labels) else str(i)


@dataclass(frozen=True)
class Inference:
    """One inference.

    Attributes:
        ms: milliseconds since the start.
        us: microseconds of the run.
        outputs: for each output its numbers, or its text.
    """

    ms: int
    us: int
    outputs: list

    @staticmethod
    def of_line(line: str) -> Inference:
        """Parse a line of the board.

        Raises:
            DeployError: if it is something else.
        """
        ms, _, rest = line.partition(" ")
        us, _, rest = rest.partition(" ")
        try:
            return Inference(int(ms), int(us), [_numbers(text) for text in rest.split(";")])
        except ValueError:
            raise DeployError(f"the board prints {line[:80]!r} instead of an inference") from None

    def answer(self, about: About) -> str:
        """Return the likeliest class, or the value of an output with a single element."""
        values = self.outputs[about.scores]
        if isinstance(values, str) or not values:
            return str(values)
        if len(values) == 1:
            return f"{values[0]:.6g}"
        best = max(range(len(values)), key=lambda i: (values[i] == values[i], values[i]))
        return about.name_of(best)


def _numbers(text):
    try:
        return [float(value) for value in text.split(",") if value]
    except ValueError:
        return text
