"""What the makers of modules have in common: tools.asm and tools.loops."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "mpconnxr"  # the device package, as people write it


def shown(path: Path) -> str:
    """A path as people say it."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def documented(doc: str, made: str, source: str) -> list[str]:
    """The lines of a module's docstring, which says what it is made from."""
    return [f'"""{doc}', "", f"{made} from {source}: change that file, not this one.", '"""']


def update(path: Path, text: str, check: bool) -> bool:
    """False if the file has this text; else it is written, unless this is a check."""
    if path.is_file() and path.read_text() == text:
        return False
    print(f"{shown(path)}: {'differs' if check else 'written'}")
    if not check:
        path.write_text(text)
    return True
