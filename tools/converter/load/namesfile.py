"""Read the names of a model's classes from a text file (--labels-file)."""

from __future__ import annotations

from pathlib import Path

from tools import limits

from ..errors import UsageError

_MOST_NBYTES = 1 << 20


def names_in(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file, without empty ones at its end.

    Raises:
        UsageError: if a name is empty, repeated or has control characters.
        OSError: if the file cannot be read.
    """
    data = path.read_bytes()
    if len(data) > _MOST_NBYTES:
        raise UsageError(f"--labels-file: {path} has more than {_MOST_NBYTES:,} bytes")
    try:
        names = [line.strip() for line in data.decode("utf-8-sig").rstrip().splitlines()]
    except UnicodeDecodeError as e:
        raise UsageError(f"--labels-file: {path} is not UTF-8, at byte {e.start}") from None
    if not names:
        raise UsageError(f"--labels-file: {path} is empty")
    for number, name in enumerate(names, 1):
        where = f"--labels-file: {path}, line {number}"
        if not name:
            raise UsageError(f"{where}: an empty label")
        if names.index(name) < number - 1:
            raise UsageError(f"{where}: {limits.printable(name)} appears twice")
        if limits.printable(name) != name:
            raise UsageError(f"{where}: a control character in {limits.printable(name)}")
    return names
