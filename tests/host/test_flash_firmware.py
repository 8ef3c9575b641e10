"""tools/flash.py --firmware, with a folder in the place of a boot drive and of esptool."""

import re
import struct

import pytest

from tools import flash
from tools.deploy import firmware

RP2040, RP2350 = 0xE48BFF56, 0xE48BFF59


def uf2(family, n=3):
    head = (0x0A324655, 0x9E5D5157, 0x2000, 0x10000000, 256)
    blocks = [struct.pack("<8I", *head, i, n, family) + bytes(480) for i in range(n)]
    return b"".join(blocks)


@pytest.fixture
def drive(tmp_path, monkeypatch):
    root = tmp_path / "RPI-RP2"
    root.mkdir()
    (root / "INFO_UF2.TXT").write_text("UF2 Bootloader v3.0\nModel: x\nBoard-ID: RPI-RP2\n")
    monkeypatch.setattr(firmware, "mounts", lambda: iter([tmp_path, root]))
    monkeypatch.setattr(firmware, "_DRIVE_SECONDS", 0.3)
    return root


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "firmware.uf2"
    path.write_bytes(uf2(RP2040))
    return path


def run(*args):
    return flash.main(["--port", "/dev/there-is-none", *map(str, args)])


def test_a_uf2_goes_to_the_boot_drive_and_the_board_restarts(drive, image, monkeypatch, capsys):
    monkeypatch.setattr(firmware, "_waited", lambda condition: True)
    assert run("--firmware", image) == 0
    assert (drive / image.name).read_bytes() == image.read_bytes()
    assert "firmware.uf2, 1,536 bytes" in capsys.readouterr().out


def test_a_board_that_does_not_restart_is_an_error(drive, image, capsys):
    assert run("--firmware", image) == 1
    assert "did not take firmware.uf2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (uf2(RP2350), "is for RP2350, the drive .* is a RPI-RP2"),
        (uf2(0x12345678), "not for an RP2040"),
        (uf2(RP2040)[:-1], "not a complete"),
        (b"", "not a complete"),
        (uf2(RP2040, n=2)[:512] + bytes(512), "not a complete"),
    ],
)
def test_a_uf2_for_another_board_or_a_damaged_one_is_refused(data, message, drive, image, capsys):
    image.write_bytes(data)
    assert run("--firmware", image) == 1
    err = capsys.readouterr().err
    assert err.startswith("flash: ") and re.search(message, err)
    assert not (drive / image.name).exists()


def test_without_a_drive_the_board_is_asked(image, monkeypatch, capsys):
    monkeypatch.setattr(firmware, "mounts", lambda: iter([]))
    assert run("--firmware", image) == 1
    assert "flash: /dev/there-is-none: " in capsys.readouterr().err


def test_two_drives_are_one_too_many(drive, image, monkeypatch, capsys):
    monkeypatch.setattr(firmware, "mounts", lambda: iter([drive, drive]))
    assert run("--firmware", image) == 1
    assert "several boot drives" in capsys.readouterr().err


def esp(chip):
    return bytes([0xE9]) + bytes(11) + struct.pack("<H", chip) + bytes(100)


@pytest.mark.parametrize(("chip", "offset"), [(0, 0x1000), (2, 0x1000), (5, 0), (9, 0), (13, 0)])
def test_an_esp32_image_contains_its_offset(chip, offset):
    assert firmware.esp_offset("x.bin", esp(chip)) == offset


def test_a_bin_goes_through_esptool(tmp_path, monkeypatch, capfd):
    path = tmp_path / "esp.bin"
    path.write_bytes(esp(0))
    monkeypatch.setattr(firmware.importlib.util, "find_spec", lambda name: None)
    assert run("--firmware", path) == 1
    assert "pip install esptool" in capfd.readouterr().err
    tool = tmp_path / "esptool.py"
    tool.write_text("import sys\nprint(sys.argv[1:])\nsys.exit('fail' in sys.argv[2])\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(firmware.importlib.util, "find_spec", lambda name: name)
    assert run("--firmware", path) == 0
    out = capfd.readouterr().out
    assert f"['--port', '/dev/there-is-none', 'write-flash', '0x1000', '{path}']" in out
    assert flash.main(["--firmware", str(path), "--port", "/dev/fail"]) == 1
    assert "esptool did not write esp.bin" in capfd.readouterr().err


def test_files_that_are_not_firmware_are_refused(tmp_path, capsys):
    path = tmp_path / "x.bin"
    path.write_bytes(b"\x7fELF" + bytes(100))
    assert run("--firmware", path) == 1
    assert "use esptool itself" in capsys.readouterr().err
    assert run("--firmware", tmp_path / "x.uf2") == 1
    assert "No such file" in capsys.readouterr().err
