"""Errors of a deployment. tools/flash.py catches and prints them."""

from tools.errors import DeployError

__all__ = ["BoardError", "DeployError"]


class BoardError(DeployError):
    """Code on the board raised an exception.

    Attributes:
        traceback: the board's traceback.
        last_line: its last line.
    """

    def __init__(self, traceback: str):
        self.traceback = traceback.replace("\r\n", "\n").strip()
        self.last_line = (self.traceback or "an error without a text").splitlines()[-1]
        super().__init__(f"the board raised {self.last_line}")

    @property
    def is_full(self) -> bool:
        """True if the file system has no space left."""
        return self.last_line.startswith("OSError:") and (
            "ENOSPC" in self.last_line or self.last_line.endswith(" 28")
        )

    @property
    def is_forgotten(self) -> bool:
        """True if the board lost the code that was sent to it, as after a reset."""
        innermost = "".join(self.traceback.splitlines()[-2:-1])
        return (
            self.last_line.startswith("NameError:")
            and '"<stdin>", line 1, in <module>' in innermost
        )

    @property
    def is_refusal(self) -> bool:
        """True if the package on the board cannot load the model."""
        kinds = ("ModelError", "UnsupportedError", "ImportError")
        return self.last_line.partition(":")[0].rpartition(".")[2] in kinds
