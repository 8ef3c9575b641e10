"""python -m benchmarks.rooms [MODEL.onnx]: how many files and rooms a conversion passes.

A room is a folder. Every call of a Python function of this project counts as a step into its
file; a step into another folder than that of the step before changes rooms. Few changes mean that
a reader who follows the data stays in one place for a while.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tools.converter.convert import Options, convert

ROOT = Path(__file__).parents[1]
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


@dataclass
class Walk:
    """The path of a run through the project's files.

    Attributes:
        files: calls by file, as a path below the project's folder.
        changes: how often a call leads from one folder to another, by (from, to).
    """

    files: Counter[str] = field(default_factory=Counter)
    changes: Counter[tuple[str, str]] = field(default_factory=Counter)
    _room: str = ""

    def enter(self, frame, event, _argument):
        """Count one event of sys.setprofile."""
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(f"{ROOT}/") and "/.venv/" not in name:
            file = name[len(f"{ROOT}/") :]
            room = file.rpartition("/")[0]
            self.files[file] += 1
            if self._room and room != self._room:
                self.changes[self._room, room] += 1
            self._room = room


def walk_of(model: Path) -> Walk:
    """Return the path that the conversion of a model takes, when its modules are imported."""
    convert(model, Options())
    walk = Walk()
    sys.setprofile(walk.enter)
    try:
        convert(model, Options())
    finally:
        sys.setprofile(None)
    return walk


def main(argv: list[str] | None = None) -> int:
    """Print the counts, and the most frequent changes of rooms."""
    argv = sys.argv[1:] if argv is None else argv
    walk = walk_of(Path(argv[0]) if argv else DIGITS)
    print(f"{len(walk.files)} files, {walk.changes.total()} changes of rooms")
    for (before, after), n in walk.changes.most_common(20):
        print(f"{n:6} {before} -> {after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
