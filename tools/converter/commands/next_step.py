"""Say what a conversion wrote, whether it fits the user's board, and which command comes next."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from tools.deploy import fit
from tools.deploy.boards import Board

from ..converted import Converted
from ..options import Options
from ..report import fits
from ..report.terminal import time_text


@dataclass(frozen=True)
class NextStep:
    """What follows a conversion.

    Attributes:
        model: the .onnx.
        output: the file that was written.
        options: of the conversion.
        board: the board that the user names; None without one.
    """

    model: Path
    output: Path
    options: Options
    board: Board | None

    def report(self, converted: Converted) -> dict:
        """Return the file, its fit on the board and the next commands, for JSON."""
        result = {"file": str(self.output), "next": self._commands(converted)}
        if not self.board:
            return result
        one = fits.fit_of(converted, self.board)
        about = {
            "name": self.board.name,
            "verdict": one.verdict,
            "heap_bytes": one.needs.total,
            "free_heap_bytes": self.board.free_heap_bytes,
            "seconds": one.seconds.likely if one.seconds else None,
        }
        return result | {"board": about}

    def print(self, converted: Converted) -> None:
        """Print the same for people."""
        print(f"saved    {self.output}, {len(converted.data):,} bytes")
        if self.board:
            print(f"board    {self._verdict(fits.fit_of(converted, self.board))}")
        run, flash = self._commands(converted)
        print(f"next     {run} runs it here, {flash} on a board")

    def _commands(self, converted):
        """Return the commands that run the file on this computer, and deploy it."""
        has_vector = converted.vector is not None and not self.options.strip
        own = ["--ops", str(self.options.ops)] if self.options.ops else []
        run = ["run", str(self.output), *([] if has_vector else ["--random", "1"]), *own]
        flash = ["flash", str(self.output), *([] if has_vector else ["--no-verify"]), *own]
        return [shlex.join(["mpconnxr", *words]) for words in (run, flash)]

    def _verdict(self, one: fits.Fit) -> str:
        """Return whether the model fits the board, or else what is missing and what may help."""
        board = one.board
        name = f"{board.title} ({board.name})"
        heap = f"{_kb(one.needs.total)} KB of heap"
        if board.free_heap_bytes:
            heap = f"{_kb(one.needs.total)} of {_kb(board.free_heap_bytes)} KB of heap"
        time = f", about {time_text(one.seconds.likely)} a run" if one.seconds else ""
        advise = shlex.join(["mpconnxr", "advise", str(self.model), "--board", board.name])
        match one.verdict:
            case "not able":
                return f"{name}: {board.unable}"
            case "fits":
                return f"fits {name}: {heap}{time} (estimate)"
            case "may fit":
                return f"may just fit {name}: {heap}{time} (estimate); {advise} tries to lower it"
            case "heap not known":
                return f"it is not known whether it fits {name}: it needs {heap}{time} (estimate)"
            case "weights in place":
                option = "--romfs" if board.romfs else "--reserve BYTES"
                heap = f"{_kb(one.in_place.total)} of {_kb(board.free_heap_bytes)} KB of heap"
                return f"fits {name} with mpconnxr flash {option}: {heap}{time} (estimate)"
        lack = fit.shortage(one.needs, one.file_bytes, fit.memory_of(board))
        return f"does not fit {name}: {lack}. {advise} tries what may help"


def _kb(nbytes):
    """Return bytes in KB of 1,000 bytes, as flash prints them."""
    kb = nbytes / 1000
    return f"{kb:,.0f}" if kb >= 10 else f"{kb:.1f}"
