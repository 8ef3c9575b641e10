"""boards/*.toml and the code that reads them."""

import pytest

from tools.deploy.boards import FOLDER, board_of, load_board, load_boards, table_of
from tools.deploy.errors import DeployError

GOOD = (FOLDER / "pico.toml").read_text()


def write(folder, text):
    path = folder / "board.toml"
    path.write_text(text)
    return path


def test_all_boards_are_valid():
    names = [board.name for board in load_boards()]
    assert names == sorted(names)
    assert {"pico", "pico2", "esp32", "esp32-s3", "esp32-c3"} <= set(names)


def test_a_file_gives_its_board(tmp_path):
    board = load_board(write(tmp_path, GOOD))
    assert (board.name, board.arch, board.clock_hz) == ("board", "armv6m", 125_000_000)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('arch = "armv6m"', 'arch = "avr"', "arch must be one of"),
        ('inline_assembler = "thumb"', 'inline_assembler = "avr"', "inline_assembler must be one"),
        ('emitters = ["native", "viper"]', 'emitters = ["jit"]', "emitters are"),
        ("clock_hz = 125_000_000", "clock_hz = 0", "clock_hz must be positive"),
        ("clock_hz = 125_000_000", 'clock_hz = "fast"', "clock_hz must be a int"),
        ("clock_hz = 125_000_000", "", "clock_hz is missing"),
        ("clock_hz = 125_000_000", "clock_hz = 1\nspeed = 1", "speed is not known"),
        ('clock_hz = "Micro', 'other = "Micro', "sources has no clock_hz"),
        ("[sources]", "[sources", "board.toml: "),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, old, new, message):
    assert old in GOOD
    with pytest.raises(DeployError, match=message):
        load_board(write(tmp_path, GOOD.replace(old, new, 1)))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DeployError, match="none.toml"):
        load_board(tmp_path / "none.toml")


# As firmware says it: MICROPY_HW_BOARD_NAME " with " MICROPY_HW_MCU_NAME.
@pytest.mark.parametrize(
    ("machine", "platform", "name"),
    [
        ("Raspberry Pi Pico with RP2040", "rp2", "pico"),
        ("Raspberry Pi Pico W with RP2040", "rp2", "pico"),
        ("Raspberry Pi Pico2 with RP2350", "rp2", "pico2"),
        ("Raspberry Pi Pico2 with RP2350-RISCV", "rp2", None),
        ("Generic ESP32 module with ESP32", "esp32", "esp32"),
        ("Generic ESP32 module with SPIRAM with ESP32", "esp32", "esp32"),
        ("Generic ESP32S3 module with ESP32S3", "esp32", "esp32-s3"),
        ("ProS3 with ESP32-S3", "esp32", "esp32-s3"),
        ("ESP32C3 module with ESP32C3", "esp32", "esp32-c3"),
        ("LOLIN_C3_MINI with ESP32-C3FH4", "esp32", "esp32-c3"),
        ("ESP32C6 module with ESP32C6", "esp32", None),
        ("linux [GCC 12.2.0] version", "linux", None),
    ],
)
def test_a_board_is_known_by_what_its_firmware_says(machine, platform, name):
    board = board_of(machine, platform, load_boards())
    assert (board and board.name) == name


def test_the_table_fits_a_terminal():
    lines = table_of(load_boards()).splitlines()
    assert len(lines) == 1 + len(load_boards())
    assert all(len(line) <= 80 for line in lines)
