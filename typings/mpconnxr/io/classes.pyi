from collections.abc import Sequence
from typing import Any

from ..tensor import Tensor

def top_k(
    output: Tensor | Sequence[float] | dict[Any, float],
    k: int = 1,
    labels: Sequence[Any] | None = None,
    softmax: bool = False,
    threshold: float | None = None,
) -> list[tuple[Any, float]]: ...
