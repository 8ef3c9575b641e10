"""Deploy one model to one board: check, copy, verify, activate, and report each stage.

tools/flash.py parses the options, opens the port, and calls Deployment.run or roll_back.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import PurePosixPath

from tools.format import layout
from tools.machine import Machine
from tools.romfs import image_of

from . import boards, fit, modules, romfs, transfer
from .code import File, code_for, entry_for, imported
from .device import About, Device
from .errors import BoardError, DeployError
from .model_file import ModelFile
from .modules import Package
from .origin import check_counter, check_older
from .others import others, programs, refuse_stranding
from .places import ENTRIES, NAME, places_of
from .slots import differing_in_case, settle, slots_of
from .xip import Region


class Deployment:
    """Deploy one model to a connected board.

    Creating a Deployment identifies the board, compiles the code, checks that everything fits, and
    reads the board's state. `run` and `roll_back` do the rest.

    Args:
        device: the board, with its raw REPL entered.
        model: the model file to deploy.
        package: the device package on this computer.
        args: options as tools/flash.py parses them.
        plan_for: function of (model, package, machine, in_place) that returns the DeploymentPlan.
        remedy: function of (board, free heap bytes, needs) that returns advice on what would make
            the model fit.
    """

    def __init__(
        self,
        device: Device,
        model: ModelFile,
        package: Package,
        args: argparse.Namespace,
        plan_for: Callable,
        remedy: Callable,
    ):
        self._device, self._model, self._args = device, model, args
        about = device.about()
        board = boards.board_of(about.machine, about.platform, boards.load_boards())
        check_board(about, board, args)
        self._report = args.reporter.line
        self._report("board", describe(about, board), _about_board(about, board))
        self._folder = args.dir or about.folder
        self._folders = {about.folder, self._folder}
        self._in_place = bool(args.reserve or args.romfs)
        self._package = package
        self._machine = None if args.source else machine_of(about, board)
        self._is_program = False
        memory = self._board_memory(about, board)
        self._remedy = lambda needs: remedy(board, about.free_heap_bytes, needs)
        self._code = [] if args.rollback else self._code_for(memory, plan_for)
        self._places = places_of(device, self._folder)
        self._read_state()

    def _board_memory(self, about, board):
        """Return the board's memory; its file system is at least as large as its type's."""
        files = board.filesystem_bytes if board else None
        if files and not self._args.rollback and len(self._model.data) > files:
            files = max(files, self._device.space(self._folder)[0])
        return fit.Memory(about.free_heap_bytes, about.largest_bytes, files)

    def _code_for(self, memory, plan_for):
        """Compile the code that the model needs, and check that model and code fit."""
        plan = plan_for(self._model, self._package, self._machine, self._in_place)
        code, self._is_program = plan.files, plan.is_program
        self._report("model", plan.summary)
        kind, nbytes = _kind(self._machine), _nbytes(code)
        about_code = {"kind": kind, "files": len(code), "bytes": nbytes}
        self._report("code", f"{kind}, {len(code)} files, {nbytes:,} bytes", about_code)
        needs = fit.needs_of(
            self._model,
            code,
            self._in_place,
            self._args.romfs,
            program_for=plan.program_for,
            second_core=plan.second_core,
        )
        in_files = 0 if self._args.romfs else nbytes
        in_files += 0 if self._in_place else len(self._model.data)
        fit.check(needs, in_files, memory, self._remedy)
        if not self._args.no_verify:
            fit.check_verifying(needs, memory)
        of = f"{_kb(needs.total)} of {_kb(memory.heap)} KB of this board's heap"
        about_needs = {"heap_bytes": needs.total, "free_heap_bytes": memory.heap}
        self._report("fits", f"needs {of}: {needs}", about_needs)
        return code

    def _read_state(self):
        """Read the board's state; first finish any update that a power cut interrupted."""
        device, places = self._device, self._places
        self._sizes = device.sizes([self._folder])
        if not (self._args.dry_run or self._args.romfs):
            for path in settle(device, places.active, self._sizes):
                self._sizes.pop(path)
            self._sizes = device.sizes([self._folder])
        own = File(self._model.name, b"").under(self._folder).path
        self._slots = slots_of(device, own, self._sizes)
        if other := differing_in_case(self._slots.paths, self._sizes):
            raise DeployError(
                f"the board has {other}, and {own} differs from its model's name in case alone: "
                "rename it"
            )
        if self._slots.present and not self._slots.pointed and not self._args.dry_run:
            self._slots.point(device, self._slots.active)
            self._slots = replace(self._slots, pointed=True)
        self._sizes |= device.tree([places.package(place) for place in "ab"])

    def run(self) -> int:
        """Copy code and model, verify the model, and activate it; return the exit status."""
        check_counter(self._device, self._model, self._slots, self._args)
        slot, contents, reference = self._choose_slot()
        with transfer.waiting("the board compares its files"):
            place, changes = self._code_changes()
            model = File(self._slots.file(slot), contents)
            changes = changes.with_file(self._device, model, self._sizes)
        self._mark_removable(place, changes, model)
        transfer.check_space(self._device, changes, self._folder, self._sizes, self._advice(place))
        nbytes = changes.nbytes + (reference.nbytes if reference else 0)
        summary = f"{len(changes.sent)} of {len(changes.files)} files, {nbytes:,} bytes"
        if self._args.dry_run:
            for f in changes.sent:
                self._args.reporter.plain(f"would copy {f.path}, {len(f.data):,} bytes")
            sizes = {f.path: len(f.data) for f in changes.sent}
            self._report("to copy", f"{summary}, to {self._folder}", sizes)
            return 0
        try:
            self._copy(place, changes, reference)
            about = {"files": len(changes.sent), "bytes": nbytes, "folder": self._folder}
            self._report("copied", f"{summary}, to {self._folder}", about)
            return self._activate(slot, place)
        except BoardError as e:
            if not e.is_full:
                raise
            with contextlib.suppress(DeployError):
                self._undo(place, changes)
            raise DeployError(
                "the board's file system is full. The model and the code in use are as before; "
                "what was written is removed. " + self._advice(place)
            ) from None

    def _choose_slot(self):
        """Choose the slot, and with --reserve the region of flash for the model.

        Returns:
            The slot, the contents of its file, and the Reference to program into flash first (None
            if the model is there already, or is stored in the file system).
        """
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

    def _code_changes(self):
        """Return the place for the package, and the changes to make there.

        The place in use stays if no file in it gets replaced. Otherwise the other
        place gets the code for all models on the board.
        """
        active = self._places.active
        if active:
            changes = transfer.compare(self._device, self._placed(self._code, active), self._sizes)
            if self._args.overwrite or not changes.replaces(self._sizes):
                if changes.replaces(self._sizes):
                    self._others()
                return active, changes
        place = self._places.next
        is_update = active or self._places.elsewhere
        code = self._code_for_all(self._others()) if is_update else self._code
        files = self._placed(code, place)
        there = {p: n for p, n in self._sizes.items() if p not in self._places.entries}
        changes = transfer.compare(self._device, files, there)
        if active:
            changes.local = self._copies_on_board(code, changes)
        return place, changes

    def _others(self):
        """Return the other models on the board, after a check that the new code can load them."""
        other_models = others(self._device, self._folders, self._slots)
        self._report_stranded(other_models, layout.VERSION, self._package)
        return other_models

    def _report_stranded(self, other_models, version, package):
        """Report the models that a package can no longer load; refuse them unless allowed."""
        if stranded := refuse_stranding(other_models, version, package, self._args.strand):
            self._report("stranded", stranded)

    def _code_for_all(self, models):
        """Return the code for all models on the board, and for the optional modules in use."""
        kernels = {k for other in models for k in other.kernels if self._package.has_kernel(k)}
        there = {str(PurePosixPath(path).with_suffix("")) for path in self._sizes}
        at = self._places.parent(self._places.active) if self._places.active else ""
        optional = {
            name
            for name in modules.OPTIONAL
            if str(
                PurePosixPath(at, self._package.place(self._package.path(name))).with_suffix("")
            )
            in there
        }
        if self._is_program and not kernels:
            files = {f.path: f for f in imported(optional, self._package, self._machine)}
            return list((files | {f.path: f for f in self._code}).values())
        own = () if self._is_program else self._model.kernels
        model = replace(
            self._model,
            kernels=sorted({*own, *kernels}),
            optional=self._model.optional | optional,
        )
        files = {f.path: f for f in code_for(model, self._package, self._machine)}
        if self._is_program:
            files |= {f.path: f for f in self._code}
        return list(files.values())

    def _placed(self, code, place):
        """Return the package's files with their paths on the board, for one of the two places."""
        files = [f.under(self._places.parent(place)) for f in code]
        if place == "b":
            away = self._places.package("b").removeprefix(f"{self._places.folder}/{NAME}")
            entry = entry_for(self._package, self._machine, away)
            files.append(entry.under(self._places.folder or "/"))
        return files

    def _copies_on_board(self, code, changes):
        """Return {new path: path in use} of new files that the place in use already has."""
        now = [f.under(self._places.parent(self._places.active)) for f in code]
        same = transfer.compare(self._device, now, self._sizes).same
        start = len(self._places.parent(self._places.next))
        sources = {f.path[len(self._places.parent(self._places.active)) :]: f.path for f in now}
        return {
            f.path: source
            for f in changes.copy
            if (source := sources.get(f.path[start:])) in same and f not in changes.staged
        }

    def _mark_removable(self, place, changes, model):
        """Set `changes.removable`: the files on the board that may be removed before copying.

        These are leftovers of an interrupted call, the model before the last one, and everything
        in the target place that is not in use.
        """
        used = {f.path for f in changes.kept} | {f.path + transfer.NEW for f in changes.staged}
        slots = [self._slots.file(slot) for slot in "ab"]
        own = [*slots, self._slots.pointer, *(self._slots.pinned(p) for p in "ab")]
        own += [f"{self._places.folder}/{entry}" for entry in ENTRIES]
        removable = {path + transfer.NEW for path in own}
        inside = tuple(f"{self._places.package(p)}/" for p in "ab")
        removable |= {p for p in self._sizes if p.startswith(inside) and p.endswith(transfer.NEW)}
        if place != self._places.active:
            entries = self._places.entries if place == "b" else ()
            removable |= {
                p for p in self._sizes if p.startswith(self._places.package(place) + "/")
            }
            removable |= set(entries)
            changes.late = {f"{self._places.folder}/{entry}" for entry in ENTRIES}
        replaced = {model.path} if model in changes.copy else set()
        removable |= replaced
        if place == self._places.active:
            removable |= self._unused_programs(place, used, replaced)
        changes.removable = sorted(path for path in removable - used if path in self._sizes)

    def _unused_programs(self, place, used, replaced):
        """Return the files of programs whose model is missing, or about to be replaced."""
        folder = f"{self._places.package(place)}/programs/"
        there = {path for path in self._sizes if path.startswith(folder)} - used
        names = programs(self._device, self._folders, replaced) if there else set()
        # NAME_steps belongs to program NAME
        return {p for p in there if PurePosixPath(p).stem.partition("_")[0] not in names}

    def _advice(self, place):
        if place == self._places.active:
            return transfer.ADVICE
        return (
            "the code there stays until the new one is whole, which takes space for both. Remove "
            "files there, or give --overwrite: then a board that loses its power meanwhile may "
            "load no model until mpconnxr flash is called again"
        )

    def _copy(self, place, changes, reference):
        """Write all new files to places that are not in use.

        Args:
            place: place of the package.
            changes: the files to copy and to remove.
            reference: the region of flash for the model; None if the model is a file.
        """
        device = self._device
        if place != self._places.active:
            self._places.check(device, place)
        transfer.clear(device, changes)
        if place != self._places.active:
            device.prune(self._places.package(place))
        if reference:
            transfer.program(self._region, reference, self._model.data)
        transfer.copy(device, changes)
        if any(f.stale for f in changes.files):
            device.prune(self._places.package(place))

    def _undo(self, place, changes):
        """Remove the files that were written, unless they replaced another file."""
        for f in changes.copy:
            self._device.remove(f.path + transfer.NEW)
            if f.path not in self._sizes or f.path in changes.removable:
                self._device.remove(f.path)
        if place != self._places.active:
            self._places.empty(self._device, place)
            self._device.remove(self._slots.pinned(place))
        self._device.remove(self._slots.pointer + transfer.NEW)

    def roll_back(self) -> int:
        """Activate the model in the slot that is not active; return the exit status."""
        slot, places = self._slots.other(), self._places
        check_older(self._device, self._slots, slot, self._args)
        try:
            return self._activate(slot, places.active, is_older=True)
        except BoardError as e:
            if not (e.is_refusal and places.parked):
                raise
        self._report("code", "the previous package, which the model needs")
        return self._activate(slot, places.parked, is_older=True)

    def _activate(self, slot, place, is_older=False):
        """Verify the model in a slot, then put the slot and the package's place in use."""
        path = self._slots.file(slot)
        if not self._computes_right(path, self._places.parent(place), is_older):
            if self._slots.active not in ("", slot):
                self._report("active", f"{self._slots.file(self._slots.active)} as before")
            return 1
        if place == self._places.active:
            self._slots.activate(self._device, slot)
        elif is_older:
            self._switch_back(slot, place)
        else:
            self._switch(slot, place)
        other = self._slots.file("ab".replace(slot, ""))
        is_there = self._device.kinds([other]) == [1]
        active = f"{path}, which load({self._model.name!r}) takes"
        self._report("active", active + (f"; --rollback: {other}" if is_there else ""))
        return 0

    def _computes_right(self, path, parent, is_older):
        if not self._args.no_verify:
            return self._verify(path, parent)
        if is_older:
            self._device.load(parent, path, self._args.timeout)
            self._device.reset()
        return True

    def _switch(self, slot, place):
        """Put a slot and the new package in use at the same instant, by one rename.

        Before it, the pointer for the new place is ignored; after it, the pointer counts.
        Everything that takes space is written before.
        """
        device = self._device
        slots = self._slots.adopt(device, slot)
        slots.stage(device, slot)
        pinned = slots.active not in ("", slot)
        if pinned:
            slots.point(device, slot, place)
        self._places.switch(device, place)
        device.put(slots.pointer)
        if pinned:
            device.remove(slots.pinned(place))

    def _switch_back(self, slot, place):
        """Put a slot and an older package in use, which may not know of pointers for a place."""
        device, slots, active = self._device, self._slots, self._places.active
        version = device.format_of(self._places.parent(place))
        device.reset()
        other_models = others(device, self._folders, slots)
        self._report_stranded(other_models, version, None)
        slots.point(device, slots.active, active)
        slots.point(device, slot)
        self._places.switch(device, place)
        device.remove(slots.pinned(active))

    def _verify(self, path, folder):
        with transfer.waiting("the board verifies the model"):
            result = self._device.verify(folder, path, self._args.timeout)
        self._device.reset()
        word = "verified" if result.ok else "NOT verified"
        time = ""
        if result.seconds is not None:
            time = f", {result.seconds * 1000:,.1f} ms a run"
            if (result.first_seconds or 0) > 1.1 * result.seconds:
                time += f" (the first one {result.first_seconds * 1000:,.1f})"
        is_beyond = result.bound is not None and result.max_error > result.bound
        most = f" (at most {result.bound:.3g} is right)" if is_beyond else ""
        heap = result.heap_bytes
        self._report(
            f"{word}:",
            f"error {result.max_error:.3g}{most} where values reach {result.largest:.3g}{time}, "
            f"peak heap {heap:,} bytes",
            asdict(result) | {"peak_heap_bytes": heap},
        )
        return result.ok


