"""tools/flash.py and an emulated Pico: from an empty file system to a model that is verified."""

import pytest

from tests.device.networks import NETWORKS
from tools import flash
from tools.converter.convert import convert


def test_digits_from_an_empty_file_system(machine, tmp_path, capsys):
    if machine.name != "rp2040":
        pytest.skip("only the Pico is emulated together with its serial port and its flash")
    model = tmp_path / "digits.bin"
    model.write_bytes(convert(NETWORKS["digits int8"]().model).data)
    options = [str(model), "--target", "rp2040", "--flash", str(tmp_path / "flash")]
    assert flash.main(options) == 0
    said = capsys.readouterr().out
    assert "Raspberry Pi Pico with RP2040" in said and "compiled for armv6m" in said
    assert "\nverified: error " in said
    assert flash.main([*options, "--no-verify"]) == 0
    assert "copied    0 of " in capsys.readouterr().out
