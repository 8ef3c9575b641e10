"""Names of classes, from a text file."""

from __future__ import annotations

from pathlib import Path

from tools import limits

from ..errors import UsageError

_MOST_NBYTES = 1 << 20


def names_in(path: Path) -> list[str]:
    """The lines of a file in UTF-8, without those that are empty at its end.

    Raises UsageError for a name that is empty, there twice or of more than a line; OSError.
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
