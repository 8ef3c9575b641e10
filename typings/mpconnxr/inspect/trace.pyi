from collections.abc import Callable

from ..model import Model
from ..tensor import Tensor, _Value
from .profile import StepTime

def follow(
    model: Model,
    each: Callable[[StepTime, list[Tensor | None]], object],
    x: _Value | None = None,
) -> list[Tensor]: ...
def trace(
    model: Model,
    x: _Value | None = None,
    level: int = 1,
    write: Callable[[str], object] = print,
    dump: str | None = None,
) -> list[Tensor]: ...
def save(t: Tensor, path: str) -> None: ...
