from collections.abc import MutableSequence

class LogMel:
    rate: int
    size: int
    bands: int
    def __init__(
        self,
        rate: int,
        size: int = 256,
        bands: int = 20,
        low: float = 100,
        high: float | None = None,
    ) -> None: ...
    def frame(
        self,
        samples: bytes | bytearray | memoryview,
        first: int,
        out: MutableSequence[int] | MutableSequence[float] | memoryview,
        at: int = 0,
    ) -> None: ...
    def measure(self, samples: bytes | bytearray | memoryview, first: int) -> None: ...
