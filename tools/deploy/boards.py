"""Read the descriptions of boards: boards/*.toml, one file a board.

Figures are typical ones, for people and for choices made before a board is connected; each names
its source in the file. What a connected board reports takes precedence. Functions that read files
raise DeployError if one is invalid.
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import MISSING, dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import get_args, get_type_hints

from tools.machine import Machine

from .errors import DeployError

FOLDER = Path(__file__).parent.parent.parent / "boards"
ARCHS = (
    "",
    "armv6m",
    "armv7m",
    "armv7em",
    "armv7emsp",
    "armv7emdp",
    "xtensa",
    "xtensawin",
    "rv32imc",
)
EMITTERS = ("native", "viper")
ASSEMBLERS = ("", "thumb", "rv32", "xtensa")
SOURCED = ("arch", "emitters", "romfs", "clock_hz", "flash_bytes", "free_heap_bytes")
SOURCED_IF_KNOWN = ("unable", "filesystem_bytes", "cycles_per_instruction", "cycles_per_mac")


@dataclass(frozen=True)
class Board:
    """The description of a board.

    A figure that is not known is None, and `sources` says so.

    Attributes:
        name: stem of its file.
        platform: pattern for its sys.platform.
        machines: patterns for its sys.implementation._machine.
        arch: mpy-cross's -march, "" without an emitter of native code.
        inline_assembler: kind of the inline assembler, "" without one.
        romfs: True if the firmware has a ROMFS.
        sources: source of each figure, by field.
        unable: reason why no model runs there, "" if models run.
        emulated: True for a target of tools.micropython.
        free_heap_bytes: free heap after boot.
        heap_is_estimated: True if free_heap_bytes is derived from the RAM, not measured.
        counted_on: target on which cycles_per_mac was counted.
        cycles_per_instruction: least and greatest number, for code that waits for nothing but RAM.
        cycles_per_mac: for "int8" and "float32" the least and greatest number of the counted
            models.
    """

    name: str
    title: str
    mcu: str
    platform: str
    machines: list
    arch: str
    emitters: list
    inline_assembler: str
    romfs: bool
    sources: dict
    unable: str = ""
    emulated: bool = False
    clock_hz: int | None = None
    flash_bytes: int | None = None
    filesystem_bytes: int | None = None
    free_heap_bytes: int | None = None
    heap_is_estimated: bool = False
    counted_on: str = ""
    cycles_per_instruction: list | None = None
    cycles_per_mac: dict | None = None

    @property
    def machine(self) -> Machine:
        """The code that it can run."""
        return Machine(self.arch, frozenset({self.inline_assembler} - {""}))

    @property
    def heap_text(self) -> str:
        """The free heap as text: '209,936', 'about 180,000', or 'not known'."""
        if not self.free_heap_bytes:
            return "not known"
        return f"{'about ' if self.heap_is_estimated else ''}{self.free_heap_bytes:,}"


def load_boards(folder: Path = FOLDER) -> list[Board]:
    """Return all boards in the order of their names."""
    return [load_board(path) for path in sorted(folder.glob("*.toml"), key=lambda p: p.stem)]


def named(name: str) -> Board | None:
    """Return the board with a name, as "pico-w" or "Pico W"; None if no board has it."""
    return next((board for board in load_boards() if board.name == _spelled(name)), None)


def advice_on(name: str, listing: str = "mpconnxr boards") -> str:
    """Return what to do about a name that no board has: the nearest one, or what lists them."""
    near = difflib.get_close_matches(_spelled(name), [b.name for b in load_boards()], n=1)
    return f"did you mean {near[0]}?" if near else f"{listing} lists them"


def _spelled(name):
    return name.strip().lower().replace(" ", "-").replace("_", "-")


def load_board(path: Path) -> Board:
    """Read and check one board's file."""
    try:
        table = tomllib.loads(path.read_text()) | {"name": path.stem}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
        raise DeployError(f"{path}: {e}") from None
    for problem in _problems(table):
        raise DeployError(f"{path}: {problem}")
    return Board(**table)


def _problems(table):
    """Yield each error in a board's table."""
    kinds = get_type_hints(Board)
    needed = {f.name for f in fields(Board) if f.default is MISSING}
    yield from (f"{key} is missing" for key in sorted(needed - set(table)))
    yield from (f"{key} is not known" for key in sorted(set(table) - set(kinds)))
    for key, value in table.items():
        kind = next(k for k in (get_args(kinds[key]) or (kinds[key],)))
        if type(value) is not kind:
            yield f"{key} must be a {kind.__name__}"
        if kind is int and value <= 0:
            yield f"{key} must be positive"
    known = {"arch": ARCHS, "inline_assembler": ASSEMBLERS}
    for key, values in known.items():
        if table[key] not in values:
            yield f"{key} must be one of {' '.join(values)}"
    if not set(table["emitters"]) <= set(EMITTERS):
        yield f"emitters are {' '.join(EMITTERS)}"
    if bool(table["arch"]) != bool(table["emitters"]):
        yield "arch and emitters go together"
    if table.get("heap_is_estimated") and "free_heap_bytes" not in table:
        yield "heap_is_estimated needs free_heap_bytes"
    yield from _range_problems(table)
    for key in [*SOURCED, *(k for k in SOURCED_IF_KNOWN if k in table)]:
        if not table["sources"].get(key):
            yield f"sources has no {key}"


def _range_problems(table):
    ranges = dict(table.get("cycles_per_mac", {}))
    if "cycles_per_instruction" in table:
        ranges["cycles_per_instruction"] = table["cycles_per_instruction"]
    for key, value in ranges.items():
        if len(value) != 2 or not 0 < value[0] <= value[1]:
            yield f"{key} must be the least and the most"


def board_of(machine: str, platform: str, boards: list[Board]) -> Board | None:
    """Return the board that matches a firmware's sys.implementation._machine and sys.platform.

    If several patterns match, the longest one wins: a board's pattern before its MCU's.
    """
    matches = [
        (len(pattern), board)
        for board in boards
        for pattern in board.machines
        if fnmatchcase(platform, board.platform) and fnmatchcase(machine, pattern)
    ]
    return max(matches, key=lambda pair: pair[0])[1] if matches else None


def table_of(boards: list[Board]) -> str:
    """Return the boards as a table, one a line, emulated ones last."""
    rows = [("board", "MCU", "-march", "assembler", "MHz", "free heap")]
    for b in sorted(boards, key=lambda b: b.emulated):
        mhz = b.clock_hz // 1_000_000 if b.clock_hz else "-"
        mcu = b.mcu.partition(" (")[0]
        heap = "not able" if b.unable else b.heap_text
        rows.append((b.name, mcu, b.arch or "none", b.inline_assembler or "none", mhz, heap))
    return "\n".join("{:19} {:19} {:9} {:9} {:>4} {:>15}".format(*row) for row in rows)
