from collections.abc import MutableSequence, Sequence
from typing import Any

class Window:
    channels: int
    length: int
    hop: int
    def __init__(
        self,
        out: MutableSequence[int] | MutableSequence[float] | memoryview | Any,
        channels: int = 1,
        hop: int | None = None,
        channels_first: bool = False,
    ) -> None: ...
    def reset(self) -> None: ...
    def push(self, sample: float | Sequence[float] | Any) -> bool: ...
