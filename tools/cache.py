"""The cache folder, outside of the project, so that a new clone does not build everything again.

Only the standard library may be imported here: manifest.py uses it through tools.package.
"""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """Return `MPCONNXR_CACHE` or `~/.cache/mpconnxr`; create the folder if it is missing."""
    folder = Path(os.environ.get("MPCONNXR_CACHE") or Path.home() / ".cache" / "mpconnxr")
    folder = folder.expanduser().absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock file `name`, so that only one of several processes builds something."""
    with open(cache_folder() / f"{name}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def made(name: str, make: Callable[[Path, Path], None]) -> Path:
    """Return a file of the cache folder; make it if it is missing.

    The file appears complete, by a rename.

    Args:
        name: name of the file.
        make: function of an empty folder to work in, and of the path of the file to write.
    """
    product = cache_folder() / name
    if not product.is_file():
        with locked(name), tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
            if not product.is_file():
                unfinished = Path(folder) / name
                make(Path(folder), unfinished)
                unfinished.rename(product)
    return product
