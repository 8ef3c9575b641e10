from .audio import LogMel

class Mfcc(LogMel):
    coefficients: int
    def __init__(
        self,
        rate: int,
        size: int = 256,
        bands: int = 20,
        low: float = 100,
        high: float | None = None,
        coefficients: int = 13,
    ) -> None: ...
