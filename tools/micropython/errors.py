"""Errors of targets, as opposed to errors of the scripts that run on them."""


class TargetError(Exception):
    """A target cannot be fetched, built or run. The message says in one line what to do."""


class TargetTimeout(TargetError):
    """A script did not end in time and its process was killed. `stdout` has its output so far."""

    def __init__(self, message: str, stdout: str = ""):
        super().__init__(message)
        self.stdout = stdout
