from collections.abc import Sequence
from os import PathLike
from typing import BinaryIO

# On a computer, after `pip install mpconnxr`; boards lack them.
from mpconnxr_host.api import ConvertedModel as ConvertedModel
from mpconnxr_host.api import ConvertError as ConvertError
from mpconnxr_host.api import DeployError as DeployError
from mpconnxr_host.api import RunError as RunError
from mpconnxr_host.api import UsageError as UsageError
from mpconnxr_host.api import advise as advise
from mpconnxr_host.api import boards as boards
from mpconnxr_host.api import compare as compare
from mpconnxr_host.api import convert as convert
from mpconnxr_host.api import evaluate as evaluate
from mpconnxr_host.api import flash as flash
from mpconnxr_host.api import quantize as quantize
from mpconnxr_host.api import report as report
from mpconnxr_host.api import targets as targets

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
    source: str | PathLike[str] | ConvertedModel | BinaryIO | _Buffer,
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
