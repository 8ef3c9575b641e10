from typing import BinaryIO

from ..tensor import _Buffer

class Result:
    ok: bool
    vectors: int
    max_error: float
    largest: float
    bound: float
    seconds: float | None
    first_seconds: float | None
    def add(self, error: float, largest: float, bound: float) -> None: ...

def verify(
    source: str | BinaryIO | _Buffer, arena: bytearray | memoryview | None = None
) -> Result: ...
