"""tools/flash.py and an emulated Pico: from an empty file system to a model that is verified."""

import pytest

from tests.device.networks import NETWORKS
from tools import flash
from tools.converter.convert import convert
from tools.micropython import get_target


@pytest.fixture
def pico(machine, tmp_path):
    if machine.name != "rp2040":
        pytest.skip("only the Pico is emulated together with its serial port and its flash")
    return lambda: get_target("rp2040").board(tmp_path / "flash")


def test_digits_from_an_empty_file_system(pico, tmp_path, capsys):
    model = tmp_path / "digits.bin"
    model.write_bytes(convert(NETWORKS["digits int8"]().model).data)
    with pico() as board:
        assert flash.main([str(model), "--port", board.port]) == 0
    said = capsys.readouterr().out
    assert "Raspberry Pi Pico with RP2040" in said and "compiled for armv6m" in said
    assert "\nverified: error " in said
    with pico() as board:
        assert flash.main([str(model), "--port", board.port]) == 0
    said = capsys.readouterr().out
    assert "copied    0 of " in said and "\nverified: error " in said
