"""Kernels with one planted fault each, in a copy of the package, and models that use them."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.fuzz.modelfile import File, Node, Record
from tools import package as packages

ROOT = Path(__file__).parents[3]
BENEATH = "beneath"  # run() gives a typed error for an exception that came before any check
N = 64  # elements of x and of out
_UINT8 = 2

_HEAD = """
@micropython.viper
def _copy(x: ptr8, out: ptr8, first: int, n: int):
    for i in range(first, n):
        out[i] = x[i]


class _Step:
    pass


def prepare(node):
    node.expect(1, 1, 1)
    x, out, value = node.inputs[0], node.outputs[0], node.params[0]
    node.require(x.dtype == out.dtype == "uint8" and x.nelem == out.nelem, "tensors")
    n = out.nelem
"""

# Each by name: what follows, its parameter in a file that does no harm, what must be found.
KERNELS = {
    "planted_after": (
        """
    node.require(0 <= value <= n + 1, "number of elements")  # one more than there is
    return 1, lambda lo, hi: _copy(x.data, out.data, 0, value)
""",
        N,
        {"signal", "canary"},
    ),
    "planted_before": (
        """
    node.require(-1 <= value < n, "first element")  # one before the first
    return 1, lambda lo, hi: _copy(x.data, out.data, value, n)
""",
        0,
        {"signal", "canary"},
    ),
    "planted_endless": (
        """
    node.require(value >= 0, "step")  # it may be 0

    def step(lo, hi):
        i = 0
        while i < n:
            out.data[i] = x.data[i]
            i += value

    return 1, step
""",
        1,
        {"timeout"},
    ),
    "planted_index": (
        """
    node.require(value >= 0, "table")

    def step(lo, hi):
        table = bytes(range(value % 4096))
        for i in range(n):
            out.data[i] = table[x.data[i]]

    return 1, step
""".replace("bytes(range(value % 4096))", "bytes(value % 4096)"),
        256,
        {BENEATH},
    ),
}


def package(folder: Path) -> Path:
    """Return a copy of mpconnxr with these kernels."""
    place = folder / "mpconnxr"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(packages.folder(), place, ignore=ignore)
    for name, (body, _, _) in KERNELS.items():
        (place / "ops" / f"{name}.py").write_text(_HEAD + body)
    return place


def model(kernel: str) -> bytes:
    """Return a model with x at the start of the arena and out at its end."""
    tensors = [Record(_UINT8, 0, 0, (N,), place) for place in (0, N)]
    node = Node(kernel, [0], [1], [], [KERNELS[kernel][1]], [])
    return File(0, 2 * N, 2 * N, [], tensors, [0], [1], [], [], [node]).data()
