from typing import BinaryIO

from ..tensor import Tensor, _Buffer

def read(source: str | BinaryIO | _Buffer, verify: bool = True) -> list[Tensor]: ...
