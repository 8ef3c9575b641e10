"""The ways in which flash.py can put one model file on a board, with what each of them takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tools.converter.converted import Converted
from tools.converter.report import fits
from tools.converter.report.costs import Range
from tools.deploy.boards import Board
from tools.deploy.fit import Needs, needs_of
from tools.deploy.model_file import parse_model
from tools.deploy.modules import built_package
from tools.program.build import plan_deployment

_FIRMWARE = 55  # per cent
_BLOCK = 4096  # of flash, that --reserve counts in
FITTING = ("fits", "may fit")


@dataclass(frozen=True)
class Placement:
    """flash_options: of flash.py; needs: of the heap; flash_bytes: of all files, room: for them;
    verdict: one of fits.VERDICTS; seconds: of a run; said: the way;
    lacks_flash: the files are larger than the room.
    """

    flash_options: tuple[str, ...]
    needs: Needs
    flash_bytes: int
    room: int | None
    verdict: str
    seconds: Range | None
    said: str
    is_program: bool
    lacks_flash: bool = False

    @property
    def heap(self) -> int:
        """Bytes of heap that the model needs."""
        return self.needs.total

    @property
    def fits(self) -> bool:
        """Whether the board can take it."""
        return self.verdict in FITTING


def placements(converted: Converted, board: Board) -> list[Placement]:
    """The plain one first, then those for which flash.py has an option on this board."""
    plain = fits.fit_of(converted, board)
    found = [_placement(plain, ())]
    for options in _others(plain):
        found.append(_placement(_fit(converted, plain, options), options))
    return found


def _others(fit: fits.Fit) -> Iterator[tuple[str, ...]]:
    """Options of flash.py that put a model elsewhere, or as something else."""
    board = fit.board
    if fit.way.is_program:
        yield ("--interpret",)
    if board.unable or board.emulated:
        return
    if board.romfs:
        yield ("--romfs",)
    elif board.platform == "rp2" and board.flash_bytes and board.filesystem_bytes:
        # a Pico's firmware takes this part of what the file system leaves; flash.py asks the board
        free = (board.flash_bytes - board.filesystem_bytes) * (100 - _FIRMWARE) // 100
        nbytes = -(-fit.model_bytes // _BLOCK) * _BLOCK
        if nbytes <= free:
            yield ("--reserve", str(nbytes))


def _fit(converted, plain, options):
    """As flash.py works it out with these options."""
    model = parse_model("model.bin", converted.data)
    romfs = "--romfs" in options
    in_place = romfs or "--reserve" in options
    why = "--interpret" if "--interpret" in options else ""
    way = plan_deployment(model, built_package(), plain.board.machine, in_place, why)
    needs = needs_of(model, way.files, in_place, romfs, program_for=way.program_for)
    return fits.Fit(
        plain.board, way, plain.model_bytes, needs, needs, plain.seconds, plain.guessed
    )


def _placement(fit, options):
    board = fit.board
    nbytes = fit.code_bytes if "--reserve" in options else fit.file_bytes
    room = board.filesystem_bytes or board.flash_bytes
    verdict = fit.heap_verdict
    if verdict == "weights in place":
        verdict = "too large"  # another placement says so
    lacks_flash = bool(room and nbytes > room)
    if verdict in FITTING and lacks_flash:
        verdict = "flash too small"
    said, is_program = fit.way.summary, fit.way.is_program
    return Placement(
        options,
        fit.needs,
        fit.file_bytes,
        room,
        verdict,
        fit.seconds,
        said,
        is_program,
        lacks_flash,
    )
