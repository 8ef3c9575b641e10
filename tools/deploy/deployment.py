"""One call of tools/flash.py: what it does with a board, and what it says of it."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import PurePosixPath

from tools.format import layout
from tools.machine import Machine

from . import boards, fit, modules, names, romfs, transfer
from .code import File, code_for, entry_for
from .device import About, Device
from .errors import BoardError, DeployError
from .model_file import ModelFile
from .modules import Package
from .origin import check_counter, check_older
from .others import others, programs, refuse_stranding
from .places import ENTRIES, NAME, places_of
from .slots import settle, slots_of
from .xip import Region


class Deployment:
    """Of a model, to a board that answers.

    args: as tools/flash.py has them; way: of model, package, machine and whether the weights are
    used in place, how it lies on a board: see tools.program.ways; remedy: of the kind of board or
    None, its free heap and what the model needs of it, what would make it fit.
    """

    def __init__(
        self,
        device: Device,
        model: ModelFile,
        package: Package,
        args: argparse.Namespace,
        way: Callable,
        remedy: Callable,
    ):
        self._device, self._model, self._args = device, model, args
        about = device.about()
        board = boards.board_of(about.machine, about.platform, boards.load_boards())
        check_board(about, board, args)
        self._say = args.said.line
        self._say("board", describe(about, board), _about_board(about, board))
        self._folder = args.dir or about.folder
        self._folders = {about.folder, self._folder}
        self._in_place = bool(args.reserve or args.romfs)
        self._package = package
        self._machine = None if args.source else machine_of(about, board)
        self._is_program = False
        room = self._room(about, board)
        self._remedy = lambda needs: remedy(board, about.free_heap_bytes, needs)
        self._code = [] if args.rollback else self._code_for(room, way)
        self._places = places_of(device, self._folder)
        self._look()

    def _room(self, about, board):
        """What the board has; of its file system at least what all of its kind have."""
        files = board.filesystem_bytes if board else None
        if files and not self._args.rollback and len(self._model.data) > files:
            files = max(files, self._device.space(self._folder)[0])
        return fit.Room(about.free_heap_bytes, about.largest_bytes, files)

    def _code_for(self, room, way_of):
        """What the model needs, compiled; refused if it and the model do not fit."""
        way = way_of(self._model, self._package, self._machine, self._in_place)
        code, self._is_program = way.files, way.is_program
        self._say("model", way.said)
        kind, nbytes = _kind(self._machine), _nbytes(code)
        about_code = {"kind": kind, "files": len(code), "bytes": nbytes}
        self._say("code", f"{kind}, {len(code)} files, {nbytes:,} bytes", about_code)
        needs = fit.needs_of(
            self._model,
            code,
            self._in_place,
            self._args.romfs,
            program_for=way.program_for,
            second_core=way.second_core,
        )
        in_files = 0 if self._args.romfs else nbytes
        in_files += 0 if self._in_place else len(self._model.data)
        fit.check(needs, in_files, room, self._remedy)
        if not self._args.no_verify:
            fit.check_verifying(needs, room)
        of = f"{_kb(needs.total)} of {_kb(room.heap)} KB of this board's heap"
        about_needs = {"heap_bytes": needs.total, "free_heap_bytes": room.heap}
        self._say("fits", f"needs {of}: {needs}", about_needs)
        return code

    def _look(self):
        """What is on the board. What a loss of power interrupted there is ended first."""
        device, places = self._device, self._places
        self._sizes = device.sizes([self._folder])
        if not (self._args.dry_run or self._args.romfs):
            for path in settle(device, places.active, self._sizes):
                self._sizes.pop(path)
            self._sizes = device.sizes([self._folder])
        own = File(self._model.name, b"").under(self._folder).path
        self._slots = slots_of(device, own, self._sizes)
        if other := names.alike(self._slots.paths, self._sizes):
            raise DeployError(
                f"the board has {other}, and {own} differs from its model's name in case alone: "
                "rename it"
            )
        if self._slots.present and not self._slots.pointed and not self._args.dry_run:
            self._slots.point(device, self._slots.active)
            self._slots = replace(self._slots, pointed=True)
        self._sizes |= device.tree([places.package(place) for place in "ab"])

    def run(self) -> int:
        """Copies, verifies, and makes the model the active one. Returns an exit status."""
        check_counter(self._device, self._model, self._slots, self._args)
        slot, contents, reference = self._target()
        with transfer.waiting("the board compares its files"):
            place, changes = self._code_changes()
            model = File(self._slots.file(slot), contents)
            changes = changes.with_file(self._device, model, self._sizes)
        self._spare(place, changes, model)
        transfer.check_space(self._device, changes, self._folder, self._sizes, self._advice(place))
        nbytes = changes.nbytes + (reference.nbytes if reference else 0)
        done = f"{len(changes.sent)} of {len(changes.files)} files, {nbytes:,} bytes"
        if self._args.dry_run:
            for f in changes.sent:
                self._args.said.plain(f"would copy {f.path}, {len(f.data):,} bytes")
            sizes = {f.path: len(f.data) for f in changes.sent}
            self._say("to copy", f"{done}, to {self._folder}", sizes)
            return 0
        try:
            self._copy(place, changes, reference)
            about = {"files": len(changes.sent), "bytes": nbytes, "folder": self._folder}
            self._say("copied", f"{done}, to {self._folder}", about)
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

    def _code_changes(self):
        """(the place for the package, what there is to do in it): that in use if nothing in it is
        replaced, else the other one, which gets what all models on the board need.
        """
        active = self._places.active
        if active:
            changes = transfer.compare(self._device, self._files(self._code, active), self._sizes)
            if self._args.overwrite or not changes.replaces(self._sizes):
                if changes.replaces(self._sizes):
                    self._others()
                return active, changes
        place = self._places.next
        code = self._for_all(self._others()) if active or self._places.elsewhere else self._code
        files = self._files(code, place)
        there = {p: n for p, n in self._sizes.items() if p not in self._places.entries}
        changes = transfer.compare(self._device, files, there)
        if active:
            changes.local = self._local(code, changes)
        return place, changes

    def _others(self):
        """The other models on the board; refused if the new code cannot load them."""
        found = others(self._device, self._folders, self._slots)
        self._strand(found, layout.VERSION, self._package)
        return found

    def _strand(self, found, version, package):
        """Says which models cannot be loaded any more; refused unless that is allowed."""
        if stranded := refuse_stranding(found, version, package, self._args.strand):
            self._say("stranded", stranded)

    def _for_all(self, found):
        """The code for this model, the others, and for what programs use on the board now."""
        given = {k for other in found for k in other.kernels if self._package.has_kernel(k)}
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
        if self._is_program and not given:
            return self._code
        own = () if self._is_program else self._model.kernels
        model = replace(
            self._model,
            kernels=sorted({*own, *given}),
            optional=self._model.optional | optional,
        )
        files = {f.path: f for f in code_for(model, self._package, self._machine)}
        if self._is_program:
            files |= {f.path: f for f in self._code}
        return list(files.values())

    def _files(self, code, place):
        """Files of the package as they lie in a place."""
        files = [f.under(self._places.parent(place)) for f in code]
        if place == "b":
            away = self._places.package("b").removeprefix(f"{self._places.folder}/{NAME}")
            entry = entry_for(self._package, self._machine, away)
            files.append(entry.under(self._places.folder or "/"))
        return files

    def _local(self, code, changes):
        """Where the board has files of the new package already: in the place that is in use."""
        now = [f.under(self._places.parent(self._places.active)) for f in code]
        same = transfer.compare(self._device, now, self._sizes).same
        start = len(self._places.parent(self._places.next))
        sources = {f.path[len(self._places.parent(self._places.active)) :]: f.path for f in now}
        return {
            f.path: source
            for f in changes.copy
            if (source := sources.get(f.path[start:])) in same and f not in changes.staged
        }

    def _spare(self, place, changes, model):
        """Sets the files that may go: what an interrupted call left, the model before the last
        one, and all that the place has which is not in use.
        """
        used = {f.path for f in changes.kept} | {f.path + transfer.NEW for f in changes.staged}
        slots = [self._slots.file(slot) for slot in "ab"]
        own = [*slots, self._slots.pointer, *(self._slots.pinned(p) for p in "ab")]
        own += [f"{self._places.folder}/{entry}" for entry in ENTRIES]
        spare = {path + transfer.NEW for path in own}
        inside = tuple(f"{self._places.package(p)}/" for p in "ab")
        spare |= {p for p in self._sizes if p.startswith(inside) and p.endswith(transfer.NEW)}
        if place != self._places.active:
            entries = self._places.entries if place == "b" else ()
            spare |= {p for p in self._sizes if p.startswith(self._places.package(place) + "/")}
            spare |= set(entries)
            changes.late = {f"{self._places.folder}/{entry}" for entry in ENTRIES}
        replaced = {model.path} if model in changes.copy else set()
        spare |= replaced
        if place == self._places.active:
            spare |= self._unused_programs(place, used, replaced)
        changes.spare = sorted(path for path in spare - used if path in self._sizes)

    def _unused_programs(self, place, used, replaced):
        """Files of programs of which no model is on the board, but in files that are replaced."""
        folder = f"{self._places.package(place)}/programs/"
        there = {path for path in self._sizes if path.startswith(folder)} - used
        names = programs(self._device, self._folders, replaced) if there else set()
        # beside a program lies the list of its steps, NAME_steps
        return {p for p in there if PurePosixPath(p).stem.partition("_")[0] not in names}

    def _advice(self, place):
        if place == self._places.active:
            return transfer.ADVICE
        return (
            "the code there stays until the new one is whole, which takes room for both. Remove "
            "files there, or give --overwrite: then a board that loses its power meanwhile may "
            "load no model until flash.py is called again"
        )

    def _copy(self, place, changes, reference):
        """Writes what is not in use."""
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
        """Removes what was written, but where it took the place of another file."""
        for f in changes.copy:
            self._device.remove(f.path + transfer.NEW)
            if f.path not in self._sizes or f.path in changes.spare:
                self._device.remove(f.path)
        if place != self._places.active:
            self._places.empty(self._device, place)
            self._device.remove(self._slots.pinned(place))
        self._device.remove(self._slots.pointer + transfer.NEW)

    def roll_back(self) -> int:
        """Makes the model in the other slot the active one. Returns an exit status."""
        slot, places = self._slots.other(), self._places
        check_older(self._device, self._slots, slot, self._args)
        try:
            return self._activate(slot, places.active, is_older=True)
        except BoardError as e:
            if not (e.is_refusal and places.parked):
                raise
        self._say("code", "that before this one, which the model needs")
        return self._activate(slot, places.parked, is_older=True)

    def _activate(self, slot, place, is_older=False):
        """Puts a slot and a place in use if the model computes right."""
        path = self._slots.file(slot)
        if not self._is_right(path, self._places.parent(place), is_older):
            if self._slots.active not in ("", slot):
                self._say("active", f"{self._slots.file(self._slots.active)} as before")
            return 1
        if place == self._places.active:
            self._slots.activate(self._device, slot)
        elif is_older:
            self._switch_back(slot, place)
        else:
            self._switch(slot, place)
        other = self._slots.file("ab".replace(slot, ""))
        is_there = self._device.kinds([other]) == [1]
        self._say("active", path + (f"; --rollback: {other}" if is_there else ""))
        return 0

    def _is_right(self, path, parent, is_older):
        if not self._args.no_verify:
            return self._verified(path, parent)
        if is_older:
            self._device.load(parent, path, self._args.timeout)
            self._device.reset()
        return True

    def _switch(self, slot, place):
        """Puts a slot and the new package in use in the same instant, that of a rename: until
        then the pointer for that place counts for nothing, then for the new package. All that
        takes room is written before it.
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
        """As _switch, for a package that may be too old to know of pointers for a place."""
        device, slots, active = self._device, self._slots, self._places.active
        version = device.format_of(self._places.parent(place))
        device.reset()
        found = others(device, self._folders, slots)
        self._strand(found, version, None)
        slots.point(device, slots.active, active)
        slots.point(device, slot)
        self._places.switch(device, place)
        device.remove(slots.pinned(active))

    def _verified(self, path, folder):
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
        self._say(
            f"{word}:",
            f"error {result.max_error:.3g}{most} where values reach {result.largest:.3g}{time}, "
            f"peak heap {heap:,} bytes",
            asdict(result) | {"peak_heap_bytes": heap},
        )
        return result.ok


