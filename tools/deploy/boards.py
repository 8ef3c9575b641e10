"""The boards that we know: boards/*.toml, one a board.

Figures are typical ones, for people and for choices made before a board is at hand; each names
its source in the file. What a board says of itself wins.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import get_type_hints

from .errors import DeployError

FOLDER = Path(__file__).parent.parent.parent / "boards"
ARCHS = ("armv6m", "armv7m", "armv7em", "armv7emsp", "armv7emdp", "xtensa", "xtensawin", "rv32imc")
EMITTERS = ("native", "viper")
ASSEMBLERS = ("", "thumb", "rv32", "xtensa")
SOURCED = ("arch", "emitters", "clock_hz", "flash_bytes", "free_heap_bytes")


@dataclass(frozen=True)
class Board:
    """name: of its file; platform: its sys.platform; machines: patterns for what follows " with "
    in its sys.implementation._machine; arch: mpy-cross's -march; inline_assembler: "" for none;
    free_heap_bytes: after boot; sources: where a figure comes from, by field.
    """

    name: str
    title: str
    mcu: str
    platform: str
    machines: list
    arch: str
    emitters: list
    inline_assembler: str
    clock_hz: int
    flash_bytes: int
    free_heap_bytes: int
    sources: dict


def load_boards(folder: Path = FOLDER) -> list[Board]:
    """All boards by name. Raises DeployError."""
    return [load_board(path) for path in sorted(folder.glob("*.toml"), key=lambda p: p.stem)]


def load_board(path: Path) -> Board:
    """One board's file, checked. Raises DeployError."""
    try:
        table = tomllib.loads(path.read_text()) | {"name": path.stem}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
        raise DeployError(f"{path}: {e}") from None
    for problem in _problems(table):
        raise DeployError(f"{path}: {problem}")
    return Board(**table)


def _problems(table):
    """Yields what is wrong with a board's table."""
    wanted = {f.name for f in fields(Board)}
    for key in sorted(wanted ^ set(table)):
        yield f"{key} is missing" if key in wanted else f"{key} is not known"
    for key, kind in get_type_hints(Board).items():
        if type(table[key]) is not kind:
            yield f"{key} must be a {kind.__name__}"
        if kind is int and table[key] <= 0:
            yield f"{key} must be positive"
    known = {"arch": ARCHS, "inline_assembler": ASSEMBLERS}
    for key, values in known.items():
        if table[key] not in values:
            yield f"{key} must be one of {' '.join(values)}"
    if not set(table["emitters"]) <= set(EMITTERS):
        yield f"emitters are {' '.join(EMITTERS)}"
    for key in SOURCED:
        if not table["sources"].get(key):
            yield f"sources has no {key}"


def board_of(machine: str, platform: str, boards: list[Board]) -> Board | None:
    """The board whose MCU a firmware names as sys.implementation._machine has it."""
    mcu = machine.rpartition(" with ")[2]
    for board in boards:
        if board.platform == platform and any(fnmatchcase(mcu, p) for p in board.machines):
            return board
    return None


def table_of(boards: list[Board]) -> str:
    """The boards as text, one a line."""
    rows = [("board", "MCU", "-march", "assembler", "MHz", "free heap")]
    for b in boards:
        assembler, mhz = b.inline_assembler or "none", b.clock_hz // 1_000_000
        rows.append((b.name, b.mcu, b.arch, assembler, mhz, f"{b.free_heap_bytes:,}"))
    return "\n".join("{:9} {:29} {:10} {:10} {:>4} {:>10}".format(*row) for row in rows)
