"""Check that a file computes what its model does, by a run on this computer.

The commands that write a file call `check` with the golden input; docs/convert.md, "The file is
run", describes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..converted import Converted
from ..errors import ConvertError
from ..options import Options
from ..reference import compare, golden
from ..reference.tolerance import is_float, largest_of, relative_of
from ..reference.vector import Vector
from . import layers, run_file


class WrongFile(ConvertError):
    """The file computes other results than the model."""


@dataclass(frozen=True)
class Outcome:
    """The result of a check.

    Attributes:
        is_checked: the file was run.
        text: one line.
        error: largest error of a float output, relative to its largest magnitude; None without
            float outputs or if the file was not run.
        target: name of the target that ran the file.
    """

    is_checked: bool
    text: str
    error: float | None = None
    target: str | None = None

    def __str__(self) -> str:
        return f"checked: {self.text}" if self.is_checked else f"not checked: {self.text}"

    def report(self) -> dict:
        """Return the result as a dict for JSON."""
        return {
            "checked": self.is_checked,
            "text": self.text,
            "error": self.error,
            "target": self.target,
        }


def check(converted: Converted, options: Options) -> Outcome:
    """Run a file on this computer and compare its outputs with the reference.

    Raises:
        WrongFile: if they differ.
    """
    if not options.check:
        return Outcome(False, "--no-check")
    if converted.vector is None:
        return Outcome(False, converted.no_vector)
    vectors = _vectors(converted, options)
    try:
        result = run_file.run(converted, options, len(vectors))
    except run_file.NotRun as e:
        return Outcome(False, str(e))
    except run_file.Failed as e:
        raise WrongFile(f"the file does not run: {e}. {_ADVICE}") from None
    pairs = zip(vectors, result.runs, strict=True)
    differences = [d for vector, outputs in pairs for d in compare.differences(vector, outputs)]
    wrong = [d for d in differences if not d.is_right]
    if wrong:
        where = layers.first_that_deviates(converted, options)
        text = "; ".join(map(str, wrong))
        raise WrongFile(
            f"the file computes something else than the model: {text}. {where}{_ADVICE}"
        )
    return Outcome(
        True, compare.text_of(differences), compare.error_of(differences), result.target
    )


def _vectors(converted, options):
    """Return the expected outputs of each run: several runs for a model with states.

    In later runs the errors of earlier runs add up.
    """
    first = converted.vector
    if not options.state:
        return [first]
    relative = relative_of(converted.graph, options.float)
    vectors = [first]
    for outputs in golden.stream(converted.reference, first.inputs, options.state, _RUNS)[1:]:
        k = len(vectors) + 1
        bounds = [
            k * (bound + (relative * largest_of(y) if is_float(y) else 0.0))
            for (_, y), bound in zip(outputs, first.bounds, strict=True)
        ]
        vectors.append(Vector(first.inputs, outputs, bounds))
    return vectors


_RUNS = 3  # of a model with states
_ADVICE = (
    "This is a bug in mpconnxr, and nothing was written: convert with --optimize 1, which leaves "
    "out most rewrites, and report this with the model; --no-check writes the file as it is"
)
