class Step:
    step: str
    name: str
    kernel: str
    forms: list[str]
    us: float
    def __init__(self, step: str, name: str, kernel: str, forms: list[str]) -> None: ...

class Profile:
    steps: list[Step]
    us: float
    def __init__(self, steps: list[Step]) -> None: ...
    def rows(self) -> list[tuple[str, str, str, str, str, str]]: ...
