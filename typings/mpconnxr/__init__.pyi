from collections.abc import Sequence
from typing import BinaryIO

from .errors import ArenaError as ArenaError
from .errors import InputError as InputError
from .errors import ModelError as ModelError
from .errors import MpconnxrError as MpconnxrError
from .errors import UnsupportedError as UnsupportedError
from .inspect import golden as golden
from .io import tensorfile as tensorfile
from .io.classes import top_k as top_k
from .io.session import Session
from .model import Model
from .tensor import _Buffer

__version__: str

def load(
    source: str | BinaryIO | _Buffer,
    verify: bool = True,
    arena: bytearray | memoryview | None = None,
    prefer: str | Sequence[str] = (),
    stream: bool = True,
    cores: int = 1,
    *,
    sha256: str | _Buffer | None = None,
    key: _Buffer | None = None,
    counter: str | None = None,
) -> Model: ...
def InferenceSession(
    source: str | BinaryIO | _Buffer,
    verify: bool = True,
    arena: bytearray | memoryview | None = None,
) -> Session: ...
