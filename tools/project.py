"""Read the defaults of a project: table [tool.mpconnxr] of pyproject.toml in the current folder.

[tool.mpconnxr]
board = "pico"
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from tools.deploy.boards import Board, advice_on, named
from tools.errors import UsageError

FILE = Path("pyproject.toml")
_KEYS = ("board",)


def board_of(name: str | None) -> Board | None:
    """Return the board of an option --board, or else the project's; None without either.

    Raises:
        UsageError: if there is no such board, or the project's table is invalid.
    """
    where = "--board"
    if name is None:
        name, where = _table().get("board"), f"{FILE}: board ="
    if name is None:
        return None
    board = named(name) if isinstance(name, str) else None
    if not board:
        raise UsageError(f"{where} {name}: no such board; {advice_on(str(name))}")
    return board


def _table():
    try:
        tables = tomllib.loads(FILE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
        raise UsageError(f"{FILE}: {e}") from None
    tool = tables.get("tool", {})
    table = tool.get("mpconnxr", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise UsageError(f"{FILE}: tool.mpconnxr is not a table")
    for key in table:
        if key not in _KEYS:
            raise UsageError(f"{FILE}: [tool.mpconnxr] has {key}; known are: {', '.join(_KEYS)}")
    return table
