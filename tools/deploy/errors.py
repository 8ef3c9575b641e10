"""Why a model was not deployed. Caught once, in tools/flash.py."""

from tools.errors import DeployError

__all__ = ["BoardError", "DeployError"]


class BoardError(DeployError):
    """Code on the board raised an exception.

    traceback: the board's own.
    """

    def __init__(self, traceback: str):
        self.traceback = traceback.replace("\r\n", "\n").strip()
        self.said = (self.traceback or "an error without a text").splitlines()[-1]
        super().__init__(f"the board raised {self.said}")

    @property
    def is_full(self) -> bool:
        """The file system has no room."""
        return self.said.startswith("OSError:") and (
            "ENOSPC" in self.said or self.said.endswith(" 28")
        )

    @property
    def is_forgotten(self) -> bool:
        """The board does not know the code that was sent to it: it was reset meanwhile."""
        return (
            self.said.startswith("NameError:")
            and '"<stdin>", line 1, in <module>' in self.traceback
        )

    @property
    def is_refusal(self) -> bool:
        """The package there cannot load the model."""
        kinds = ("ModelError", "UnsupportedError", "ImportError")
        return self.said.partition(":")[0].rpartition(".")[2] in kinds
