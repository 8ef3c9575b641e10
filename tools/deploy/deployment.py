"""One call of tools/flash.py: what it does with a board, and what it says of it."""

from __future__ import annotations

import argparse

from . import boards, fit, transfer
from .code import File, code_for
from .device import About, Device
from .machine import Machine
from .model_file import ModelFile
from .modules import Package
from .slots import slots_of


class Deployment:
    """Of a model, to a board that answers. args: as tools/flash.py has them."""

    def __init__(
        self, device: Device, model: ModelFile, package: Package, args: argparse.Namespace
    ):
        self._device, self._model, self._args = device, model, args
        about = device.about()
        board = boards.board_of(about.machine, about.platform, boards.load_boards())
        print(f"board     {describe(about, board)}")
        machine = None if args.source else machine_of(about, board)
        self._folder = args.dir or about.folder
        code = code_for(model, package, machine)
        print(f"code      {_kind(machine)}, {len(code)} files, {_nbytes(code):,} bytes")
        self._needs = fit.needs_of(model, code)
        fit.check(self._needs, about)
        print(f"fits      about {self._needs.total:,} bytes of heap: {self._needs}")
        self._code = [f.under(self._folder) for f in code]
        self._sizes = device.sizes(_folders(self._code) | {self._folder})
        self._slots = slots_of(device, File(model.name, b"").under(self._folder).path, self._sizes)

    def run(self) -> int:
        """Copies, verifies, and makes the model the active one. Returns an exit status."""
        slot = self._slots.holding(self._device, self._model.data, self._sizes)
        target = self._slots.file(slot or self._slots.free)
        files = [*self._code, File(target, self._model.data)]
        changes = transfer.compare(self._device, files, self._sizes)
        changes.spare = self._leftovers(changes) + [target] * (not slot)
        transfer.check_space(self._device, changes, self._folder, self._sizes)
        dry = self._args.dry_run
        if dry:
            print("\n".join(f"would copy {f.path}, {len(f.data):,} bytes" for f in changes.copy))
        else:
            transfer.copy(self._device, changes)
        done = f"{len(changes.copy)} of {len(files)} files, {changes.nbytes:,} bytes"
        print(f"{'to copy' if dry else 'copied':9} {done}, to {self._folder}")
        return 0 if dry else self._activate(slot or self._slots.free)

    def _leftovers(self, changes):
        """Files that an interrupted copy left, but those of use now."""
        own = {f.path for f in self._code} | {self._slots.file(slot) for slot in "ab"}
        own = (own | {self._slots.pointer}) - {f.path for f in changes.staged}
        return [path + transfer.NEW for path in own if path + transfer.NEW in self._sizes]

    def roll_back(self) -> int:
        """Makes the model in the other slot the active one. Returns an exit status."""
        return self._activate(self._slots.other())

    def _activate(self, slot):
        """Turns the pointer to a slot if the model in it computes right."""
        path = self._slots.file(slot)
        if not self._args.no_verify and not self._verified(path):
            if self._slots.active not in ("", slot):
                print(f"active    {self._slots.file(self._slots.active)} as before")
            return 1
        self._slots.activate(self._device, slot)
        other = self._slots.file("ab".replace(slot, ""))
        earlier = f"; --rollback: {other}" if other in self._sizes and other != path else ""
        print(f"active    {path}{earlier}")
        return 0

    def _verified(self, path):
        limit = 2 * self._needs.total
        result = self._device.verify(self._folder, path, limit, self._args.timeout)
        self._device.reset()
        word = "verified" if result.ok else "NOT verified"
        time = "" if result.seconds is None else f", {result.seconds * 1000:,.1f} ms a run"
        heap = result.heap_bytes - self._model.golden_nbytes
        print(
            f"{word}: error {result.max_error:.3g} where values reach {result.largest:.3g}{time}, "
            f"peak heap {heap:,} bytes"
        )
        return result.ok


def describe(about: About, board: boards.Board | None) -> str:
    """One line: the board, its firmware, its free heap, and its entry in boards/."""
    version = ".".join(map(str, about.version))
    text = f"{about.machine or about.platform}, MicroPython {version}, "
    text += f"{about.free_heap_bytes:,} bytes of heap free"
    return text + (f" ({board.name})" if board else "")


def machine_of(about: About, board: boards.Board | None) -> Machine | None:
    """What the firmware says, less what is known not to work; None if it takes no .mpy of ours."""
    assemblers = about.assemblers
    if board and not board.inline_assembler:
        assemblers = []
    machine = Machine.of(about.mpy, assemblers)
    return machine if machine.takes_mpy else None


def _kind(machine):
    if machine is None:
        return "sources, all forms of the loops"
    return f"compiled for {machine.arch}" if machine.arch else "compiled, no native code"


def _nbytes(files):
    return sum(len(f.data) for f in files)


def _folders(files):
    return {f.path.rpartition("/")[0] or "/" for f in files}
