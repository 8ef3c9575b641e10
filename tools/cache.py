"""The cache folder, outside the project, so that a new clone does not build everything again.

The standard library is all that it needs: manifest.py comes here by way of tools.package.
"""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
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


def made(name: str, make: Callable[[Path, Path], None]) -> Path:
    """A file of the cache folder, made when missing. It appears complete, that is by a rename.

    make: gets an empty folder to work in, and the path of the file to make there.
    """
    product = cache_folder() / name
    if not product.is_file():
        with locked(name), tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
            if not product.is_file():
                unfinished = Path(folder) / name
                make(Path(folder), unfinished)
                unfinished.rename(product)
    return product
