"""tools/flash.py copies files to an emulated board while it is off, as a serial port would."""

import contextlib
import shutil

import pytest

from tests.device.test_deploy import STORAGE, files_of
from tests.host import generations, releases
from tests.host.test_package import BLOCK, file_system
from tools import flash
from tools.deploy import emulated, transfer
from tools.deploy.code import File
from tools.deploy.device import Device, Digest
from tools.deploy.emulated import EmulatedDevice, Image
from tools.deploy.errors import BoardError, DeployError
from tools.micropython import TargetError
from tools.micropython.rp2040 import PicoTarget

NBYTES = STORAGE.stop - STORAGE.start
OLD = {"mpconnxr/__init__.mpy": b"old", "mpconnxr/ops/stale.mpy": b"stale", "user.txt": b"mine"}
OLD |= {"model.a.bin": bytes(range(256)) * 40}


def storage_of(files, nbytes=NBYTES):
    """Return the flash of a board's file system with these files."""
    return file_system(files, nbytes)[1]


def read(storage):
    """Return the files of a flash that a board's file system is in."""
    fs = file_system({}, len(storage))[0]
    fs.context.buffer[:] = storage
    fs.mount()
    paths = [f"{root}/{name}".lstrip("/") for root, _, names in fs.walk("/") for name in names]
    files = {}
    for path in paths:
        with fs.open(path, "rb") as f:
            files[path] = f.read()
    return files


class OfImage(Device):
    """A board of which only an image is there."""

    def __init__(self, storage):
        self.image = Image(storage)

    @contextlib.contextmanager
    def copying(self, nbytes):
        yield self.image


def update():
    """Return changes of all kinds: new, replaced, duplicated, staged, stale and late files."""
    new = File("/mpconnxr/ops/add.mpy", b"add" * 500)
    replaced = File("/mpconnxr/__init__.mpy", b"new", stale=("/mpconnxr/ops/stale.mpy",))
    local = File("/mpconnxr_b/mpconnxr/one/two.mpy", OLD["model.a.bin"])
    late = File("/mpconnxr.mpy", b"leads to b")
    kept = File("/user.txt", OLD["user.txt"], stale=("/there-is-none",))
    changes = transfer.Changes([new, replaced, local, late], [], set(), kept=[kept])
    changes.local, changes.late = {local.path: "/model.a.bin"}, {late.path}
    return changes


NEW = {
    "mpconnxr/ops/add.mpy": b"add" * 500,
    "mpconnxr/__init__.mpy": b"new",
    "mpconnxr_b/mpconnxr/one/two.mpy": OLD["model.a.bin"],
    "mpconnxr.mpy.new": b"leads to b",
    "user.txt": b"mine",
    "model.a.bin": OLD["model.a.bin"],
}


def test_files_are_staged_renamed_and_removed():
    device = OfImage(storage := storage_of(OLD))
    transfer.copy(device, update())
    assert read(storage) == NEW
    written = {f"/{p}": Digest.of(NEW[p]) for p in NEW if p not in ("user.txt", "model.a.bin")}
    assert device.image.written == written


def test_a_copy_that_was_interrupted_goes_on():
    device = OfImage(storage := storage_of(OLD | {"mpconnxr/ops/add.mpy.new": b"add" * 500}))
    changes = update()
    changes.staged.append(changes.copy[0])
    transfer.copy(device, changes)
    assert read(storage) == NEW


