"""What code that packages are compiled for may rely on."""

from __future__ import annotations

from tools.deploy.boards import load_boards
from tools.machine import Machine


def machines() -> dict[str, Machine]:
    """Return a Machine by architecture, with an inline assembler if all its boards have it."""
    common = {}
    for board in load_boards():
        if board.arch:
            has = {board.inline_assembler} - {""}
            common[board.arch] = common.get(board.arch, has) & has
    return {arch: Machine(arch, frozenset(has)) for arch, has in sorted(common.items())}
