"""Which nodes' float32 products are sums in block floating point, and which are floats'.

Sums are exact in either case; with fast16 mantissas are short, so that a word holds a sum.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..ir import Graph, walk

MODES = ("exact", "fast16", "python")  # of --float
_KERNELS = ("block_conv", "block_gemm", "conv_max_pool")
_UINT32 = 12  # of short mantissas

_plain: ContextVar[Collection[str] | None] = ContextVar("plain", default=())
_long: ContextVar[Collection[str] | None] = ContextVar("long", default=None)
_bits: ContextVar[int] = ContextVar("bits", default=24)


@contextmanager
def use(
    mode: str, plain: Collection[str] = (), bits: int = 24, long: Collection[str] = ()
) -> Iterator[None]:
    """While it lasts nodes are lowered so. plain: names of nodes that compute with floats; bits:
    of the weights of the others, where they fit; long: names that fast16 leaves as exact has them.
    """
    token = _plain.set(None if mode == "python" else plain)
    width = _bits.set(bits)
    kept = _long.set(long if mode == "fast16" else None)
    try:
        yield
    finally:
        _plain.reset(token)
        _bits.reset(width)
        _long.reset(kept)


def held_bits() -> int:
    """Bits of weights, if that many hold them without loss."""
    return _bits.get()


def is_exact(name: str) -> bool:
    """Whether the products of the node of this name are exact."""
    plain = _plain.get()
    return plain is not None and name not in plain


def is_short(name: str) -> bool:
    """Whether the node of this name has short mantissas, where its products are exact."""
    long = _long.get()
    return long is not None and name not in long


def notes(graph: Graph, mode: str, plain: Collection[str], long: Collection[str]) -> list[str]:
    """What a user should know of the nodes that are not as the mode says: see use."""
    found = [f"{name}: computed with floats; its range is too wide for blocks" for name in plain]
    if mode != "fast16":
        return found
    found += [f"{name}: exact; it would lose too much with --float fast16" for name in long]
    steps = [s for s in walk(graph.steps) if s.kernel in _KERNELS and s.macs]
    others = [s.node for s in steps if s.inputs[1].dtype != _UINT32]
    others = [name for name in dict.fromkeys(others) if name.partition(" ")[2] not in long]
    return found + [f"{name}: exact; --float fast16 is not for its weights" for name in others]
