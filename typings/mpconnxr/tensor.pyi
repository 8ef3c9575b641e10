from array import array
from collections.abc import Sequence
from typing import Any, TypeAlias

_Buffer: TypeAlias = bytes | bytearray | memoryview
_Value: TypeAlias = float | str | _Buffer | array[Any] | Sequence[Any] | dict[Any, Any]

class Tensor:
    image: Any
    name: str | None
    shape: tuple[int, ...]
    nelem: int
    nbytes: int
    scale: float | None
    zero_point: int | None
    def __init__(
        self,
        buffer: _Buffer,
        offset: int,
        nbytes: int,
        dtype: int,
        shape: tuple[int, ...],
        name: str | None = None,
    ) -> None: ...
    @property
    def dtype(self) -> str: ...
    @property
    def data(self) -> Any: ...
    def floats(self) -> list[float]: ...
    def quantize(self, x: Sequence[float]) -> None: ...
    def dequantize(self) -> list[float]: ...
    def load_image(self, buf: _Buffer, width: int, height: int, format: str) -> None: ...
    def like(self, buffer: _Buffer, offset: int) -> Tensor: ...
    def view(self, code: str) -> memoryview: ...
