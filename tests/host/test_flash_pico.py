"""tools/flash.py with the emulated Pico: its firmware, its heap, its LittleFS, its power."""

import itertools
import struct

import littlefs
import pytest
from littlefs.context import UserContext

from mpconnxr import slots
from tests.host.test_flash_slots import model_of
from tools import flash
from tools.deploy import device as devices

STORAGE = slice(1 << 20, 2 << 20)  # of the flash, the file system
BLOCK = 4096


@pytest.fixture
def pico(ready_target, monkeypatch):
    monkeypatch.setattr(devices, "_SILENCE", 120)  # an emulated board has less patience than speed
    return ready_target("rp2040")


def files_of(image, folder):
    """Files of a file system in the bytes of a flash, written to a folder of this computer."""
    storage = image[STORAGE]
    context = UserContext(len(storage))
    context.buffer[:] = storage
    options = {"block_size": BLOCK, "block_count": len(storage) // BLOCK, "prog_size": 256}
    fs = littlefs.LittleFS(context, **options, read_size=32)
    for root, _, names in fs.walk("/"):
        at = folder / root.lstrip("/")
        at.mkdir(parents=True, exist_ok=True)
        for name in names:
            with fs.open(f"{root}/{name}", "rb") as f:
                (at / name).write_bytes(f.read())
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.*")}


def loaded(folder):
    """The bytes that mpconnxr.load("model.bin") gets on a board with these files."""
    with slots.opened(str(folder / "model.bin")) as f:
        return f.read()


def cuts(before, journal):
    """The flash at each point of its changes: one done by half, then done."""
    flash, at = bytearray(before), 0
    while at < len(journal):
        offset, n = struct.unpack_from("<2I", journal, at)
        now = journal[at + 8 : at + 8 + n]
        at += 8 + n
        flash[offset : offset + n // 2] = now[: n // 2]
        yield bytes(flash)
        flash[offset : offset + n] = now
        yield bytes(flash)


def deploy(board, path, *options):
    return flash.main([str(path), "--port", board.port, *options])


def test_an_update_may_lose_its_power_at_each_change_of_the_flash(pico, tmp_path, capsys):
    """The old model or the new one is what loads, and nothing else of the board has changed."""
    path, image, journal = (tmp_path / name for name in ("model.bin", "flash", "journal"))
    old, new = model_of("Neg"), model_of("Abs")
    path.write_bytes(old)
    with pico.board(image) as board:
        assert deploy(board, path) == 0
        assert "\nverified: " in capsys.readouterr().out
        assert deploy(board, path, "--no-verify") == 0
        assert "copied    0 of" in capsys.readouterr().out
    before = image.read_bytes()
    path.write_bytes(new)
    with pico.board(image, journal=journal) as board:
        assert deploy(board, path, "--no-verify") == 0
    code = {n: d for n, d in files_of(before, tmp_path / "0").items() if n.endswith(".mpy")}
    seen = []
    for n, flash_bytes in zip(itertools.count(1), cuts(before, journal.read_bytes())):
        files = files_of(flash_bytes, tmp_path / str(n))
        assert code.items() <= files.items(), n
        seen.append(loaded(tmp_path / str(n)))
        assert seen[-1] in (old, new), n
    assert len(seen) > 20 and seen[0] == old and seen[-1] == new
