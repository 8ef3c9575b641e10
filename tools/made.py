"""Where these tools lie, and helpers of the generators of modules, tools.asm and tools.loops."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
# The folder in which Python finds the package of these tools.
IMPORTED_FROM = Path(__file__).parents[__name__.count(".")]
SOURCES = Path(find_spec("mpconnxr").origin).parent  # the device package's sources


def module_arguments(name: str) -> list[str]:
    """Return arguments with which Python calls `main` of a module of these tools.

    With -m it would look for the module in the current directory first, which is anybody's.
    """
    code = f"import sys; sys.path.insert(0, {str(IMPORTED_FROM)!r}); from {name} import main; "
    return ["-P", "-c", code + "sys.exit(main())"]


def shown(path: Path) -> str:
    """Return a path for messages, relative to the project's folder."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def documented(doc: str, made: str, source: str) -> list[str]:
    """Return the lines of a module's docstring, which names the file that it is made from."""
    return [f'"""{doc}', "", f"{made} from {source}: change that file, not this one.", '"""']


def update(path: Path, text: str, check: bool) -> bool:
    """Write a generated file if its text changed.

    Args:
        path: the file.
        text: its new text.
        check: only report, do not write.

    Returns:
        True if the text differs from the file's.
    """
    if path.is_file() and path.read_text() == text:
        return False
    print(f"{shown(path)}: {'differs' if check else 'written'}")
    if not check:
        path.write_text(text)
    return True
