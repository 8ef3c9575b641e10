"""The cache folder, outside the project, so that a new clone does not build everything again."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """`MPCONNXR_CACHE`, else `~/.cache/mpconnxr`. Made when missing."""
    folder = Path(os.environ.get("MPCONNXR_CACHE") or Path.home() / ".cache" / "mpconnxr")
    folder = folder.expanduser().absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock file `name`: of several processes that want the same thing, one makes it."""
    with open(cache_folder() / f"{name}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
