"""Which nodes' float32 products are exact sums in block floating point, and which are floats'."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MODES = ("exact", "python")  # of --float
_plain: ContextVar[Collection[str] | None] = ContextVar("plain", default=())


@contextmanager
def use(mode: str, plain: Collection[str] = ()) -> Iterator[None]:
    """While it lasts nodes are lowered so. plain: names of nodes that compute with floats."""
    token = _plain.set(plain if mode == "exact" else None)
    try:
        yield
    finally:
        _plain.reset(token)


def is_exact(name: str) -> bool:
    """Whether the products of the node of this name are exact."""
    plain = _plain.get()
    return plain is not None and name not in plain
