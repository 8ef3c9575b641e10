"""Why a model is not converted. Caught once, in __main__."""


class ConvertError(Exception):
    """The model is refused; the text is the whole report."""


class UsageError(ConvertError):
    """An option does not fit the model or its own form (exit status 2)."""


class Problem(Exception):
    """One thing about one node that stops the conversion.

    reason: what is missing; todo: what the user can do about it.
    """

    def __init__(self, reason, todo=""):
        super().__init__(reason)
        self.reason = reason
        self.todo = todo


class UnsupportedModel(ConvertError):
    """Everything in a model that is not supported, all at once.

    problems: [(node description, Problem)].
    """

    def __init__(self, problems):
        self.problems = problems
        lines = [f"{len(problems)} thing(s) in this model are not supported:"]
        for where, problem in problems:
            todo = f" ({problem.todo})" if problem.todo else ""
            lines.append(f"  {where}: {problem.reason}{todo}")
        super().__init__("\n".join(lines))
