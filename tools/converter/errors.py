"""Declare the reasons why a model is not converted. __main__ alone catches them."""

from __future__ import annotations

from dataclasses import dataclass

from tools.errors import ConvertError, TooSmall, UsageError, text_of  # noqa: F401 (all errors are here)


class Problem(Exception):
    """A reason why one node cannot be converted.

    Attributes:
        reason: what is missing.
        todo: what the user can do about it, or "".
    """

    def __init__(self, reason, todo=""):
        super().__init__(reason)
        self.reason = reason
        self.todo = todo


class DtypeProblem(Problem):
    """An operator that no kernel serves in a dtype: narrow floats are then lowered in float32."""


class BlockedProblem(Problem):
    """The problem of a node whose inputs are unknown because of another node's problem."""


@dataclass
class Finding:
    """A Problem and its place in the model.

    Attributes:
        what: an operator with its opset, "input" or "output".
        name: name of the node or value.
        problem: the problem.
    """

    what: str
    name: str
    problem: Problem

    def __str__(self):
        todo = f" ({self.problem.todo})" if self.problem.todo else ""
        return f"{self.what}: {self.problem.reason}{todo}"


class UnsupportedModel(ConvertError):
    """Everything in a model that is not supported, all at once; equal findings share a line."""

    def __init__(self, findings: list[Finding]):
        self.findings = findings
        names: dict[str, list[str]] = {}
        for finding in findings:
            names.setdefault(str(finding), []).append(finding.name)
        lines = [f"the model is not supported, for {len(names)} reason(s):"]
        for text, where in names.items():
            more = f" and {len(where) - _NAMES_SHOWN} more" if len(where) > _NAMES_SHOWN else ""
            lines.append(f"  {text}\n      at {', '.join(where[:_NAMES_SHOWN])}{more}")
        super().__init__("\n".join(lines))


_NAMES_SHOWN = 4
