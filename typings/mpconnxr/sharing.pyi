from collections.abc import Sequence
from typing import BinaryIO

from .model import Model
from .tensor import _Buffer

def load_all(
    sources: Sequence[str | BinaryIO | _Buffer], verify: bool = True, stream: bool = True
) -> list[Model]: ...