class RomDeployment(Deployment):
    """Deploy one model to the ROMFS of a board's firmware, as one image."""

    def run(self) -> int:
        """Write the image if it differs from the board's, and verify; return the exit status."""
        if self._places.active or self._slots.present or self._slots.by_hand:
            raise DeployError(
                f"{self._folder} on the board has mpconnxr or {self._model.name}, which come "
                "before those in a ROMFS: remove them (mpremote rm -r :mpconnxr, rm :mpconnxr.mpy)"
            )
        partition = romfs.Partition(self._device)
        files = {f.path: f.data for f in self._code}
        image = image_of(files | {self._model.name: self._model.data})
        old = partition.holds(image)
        if not (old or self._args.dry_run):
            transfer.write_image(partition, image)
        key = "to copy" if self._args.dry_run else "copied"
        self._report(key, f"{0 if old else len(image):,} bytes of {len(image):,}, to the ROMFS")
        if self._args.dry_run or self._args.no_verify:
            return 0
        return 0 if self._verify(f"{romfs.FOLDER}/{self._model.name}", romfs.FOLDER) else 1

    def roll_back(self) -> int:
        """Refuse: a ROMFS has no second slot.

        Raises:
            DeployError: always.
        """
        raise DeployError("a ROMFS has no earlier model")