class RomDeployment(Deployment):
    """To the ROMFS of a board's firmware: one image, written anew when anything in it differs."""

    def run(self) -> int:
        """Write the image and verify it. Returns an exit status."""
        if self._places.active or self._slots.present or self._slots.by_hand:
            raise DeployError(
                f"{self._folder} on the board has mpconnxr or {self._model.name}, which come "
                "before those in a ROMFS: remove them (mpremote rm -r :mpconnxr, rm :mpconnxr.mpy)"
            )
        partition = romfs.Partition(self._device)
        image = romfs.image_of([*self._code, File(self._model.name, self._model.data)])
        old = partition.holds(image)
        if not (old or self._args.dry_run):
            transfer.write_image(partition, image)
        done = "to copy" if self._args.dry_run else "copied"
        self._say(done, f"{0 if old else len(image):,} bytes of {len(image):,}, to the ROMFS")
        if self._args.dry_run or self._args.no_verify:
            return 0
        return 0 if self._verified(f"{romfs.FOLDER}/{self._model.name}", romfs.FOLDER) else 1

    def roll_back(self) -> int:
        """Raises DeployError."""
        raise DeployError("a ROMFS has no earlier model")


def describe(about: About, board: boards.Board | None) -> str:
    """One line: the board, its firmware, its free heap, and its entry in boards/."""
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
    """What the firmware says, less what is known not to work; None if it takes no .mpy of ours."""
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
    """Raises DeployError for a board that is not the one expected, or not able."""
    if args.board and (board is None or board.name != args.board):
        found = board.name if board else "not known"
        raise DeployError(
            f"--board {args.board}, but the board says {about.machine or about.platform} "
            f"({found}): nothing was changed"
        )
    if board and board.unable:
        raise DeployError(f"{board.title}: {board.unable}")
    if args.reserve and about.platform != "rp2":
        raise DeployError("--reserve is for boards with an RP2040 or RP2350")
