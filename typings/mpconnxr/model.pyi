from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, overload

from .errors import MpconnxrError
from .inspect.profile import Profile
from .inspect.timing import Benchmark
from .tensor import Tensor, _Value

class _Array(Protocol):
    """A numpy array: on a computer alone."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...

class Model:
    inputs: list[Tensor]
    outputs: list[Tensor]
    arena_nbytes: int
    state_nbytes: int
    labels: tuple[str, ...] | None
    def __init__(self, loader: Any) -> None: ...
    @overload
    def run(
        self,
        x: _Array | Sequence[_Array] | Mapping[str, _Array],
        deadline_us: int | None = None,
    ) -> list[Any]: ...
    @overload
    def run(self, x: _Value | None = None, deadline_us: int | None = None) -> list[Tensor]: ...
    def predict(
        self,
        x: _Value | None = None,
        softmax: bool = False,
        threshold: float | None = None,
        score: bool = False,
    ) -> Any: ...
    def reset(self) -> None: ...
    def close(self) -> None: ...
    def kernels(self) -> list[tuple[str, str, dict[str, str]]]: ...
    def profile(self, x: _Value | None = None, runs: int = 1) -> Profile: ...
    def trace(
        self,
        x: _Value | None = None,
        level: int = 1,
        write: Callable[[str], object] = print,
        dump: str | None = None,
    ) -> list[Tensor]: ...
    def benchmark(self, n: int = 100, x: _Value | None = None, warm_up: int = 3) -> Benchmark: ...
    def run_until(self, x: _Value | None, deadline_us: int) -> list[Tensor]: ...
    async def run_async(self, x: _Value | None = None, slice_ms: int = 5) -> list[Tensor]: ...
    def submit(
        self,
        x: _Value | None,
        id: Any,
        completed: Callable[[Any, list[Tensor] | MpconnxrError], object],
        slice_ms: int = 5,
    ) -> None: ...
    def poll(self, slice_ms: int = 5) -> bool: ...
