class StepTime:
    step: str
    name: str
    kernel: str
    forms: list[str]
    us: float
    def __init__(self, step: str, name: str, kernel: str, forms: list[str]) -> None: ...

class Profile:
    steps: list[StepTime]
    us: float
    def __init__(self, steps: list[StepTime]) -> None: ...
    def rows(self) -> list[tuple[str, str, str, str, str, str]]: ...
