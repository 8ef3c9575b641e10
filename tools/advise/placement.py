"""List the placements of a model on a board that flash.py supports, and what each requires."""

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
_BLOCK = 4096  # bytes, the unit of --reserve
FITTING = ("fits", "may fit")


@dataclass(frozen=True)
class Placement:
    """One of the places in which flash.py can deploy a model.

    Attributes:
        flash_options: options of flash.py.
        needs: heap that it needs.
        flash_bytes: size of all files.
        free_flash: bytes for files; None if unknown.
        verdict: one of fits.VERDICTS.
        seconds: estimated time of a run.
        description: text such as "as a program".
        is_program: the model is deployed as a program.
        lacks_flash: the files are larger than `free_flash`.
    """

    flash_options: tuple[str, ...]
    needs: Needs
    flash_bytes: int
    free_flash: int | None
    verdict: str
    seconds: Range | None
    description: str
    is_program: bool
    lacks_flash: bool = False

    @property
    def heap(self) -> int:
        """Bytes of heap that the model needs."""
        return self.needs.total

    @property
    def fits(self) -> bool:
        """True if the board can run it, or may be able to."""
        return self.verdict in FITTING


def placements(converted: Converted, board: Board) -> list[Placement]:
    """Return the default placement, then placements by other options of flash.py."""
    plain = fits.fit_of(converted, board)
    result = [_placement(plain, ())]
    for options in _others(plain):
        result.append(_placement(_fit(converted, plain, options), options))
    return result


def _others(fit: fits.Fit) -> Iterator[tuple[str, ...]]:
    """Yield further options of flash.py for this model and board."""
    board = fit.board
    if fit.plan.is_program:
        yield ("--interpret",)
    if board.unable or board.emulated:
        return
    if board.romfs:
        yield ("--romfs",)
    elif board.platform == "rp2" and board.flash_bytes and board.filesystem_bytes:
        # an estimate of the firmware's share of the rest; flash.py reads the real size
        free = (board.flash_bytes - board.filesystem_bytes) * (100 - _FIRMWARE) // 100
        nbytes = -(-fit.model_bytes // _BLOCK) * _BLOCK
        if nbytes <= free:
            yield ("--reserve", str(nbytes))


def _fit(converted, plain, options):
    """Return the fit that flash.py would compute with these options."""
    model = parse_model("model.bin", converted.data)
    romfs = "--romfs" in options
    in_place = romfs or "--reserve" in options
    why = "--interpret" if "--interpret" in options else ""
    plan = plan_deployment(model, built_package(), plain.board.machine, in_place, why)
    needs = needs_of(model, plan.files, in_place, romfs, program_for=plan.program_for)
    return fits.Fit(
        plain.board, plan, plain.model_bytes, needs, needs, plain.seconds, plain.guessed
    )


def _placement(fit, options):
    board = fit.board
    nbytes = fit.code_bytes if "--reserve" in options else fit.file_bytes
    free_flash = board.filesystem_bytes or board.flash_bytes
    verdict = fit.heap_verdict
    if verdict == "weights in place":
        verdict = "too large"  # in this placement; there is another one for weights in place
    lacks_flash = bool(free_flash and nbytes > free_flash)
    if verdict in FITTING and lacks_flash:
        verdict = "flash too small"
    return Placement(
        options,
        fit.needs,
        fit.file_bytes,
        free_flash,
        verdict,
        fit.seconds,
        fit.plan.summary,
        fit.plan.is_program,
        lacks_flash,
    )
