"""boards/*.toml is valid, and so is the code that reads it."""

import pytest

from benchmarks import cycles
from tools.deploy import boards
from tools.deploy.boards import FOLDER, board_of, load_board, load_boards, table_of
from tools.deploy.errors import DeployError
from tools.micropython.qemu import TARGETS

GOOD = (FOLDER / "pico.toml").read_text()


def write(folder, text):
    path = folder / "board.toml"
    path.write_text(text)
    return path


def test_all_boards_are_valid():
    names = [board.name for board in load_boards()]
    assert names == sorted(names)
    assert {"pico", "pico2", "esp32", "esp32-s3", "esp32-c3"} <= set(names)


def test_boards_have_a_speed_or_a_reason_why_they_cannot_run():
    for board in load_boards():
        counted = (board.cycles_per_instruction, board.cycles_per_mac, board.counted_on)
        assert all(counted) != bool(board.unable or board.platform == "qemu"), board.name
        assert board.emulated or board.clock_hz and board.flash_bytes
        if board.free_heap_bytes is None:
            assert board.sources["free_heap_bytes"].startswith("not known"), board.name
            assert board.unable or board.emulated, f"{board.name}: estimate its heap"


def test_an_estimated_heap_is_marked_with_its_parts():
    for board in load_boards():
        message = board.sources["free_heap_bytes"]
        assert board.heap_is_estimated == message.startswith("estimated: "), board.name
        assert board.heap_text.startswith("about ") == board.heap_is_estimated
        if board.heap_is_estimated:
            assert not board.free_heap_bytes % 1000, f"{board.name}: more digits than are known"


def test_an_estimated_heap_lies_below_that_of_the_same_board_without_a_radio():
    heaps = {b.name: b.free_heap_bytes for b in load_boards()}
    assert heaps["pico-w"] < heaps["pico"] and heaps["nano-rp2040-connect"] < heaps["pico"]
    assert heaps["pico2-w"] < heaps["pico2"] and heaps["xiao-nrf52840"] < heaps["nrf52840"]


def test_each_target_in_qemu_is_a_board():
    emulated = {b.name: b for b in load_boards() if b.emulated}
    for target in TARGETS:
        assert emulated[target.name].arch == target.arch


def test_cycles_agree_with_the_page_of_benchmarks(tmp_path):
    page = """
## A core (`mps2-an385-v6m`)

| model | MACs | mpconnxr | C -O2 |
|---|---:|---:|---:|
| mnist_8 | 786,560 | 40.00 | 164.75 |
| mlperf_ad_fc_ae_int8 | 264,192 | 4.00 | 14.43 |
| kws_qdq_s8 | 264,192 | 6.00 | 14.43 |
"""
    path = write(tmp_path, GOOD)
    cycles.write(cycles.counts_in(page), tmp_path)
    result = load_board(path)
    assert result.cycles_per_mac == {"int8": [4.8, 10.2], "float32": [48.0, 68.0]}
    assert result.sources == load_board(FOLDER / "pico.toml").sources


def test_a_path_selects_its_board(tmp_path):
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
        ("romfs = false", "", "romfs is missing"),
        ("clock_hz = 125_000_000", "clock_hz = 1\nspeed = 1", "speed is not known"),
        ('clock_hz = "Micro', 'other = "Micro', "sources has no clock_hz"),
        ("free_heap_bytes = 209_936", "heap_is_estimated = true", "needs free_heap_bytes"),
        ('romfs = "', 'other = "', "sources has no romfs"),
        ("= [1.2, 1.7]", "= [1.7, 1.2]", "cycles_per_instruction must be the least and the most"),
        ("int8 = [", "int8 = [9, 9, ", "int8 must be the least and the most"),
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
        ("Raspberry Pi Pico W with RP2040", "rp2", "pico-w"),
        ("Arduino Nano RP2040 Connect with RP2040", "rp2", "nano-rp2040-connect"),
        ("Seeed XIAO RP2040 with RP2040", "rp2", "xiao-rp2040"),
        ("Adafruit Feather RP2040 with RP2040", "rp2", "pico"),
        ("Raspberry Pi Pico2 with RP2350", "rp2", "pico2"),
        ("Raspberry Pi Pico 2 W with RP2350", "rp2", "pico2-w"),
        ("Raspberry Pi Pico2 with RP2350-RISCV", "rp2", "pico2-riscv"),
        ("Generic ESP32 module with ESP32", "esp32", "esp32"),
        ("Generic ESP32 module with SPIRAM with ESP32", "esp32", "esp32-spiram"),
        ("TinyPICO with ESP32-PICO-D4", "esp32", "esp32"),
        ("TinyS2 with ESP32-S2FN4R2", "esp32", "esp32-s2"),
        ("Seeed XIAO ESP32S3 with ESP32-S3-FN8", "esp32", "xiao-esp32s3"),
        ("Seeed XIAO ESP32C3 with ESP32-C3FN4", "esp32", "xiao-esp32c3"),
        ("Generic ESP32S3 module with ESP32S3", "esp32", "esp32-s3"),
        ("ProS3 with ESP32-S3", "esp32", "esp32-s3"),
        ("ESP32C3 module with ESP32C3", "esp32", "esp32-c3"),
        ("LOLIN_C3_MINI with ESP32-C3FH4", "esp32", "esp32-c3"),
        ("ESP32C6 module with ESP32C6", "esp32", "esp32-c6"),
        ("ESP module with ESP8266", "esp8266", "esp8266"),
        ("PYBv1.1 with STM32F405RG", "pyboard", "pyboard"),
        ("PYBD-SF6W with STM32F767IIK", "pyboard", "pyboard-d-sf6"),
        ("Arduino Nicla Vision with STM32H747", "pyboard", "nicla-vision"),
        ("Teensy 4.1 with MIMXRT1062DVJ6A", "mimxrt", "teensy41"),
        ("Seeed Xiao with SAMD21G18A", "samd", "xiao-samd21"),
        ("PCA10059 with NRF52840", "nrf52840-Dongle", "nrf52840"),
        ("XIAO nRF52840 Sense with NRF52840", "nrf52", "xiao-nrf52840"),
        ("micro:bit with NRF51822", "nrf51", None),
        ("microbit with nRF52", "microbit", "microbit-v2"),
        ("mps2-an385 with Cortex-M3", "qemu", "mps2-an385"),
        ("virt with rv32imac -misa-spec=2.2", "qemu", "virt-rv32"),
        ("Raspberry Pi Pico with RP2040", "esp32", None),
        ("linux [GCC 12.2.0] version", "linux", None),
    ],
)
def test_a_board_is_recognized_by_its_firmware(machine, platform, name):
    board = board_of(machine, platform, load_boards())
    assert (board and board.name) == name


def test_the_table_fits_a_terminal():
    lines = table_of(load_boards()).splitlines()
    assert len(lines) == 1 + len(load_boards())
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize("name", ["pico-w", "Pico-W", "pico_w", "PICO W"])
def test_boards_are_found_in_other_spellings(name):
    assert boards.named(name).name == "pico-w"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("piko", "did you mean pico?"),
        ("Pico_3", "did you mean pico"),
        ("toaster", "mpconnxr boards lists them"),
    ],
)
def test_the_nearest_board_is_named(name, advice):
    assert not boards.named(name) and boards.advice_on(name).startswith(advice)
