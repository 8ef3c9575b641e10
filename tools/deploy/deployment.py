"""One call of tools/flash.py: what it does with a board, and what it says of it."""

from __future__ import annotations

import argparse
from dataclasses import replace

from . import boards, fit, romfs, transfer
from .code import File, code_for
from .device import About, Device
from .errors import DeployError
from .machine import Machine
from .model_file import ModelFile
from .modules import Package
from .slots import slots_of
from .xip import Region


class Deployment:
    """Of a model, to a board that answers. args: as tools/flash.py has them."""

    def __init__(
        self, device: Device, model: ModelFile, package: Package, args: argparse.Namespace
    ):
        self._device, self._model, self._args = device, model, args
        about = device.about()
        board = boards.board_of(about.machine, about.platform, boards.load_boards())
        if board and board.unable:
            raise DeployError(f"{board.title}: {board.unable}")
        if args.reserve and about.platform != "rp2":
            raise DeployError("--reserve is for boards with an RP2040 or RP2350")
        print(f"board     {describe(about, board)}")
        self._folder = args.dir or about.folder
        self._in_place = bool(args.reserve or args.romfs)
        code = [] if args.rollback else self._code_for(package, about, board)
        self._code = [f.under(self._folder) for f in code]
        self._sizes = device.sizes(_folders(self._code) | {self._folder})
        self._slots = slots_of(device, File(model.name, b"").under(self._folder).path, self._sizes)

    def _code_for(self, package, about, board):
        """What the model needs, compiled; refused if it and the model do not fit."""
        machine = None if self._args.source else machine_of(about, board)
        code = code_for(self._model, package, machine)
        print(f"code      {_kind(machine)}, {len(code)} files, {_nbytes(code):,} bytes")
        needs = fit.needs_of(self._model, code, self._in_place, code_in_place=self._args.romfs)
        fit.check(needs, about)
        print(f"fits      about {needs.total:,} bytes of heap: {needs}")
        return code

    def run(self) -> int:
        """Copies, verifies, and makes the model the active one. Returns an exit status."""
        slot, contents, reference = self._target()
        files = [*self._code, File(self._slots.file(slot), contents)]
        with transfer.waiting("the board compares its files"):
            changes = transfer.compare(self._device, files, self._sizes)
        changes.spare = self._leftovers(changes)
        if files[-1] in changes.copy:
            changes.spare.append(files[-1].path)  # the model before the last one
        transfer.check_space(self._device, changes, self._folder, self._sizes)
        nbytes = changes.nbytes + (reference.nbytes if reference else 0)
        dry = self._args.dry_run
        if dry:
            print("\n".join(f"would copy {f.path}, {len(f.data):,} bytes" for f in changes.copy))
        else:
            transfer.clear(self._device, changes)
            if reference:
                transfer.program(self._region, reference, self._model.data)
            transfer.copy(self._device, changes)
        done = f"{len(changes.copy)} of {len(files)} files, {nbytes:,} bytes"
        print(f"{'to copy' if dry else 'copied':9} {done}, to {self._folder}")
        return 0 if dry else self._activate(slot)

    def _target(self):
        """(slot, what its file shall hold, where in the flash to write the model before it)."""
        data, slots = self._model.data, self._slots
        if not self._args.reserve:
            return slots.holding(self._device, data, self._sizes) or slots.free, data, None
        self._region = Region(self._device, self._args.reserve)
        references = self._region.references(self._sizes)
        for path, slot in slots.files().items():
            if path in references and self._region.holds(references[path], data):
                return slot, references[path].data(), None
        references.pop(slots.file(slots.free), None)
        reference = self._region.place(len(data), list(references.values()))
        return slots.free, reference.data(), reference

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

    def _verified(self, path, folder=None):
        with transfer.waiting("the board verifies the model"):
            result = self._device.verify(folder or self._folder, path, self._args.timeout)
        self._device.reset()
        word = "verified" if result.ok else "NOT verified"
        time = "" if result.seconds is None else f", {result.seconds * 1000:,.1f} ms a run"
        heap = result.heap_bytes - (0 if self._in_place else self._model.golden_nbytes)
        print(
            f"{word}: error {result.max_error:.3g} where values reach {result.largest:.3g}{time}, "
            f"peak heap {heap:,} bytes"
        )
        return result.ok


class RomDeployment(Deployment):
    """To the ROMFS of a board's firmware: one image, written anew when anything in it differs."""

    def run(self) -> int:
        hiding = [p for p in self._sizes if p.startswith(f"{self._folder.rstrip('/')}/mpconnxr/")]
        if hiding or self._slots.present or self._slots.by_hand:
            raise DeployError(
                f"{self._folder} on the board has mpconnxr or {self._model.name}, which come "
                "before those in a ROMFS: remove them (mpremote rm -r :mpconnxr)"
            )
        partition = romfs.Partition(self._device)
        root = len(self._folder.rstrip("/")) + 1
        files = [replace(f, path=f.path[root:]) for f in self._code]
        image = romfs.image_of([*files, File(self._model.name, self._model.data)])
        old = partition.holds(image)
        if not (old or self._args.dry_run):
            transfer.write_image(partition, image)
        done = "to copy" if self._args.dry_run else "copied"
        print(f"{done:9} {0 if old else len(image):,} bytes of {len(image):,}, to the ROMFS")
        if self._args.dry_run or self._args.no_verify:
            return 0
        return 0 if self._verified(f"{romfs.FOLDER}/{self._model.name}", romfs.FOLDER) else 1

    def roll_back(self) -> int:
        raise DeployError("a ROMFS has no earlier model")


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
