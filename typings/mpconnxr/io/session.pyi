from collections.abc import Mapping, Sequence
from typing import Any

from ..model import Model
from ..tensor import Tensor, _Value

class Session:
    model: Model
    def __init__(self, model: Model) -> None: ...
    def get_inputs(self) -> list[Tensor]: ...
    def get_outputs(self) -> list[Tensor]: ...
    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, _Value]
    ) -> list[Any]: ...