def test_the_end_of_the_process_at_any_change_of_the_flash_loses_no_file(monkeypatch):
    """Each file is absent, old or new; a change is also done by half."""
    storage, states = storage_of(OLD), []

    def prog(self, cfg, block, off, data):
        at = block * cfg.block_size + off
        for n in (len(data) // 2, len(data)):
            self.buffer[at : at + n] = data[:n]
            states.append(bytes(self.buffer))
        return 0

    monkeypatch.setattr(emulated.UserContext, "prog", prog)
    device = OfImage(storage)
    transfer.copy(device, update())
    monkeypatch.undo()
    kept = OLD.keys() - {"mpconnxr/__init__.mpy", "mpconnxr/ops/stale.mpy"}
    contents = {}
    for n, state in enumerate(states):
        files = read(state)
        contents[tuple(sorted(files.items()))] = True
        assert all(files[path] == OLD[path] for path in kept), n
        assert files["mpconnxr/__init__.mpy"] in (b"old", b"new"), n
        named = [p for p in files if not p.endswith(transfer.NEW) and p not in OLD]
        assert all(files[p] == NEW[p] for p in named), n
    assert len(states) > 30 and len(contents) > 6
    assert read(states[-1]) == NEW


def test_a_full_file_system_is_what_a_board_says_it_is():
    storage = storage_of({"user.txt": b"mine"}, 10 * BLOCK)
    image = Image(storage)
    with pytest.raises(BoardError) as e:
        image.stage("/model.a.bin", bytes(20 * BLOCK), lambda _: None)
    assert e.value.is_full and not image.written
    assert read(storage) == {"user.txt": b"mine"}


def test_a_damaged_file_system_is_one_error():
    with pytest.raises(DeployError, match="damaged"):
        Image(bytearray(NBYTES))


class OfFlash:
    """An emulated board of which nothing but the flash is emulated."""

    port = "old"

    def __init__(self, files):
        self.storage = storage_of(files)
        self.is_on = True

    @contextlib.contextmanager
    def off(self):
        self.is_on = False
        yield self.storage
        self.is_on, self.port = True, "new"


@pytest.fixture
def board(monkeypatch):
    """Return the emulated board of an EmulatedDevice whose port is connected to nothing."""
    board = OfFlash(OLD)

    def digests(self, sizes):
        files = read(board.storage)
        return {path: Digest.of(files[path[1:]]) for path in sizes}

    monkeypatch.setattr(EmulatedDevice, "__enter__", lambda self: self)
    monkeypatch.setattr(EmulatedDevice, "__exit__", lambda self, *error: None)
    monkeypatch.setattr(EmulatedDevice, "digests", digests)
    return board


def test_the_port_copies_few_bytes(board):
    device = EmulatedDevice(board)
    with device.copying(100) as files:
        assert files is device and board.is_on
    with device.copying(100_000) as files:
        assert files is not device and not board.is_on
    assert device._port == "new"


def test_the_board_reads_what_was_written(board):
    device = EmulatedDevice(board)
    with device.copying(100_000) as files:
        files.stage("/a", b"a" * 5000, lambda _: None)
        files.put("/a")
    with pytest.raises(DeployError, match="damaged: /a reads differently"):  # noqa: SIM117
        with device.copying(100_000) as files:
            files.stage("/a", b"b" * 5000, lambda _: None)
            files.put("/a")
            at = board.storage.index(b"b" * 256)
            board.storage[at : at + 256] = bytes(256)


def test_a_full_board_is_on_again_when_the_caller_removes_files(board):
    device = EmulatedDevice(board)
    with pytest.raises(BoardError) as e, device.copying(100_000) as files:
        files.stage("/model.b.bin", bytes(2 * NBYTES), lambda _: None)
    assert e.value.is_full and board.is_on and read(board.storage) == OLD


def test_by_default_a_board_is_the_same_in_each_folder(tmp_path, monkeypatch, capsys):
    flashes = []

    def board(self, flash):
        flashes.append(flash)
        raise TargetError("off")

    monkeypatch.setenv("MPCONNXR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(PicoTarget, "board", board)
    model = tmp_path / "model.bin"
    model.write_bytes(releases.model_of("Neg"))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        assert flash.main([str(model), "--target", "rp2040"]) == 1
    assert flash.main([str(model), "--target", "rp2040@1.26.1"]) == 1
    assert flash.main([str(model), "--target", "rp2040", "--flash", "mine"]) == 1
    cache = tmp_path / "cache"
    same = cache / "rp2040.flash"
    assert [str(f) for f in flashes] == [
        *[str(same)] * 2,
        str(cache / "rp2040@1.26.1.flash"),
        "mine",
    ]
    assert capsys.readouterr().err == "flash: off\n" * 4


class Emulated:
    """The emulated Pico, flashed by the tools of a release; `copied` are files over its port."""

    def __init__(self, folder, packages, models, monkeypatch):
        self._folder, self._packages, self._models = folder, packages, models
        self._monkeypatch, self.copied = monkeypatch, []

    def flash(self, name, release, *options, by_port=False):
        """Flash a board with this name; return its files."""
        model, image = self._folder / "model.bin", self._folder / name
        data = self._models[release.operator]
        model.write_bytes(generations.in_format(data, release.version))
        self.copied.clear()
        with self._monkeypatch.context() as patch:
            package = self._packages[release.generation, release.version]
            generations.be(patch, package, release.version)
            stage = Device.stage
            patch.setattr(Device, "stage", lambda *a: self.copied.append(a[1]) or stage(*a))
            patch.setattr(emulated, "_LEAST", 1 << 30 if by_port else 0)
            argv = [str(model), "--target", "rp2040", "--flash", str(image), "--interpret"]
            assert flash.main([*argv, *options]) == 0
        return files_of(image.read_bytes(), self._folder / f"files of {name}")


@pytest.mark.slow
def test_a_flash_in_the_image_leaves_the_files_of_one_over_the_port(
    ready_target, tmp_path, packages, models, monkeypatch
):
    """Of a first flash, and of an update of model, code and format, which can be undone."""
    ready_target("rp2040")
    pico = Emulated(tmp_path, packages, models, monkeypatch)
    first = pico.flash("port", releases.OLD, "--no-verify", by_port=True)
    assert len(pico.copied) == len(first) > 50
    assert pico.flash("image", releases.OLD) == first
    assert pico.copied == ["/model.active"]
    shutil.copy(tmp_path / "port", tmp_path / "image")
    new = releases.UPDATES["format"]
    second = pico.flash("port", new, "--no-verify", by_port=True)
    assert len(second) > len(first) and second["model.b.bin"] != first["model.a.bin"]
    assert pico.flash("image", new) == second
    assert set(pico.copied) == {"/model.active", "/model.active_b"}
    third = pico.flash("image", new, "--rollback")
    assert pico.copied == ["/model.active_b", "/model.active"]
    assert third != second and first.items() <= third.items()