def describe(about: About, board: boards.Board | None) -> str:
    """Return one line: the board, its firmware, its free heap, and its name in boards/."""
    version = ".".join(map(str, about.version))
    text = f"{about.machine or about.platform}, MicroPython {version}, "
    text += f"{about.free_heap_bytes:,} bytes of heap free"
    text += "" if about.native else ", no memory for native code: loops run as plain Python"
    return text + (f" ({board.name})" if board else "")


def _about_board(about, board):
    return {
        "machine": about.machine,
        "platform": about.platform,
        "version": list(about.version),
        "free_heap_bytes": about.free_heap_bytes,
        "name": board.name if board else None,
    }


def machine_of(about: About, board: boards.Board | None) -> Machine | None:
    """Return the code that a firmware can run, without features known not to work on its board.

    Returns:
        The Machine, or None if the firmware does not load the .mpy files that mpy-cross writes.
    """
    assemblers = about.assemblers
    if board and not board.inline_assembler:
        assemblers = []
    machine = Machine.of(about.mpy, assemblers)
    if not about.native:
        machine = replace(machine, arch="", assemblers=frozenset())
    return machine if machine.takes_mpy else None


def _kind(machine):
    if machine is None:
        return "sources, all forms of the loops"
    return f"compiled for {machine.arch}" if machine.arch else "compiled, no native code"


def _kb(nbytes):
    return f"{nbytes / 1000:,.1f}"


def _nbytes(files):
    return sum(len(f.data) for f in files)


def check_board(about: About, board: boards.Board | None, args: argparse.Namespace) -> None:
    """Check that a board is the expected one, and able to run models.

    Raises:
        DeployError: if it is another board, cannot run models, or does not suit --reserve.
    """
    if args.board and (board is None or board.name != args.board):
        name = board.name if board else "not known"
        raise DeployError(
            f"--board {args.board}, but the board says {about.machine or about.platform} "
            f"({name}): nothing was changed"
        )
    if board and board.unable:
        raise DeployError(f"{board.title}: {board.unable}")
    if args.reserve and about.platform != "rp2":
        raise DeployError("--reserve is for boards with an RP2040 or RP2350")
