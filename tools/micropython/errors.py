"""What can go wrong with a target, apart from the script that runs on it."""


class TargetError(Exception):
    """A target cannot be had, built or driven. One line that says what to do about it."""


class TargetTimeout(TargetError):
    """A script did not end in time and its process was killed. `stdout` is what it had said."""

    def __init__(self, message: str, stdout: str = ""):
        super().__init__(message)
        self.stdout = stdout
