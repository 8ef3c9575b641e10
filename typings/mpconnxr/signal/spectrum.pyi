from collections.abc import MutableSequence

from ..io.audio import LogMel

class Spectrum(LogMel):
    channels: int
    samples: memoryview
    def __init__(
        self,
        rate: float,
        size: int = 64,
        bands: int = 8,
        low: float = 0,
        high: float | None = None,
        channels: int = 1,
    ) -> None: ...
    def write(self, out: MutableSequence[int] | MutableSequence[float] | memoryview) -> None: ...
