"""tools/flash.py deploys to an emulated Pico: its firmware, heap and LittleFS; power cuts."""

import os
import shutil
import struct

import littlefs
import pytest
from littlefs.context import UserContext

from mpconnxr.io import slots
from tests.device.networks import NETWORKS
from tests.host import generations, releases
from tools import flash
from tools.converter.convert import Options, convert
from tools.deploy import device as devices
from tools.micropython import get_target

STORAGE = slice(1 << 20, 2 << 20)  # of the flash, the file system
BLOCK, PROG = 4096, 256
RESERVE = ("--reserve", "65536")
OPS = "mpconnxr/ops"
MINE = f"{OPS}/mine.py"
_OLD_LOOPS = ["loops_whole.mpy", "loops_qdot_thumb.mpy", "loops_add.py", "inline.mpy"]
LEFT = ["mpconnxr/__init__.py", *(f"{OPS}/{name}" for name in _OLD_LOOPS)]
LONG = bool(os.environ.get("MPCONNXR_LONG"))


@pytest.fixture
def pico(machine, tmp_path, monkeypatch):
    if machine.name != "rp2040":
        pytest.skip("only the Pico is emulated together with its serial port and its flash")
    monkeypatch.setattr(devices, "_SILENCE", 600)  # an emulated board takes its time
    return lambda **options: get_target("rp2040").board(tmp_path / "flash", **options)


def deploy(board, model, *options):
    return flash.main([str(model), "--port", board.port, "--interpret", *options])


@pytest.mark.slow
def test_digits_are_deployed_to_an_empty_file_system(pico, tmp_path, capsys):
    """Verified; updated, with the power lost; then verified in place, then nothing to copy.

    The third time, files of an earlier installation are there as well: they go, the user's stay.
    """
    model, network = tmp_path / "model.bin", NETWORKS["digits int8"]().model
    old, new = convert(network).data, convert(network, Options(keep_inputs=True)).data
    model.write_bytes(old)
    with pico() as board:
        assert deploy(board, model) == 0
        printed = capsys.readouterr().out
        assert "Raspberry Pi Pico with RP2040" in printed and "compiled for armv6m" in printed
        assert "\nverified: error " in printed
    before, journal = (tmp_path / "flash").read_bytes(), tmp_path / "journal"
    model.write_bytes(new)
    with pico(journal=journal) as board:
        assert deploy(board, model, "--no-verify") == 0
        printed = capsys.readouterr().out
        assert "copied    1 of " in printed and "--rollback: /model.a.bin" in printed
    check_power_cuts(before, journal.read_bytes(), (old, new), tmp_path)
    model.write_bytes(old)
    with pico() as board:
        leave_an_earlier_installation(board)
        assert deploy(board, model, "--overwrite", *RESERVE) == 0
        assert "\nverified: error " in capsys.readouterr().out
        assert deploy(board, model, "--no-verify", *RESERVE) == 0
        assert "copied    0 of " in capsys.readouterr().out
    files = files_of((tmp_path / "flash").read_bytes(), tmp_path / "files")
    assert len(files["model.a.bin"]) == 16 and files["model.b.bin"] == new
    assert files[MINE] == b"old" and not set(LEFT) & files.keys()


def leave_an_earlier_installation(board):
    """Add files of a version whose loops had no folder: they only take flash."""
    with devices.Device(board.port, 600) as device:
        for path in [MINE, *LEFT]:
            device.stage(f"/{path}", b"old", lambda _: None)
            device.put(f"/{path}")


def check_power_cuts(before, journal, models, folder):
    """Check at each change of the flash, half done or done, that one of the models loads."""
    files = files_of(before, folder / "before")
    code = {name: data for name, data in files.items() if name.endswith(".mpy")}
    seen = []
    for n, image in enumerate(points(before, journal)):
        files = files_of(image, folder / str(n))
        assert code.items() <= files.items(), n
        seen.append(loaded(folder / str(n)))
        assert seen[-1] in models, n
    assert len(seen) > 20 and (seen[0], seen[-1]) == models


