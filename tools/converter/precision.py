"""Which nodes' float32 products are exact sums in block floating point, and which are floats'."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MODES = ("exact", "python")  # of --float
_plain: ContextVar[Collection[str] | None] = ContextVar("plain", default=())
_bits: ContextVar[int] = ContextVar("bits", default=24)


@contextmanager
def use(mode: str, plain: Collection[str] = (), bits: int = 24) -> Iterator[None]:
    """While it lasts nodes are lowered so. plain: names of nodes that compute with floats; bits:
    of the weights of the others, where they fit.
    """
    token = _plain.set(plain if mode == "exact" else None)
    width = _bits.set(bits)
    try:
        yield
    finally:
        _plain.reset(token)
        _bits.reset(width)


def held_bits() -> int:
    """Bits of weights, if that many hold them without loss."""
    return _bits.get()


def is_exact(name: str) -> bool:
    """Whether the products of the node of this name are exact."""
    plain = _plain.get()
    return plain is not None and name not in plain
