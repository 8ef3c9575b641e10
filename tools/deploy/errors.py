"""Why a model was not deployed. Caught once, in tools/flash.py."""


class DeployError(Exception):
    """The text is the whole report."""


class BoardError(DeployError):
    """Code on the board raised an exception.

    traceback: the board's own.
    """

    def __init__(self, traceback: str):
        self.traceback = traceback.replace("\r\n", "\n").strip()
        super().__init__(f"the board raised {self.traceback.splitlines()[-1]}")