@pytest.mark.skipif(not LONG, reason="takes half an hour: MPCONNXR_LONG=1")
def test_a_power_cut_while_the_format_changes_leaves_a_model(pico, tmp_path, monkeypatch, capsys):
    """The old model has the old code, the new one the new code.

    From some states a second call ends the update.
    """
    old, new = releases.OLD, releases.UPDATES["format"]
    flash_file, journal = tmp_path / "flash", tmp_path / "journal"
    states = {in_use_after(old, pico, tmp_path, monkeypatch): "old"}
    before = flash_file.read_bytes()
    states[in_use_after(new, pico, tmp_path, monkeypatch, journal=journal)] = "new"
    assert len(states) == 2
    images = list(points(before, journal.read_bytes()))
    seen = [states.get(in_use(image, tmp_path / "point")) for image in images]
    switch = seen.index("new")
    with capsys.disabled():
        print(f"\n{len(seen)} states of the flash, the new release from {switch} on")
    assert seen == ["old"] * switch + ["new"] * (len(seen) - switch)
    files = min(len(code) for code, _ in states)
    assert len(seen) > 4 * files  # each is written and renamed, both done and done by half
    assert 0 < switch < len(seen) - 1
    for n in (switch // 2, switch - 1, switch):
        flash_file.write_bytes(images[n])
        assert states[in_use_after(new, pico, tmp_path, monkeypatch)] == "new", n


def in_use_after(release, pico, folder, monkeypatch, **options):
    """Return what is in use after tools/flash.py of a release."""
    place = folder / f"release {release.generation}"
    package = generations.package_of(place, release.generation, release.version)
    model = folder / "model.bin"
    data = releases.model_of(release.operator)
    model.write_bytes(generations.in_format(data, release.version))
    with monkeypatch.context() as patch, pico(**options) as board:
        generations.be(patch, package, release.version)
        assert deploy(board, model) == 0
    return in_use((folder / "flash").read_bytes(), folder / "in use")


def in_use(image, folder):
    """Return (the code that is imported, the model that is loaded) with this flash."""
    shutil.rmtree(folder, ignore_errors=True)
    files = files_of(image, folder)
    is_a = (folder / "mpconnxr").is_dir()
    place = "mpconnxr/" if is_a else "mpconnxr_b/mpconnxr/"
    code = {p.removeprefix(place): d for p, d in files.items() if p.startswith(place)}
    assert is_a or "mpconnxr.mpy" in files
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slots, "_PLACE", "_a" if is_a else "_b")
        return frozenset(code.items()), loaded(folder)


@pytest.mark.slow
def test_code_and_a_model_run_from_the_romfs(pico, tmp_path, capsys):
    model = tmp_path / "model.bin"
    model.write_bytes(convert(NETWORKS["digits int8"]().model).data)
    with pico() as board:
        assert deploy(board, model, "--romfs") == 0
        assert "\nverified: error " in capsys.readouterr().out


def points(before, journal):
    """Yield the flash at each of its changes: once half done, then done."""
    now, at = bytearray(before), 0
    while at < len(journal):
        offset, n = struct.unpack_from("<2I", journal, at)
        data = journal[at + 8 : at + 8 + n]
        at += 8 + n
        now[offset : offset + n // 2] = data[: n // 2]
        yield bytes(now)
        now[offset : offset + n] = data
        yield bytes(now)


def files_of(image, folder):
    """Return the files of the file system in a flash, and write them to a folder of the host."""
    storage = image[STORAGE]
    context = UserContext(len(storage))
    context.buffer[:] = storage
    sizes = {"block_size": BLOCK, "block_count": len(storage) // BLOCK}
    # Files up to the size of the board's cache are in their folder's block: a smaller cache here
    # calls them corrupt.
    sizes |= {"prog_size": PROG, "read_size": 32, "cache_size": 4 * PROG}
    fs = littlefs.LittleFS(context, **sizes)
    files = {}
    for root, _, names in fs.walk("/"):
        (folder / root.lstrip("/")).mkdir(parents=True, exist_ok=True)
        for name in names:
            path = f"{root}/{name}".lstrip("/")
            with fs.open(path, "rb") as f:
                files[path] = f.read()
            (folder / path).write_bytes(files[path])
    return files


def loaded(folder):
    """Return the bytes that mpconnxr.load("model.bin") reads on a board with these files."""
    with slots.opened(str(folder / "model.bin")) as f:
        return f.read()
