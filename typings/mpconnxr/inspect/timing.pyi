class Benchmark:
    n: int
    min_us: int
    max_us: int
    p50_us: int
    p95_us: int
    p99_us: int
    def __init__(self, times: list[int]) -> None: ...
    def percentile(self, p: int) -> int: ...
