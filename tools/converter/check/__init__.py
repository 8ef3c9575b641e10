"""Whether a file computes what the model does: it is run on this computer with a golden input.

The commands that write a file call `check`; docs/convert.md, "The file is run", says what it does.
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
    """The file computes something else than the model."""


@dataclass(frozen=True)
class Outcome:
    """What a check found; text: one line.

    error: the largest one of an output of floats, as a part of its largest magnitude; None where
    no output has floats, or nothing was checked.
    """

    is_checked: bool
    text: str
    error: float | None = None
    target: str | None = None

    def __str__(self) -> str:
        return f"checked: {self.text}" if self.is_checked else f"not checked: {self.text}"

    def report(self) -> dict:
        """Return the same for JSON."""
        return {
            "checked": self.is_checked,
            "text": self.text,
            "error": self.error,
            "target": self.target,
        }


def check(converted: Converted, options: Options) -> Outcome:
    """Run a file on this computer and compare its outputs with the reference.

    Args:
        converted: of a conversion with options.vector.
        options: those of the conversion.

    Raises:
        WrongFile: it computes something else.

    """
    if not options.check:
        return Outcome(False, "--no-check")
    if converted.vector is None:
        return Outcome(False, converted.no_vector)
    vectors = _vectors(converted, options)
    try:
        found = run_file.run(converted, options, len(vectors))
    except run_file.NotRun as e:
        return Outcome(False, str(e))
    except run_file.Failed as e:
        raise WrongFile(f"the file does not run: {e}. {_ADVICE}") from None
    pairs = zip(vectors, found.runs, strict=True)
    differences = [d for vector, outputs in pairs for d in compare.differences(vector, outputs)]
    wrong = [d for d in differences if not d.is_right]
    if wrong:
        where = layers.first_that_deviates(converted, options)
        text = "; ".join(map(str, wrong))
        raise WrongFile(
            f"the file computes something else than the model: {text}. {where}{_ADVICE}"
        )
    return Outcome(True, compare.text_of(differences), compare.error_of(differences), found.target)


def _vectors(converted, options):
    """What each run should give: of a model with states, of some runs that keep them.

    In a later run, errors of the ones before it add up.
    """
    first = converted.vector
    if not options.state:
        return [first]
    relative = relative_of(converted.graph, options.float)
    found = [first]
    for outputs in golden.stream(converted.reference, first.inputs, options.state, _RUNS)[1:]:
        k = len(found) + 1
        bounds = [
            k * (bound + (relative * largest_of(y) if is_float(y) else 0.0))
            for (_, y), bound in zip(outputs, first.bounds, strict=True)
        ]
        found.append(Vector(first.inputs, outputs, bounds))
    return found


_RUNS = 3  # of a model with states
_ADVICE = (
    "This is a bug in mpconnxr, and nothing was written: convert with --optimize 1, which leaves "
    "out most rewrites, and report this with the model; --no-check writes the file as it is"
)
