"""Which nodes' float32 products are sums in block floating point, and which are floats'.

Sums are exact in either case; with fast16 mantissas are short, so that a word holds a sum.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MODES = ("exact", "fast16", "python")  # of --float
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
