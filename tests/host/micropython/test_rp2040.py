"""The emulated Pico on a serial port: a board's firmware, heap and flash, and power cuts."""

import time

import pytest
from mpremote.transport_serial import SerialTransport

from tools.micropython import TargetError

# A block of the file system that nothing else uses: one sector erased, then 16 pages programmed.
WRITE_BLOCK = "import rp2; rp2.Flash().writeblocks(200, b'\\x55' * 4096)"
BLOCK = slice((1 << 20) + 200 * 4096, (1 << 20) + 201 * 4096)


@pytest.fixture
def pico(ready_target, tmp_path):
    """Return a function that makes a board whose flash outlives it, in the test's folder."""
    target = ready_target("rp2040")

    def board(cut_after=0):
        return target.board(tmp_path / "flash", cut_after)

    return board


class Repl:
    def __init__(self, port):
        self._transport = SerialTransport(port, timeout=120)
        self._transport.enter_raw_repl()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._transport.serial.close()

    def __call__(self, source):
        return self._transport.exec(source).decode().strip()

    def reset(self):
        self._transport.exec_raw_no_follow("import machine; machine.reset()")
        time.sleep(1)  # a pseudo-terminal stays where a USB port would be gone for a while


def test_the_board_is_a_pico_with_an_empty_file_system(pico):
    with pico() as board, Repl(board.port) as repl:
        assert repl("import os; print(os.listdir('/'))") == "[]"
        about = repl("import sys; print(sys.implementation._machine, sys.platform)")
        assert about == "Raspberry Pi Pico with RP2040 rp2"
        free = int(repl("import gc; gc.collect(); print(gc.mem_free())"))
        assert 230_000 < free < 250_000


@pytest.mark.slow
def test_files_survive_a_reset_and_a_restart(pico):
    with pico() as board:
        with Repl(board.port) as repl:
            repl("with open('kept', 'w') as f: f.write('text')")
            assert repl("import machine; print(machine.reset_cause())") == "1"  # power on
            repl.reset()
        with Repl(board.port) as repl:
            assert repl("import machine; print(machine.reset_cause())") == "3"  # watchdog
            assert repl("print(open('kept').read())") == "text"
    assert board.changes and not board.was_cut
    with pico() as board, Repl(board.port) as repl:
        assert repl("print(open('kept').read())") == "text"
    assert board.changes == 0


def test_sleeping_advances_the_boards_clock(pico):
    with pico() as board, Repl(board.port) as repl:
        repl("import time; t = time.ticks_ms(); time.sleep(100)")
        assert 100_000 <= int(repl("print(time.ticks_diff(time.ticks_ms(), t))")) < 101_000


def test_power_is_cut_in_the_middle_of_a_change(pico, tmp_path):
    with pico() as board, Repl(board.port) as repl:
        repl("print(1)")  # so that its file system is made
    (tmp_path / "flash").write_bytes(_with_block((tmp_path / "flash").read_bytes(), bytes(4096)))
    with pico(cut_after=1) as board, Repl(board.port) as repl, pytest.raises(OSError):
        repl(WRITE_BLOCK)
    assert board.was_cut and board.changes == 1
    assert (tmp_path / "flash").read_bytes()[BLOCK] == b"\xff" * 2048 + bytes(2048)
    with pico(cut_after=3) as board, Repl(board.port) as repl, pytest.raises(OSError):
        repl(WRITE_BLOCK)
    written = b"\x55" * (256 + 128)
    assert (tmp_path / "flash").read_bytes()[BLOCK] == written.ljust(4096, b"\xff")


def test_what_changes_while_the_board_is_off_is_there_when_it_is_on(pico):
    at = BLOCK.start - (1 << 20)
    with pico() as board:
        with Repl(board.port) as repl:
            repl("with open('kept', 'w') as f: f.write('text')")
        with board.off() as storage:
            assert storage[:8] != b"\xff" * 8  # its file system
            storage[at : at + 4] = b"text"
        with Repl(board.port) as repl:
            read = "b = bytearray(4); import rp2; rp2.Flash().readblocks(200, b, 0); print(b)"
            assert repl(read) == "bytearray(b'text')"
            assert repl("print(open('kept').read())") == "text"
    assert board.changes


def test_a_flash_has_one_board_at_a_time(pico):
    with pico(), pytest.raises(TargetError, match="flash is in use"), pico():
        pass
    with pico():
        pass


def test_a_board_whose_flash_has_another_firmware_gets_its_own(pico, tmp_path):
    with pico():
        pass
    flash = tmp_path / "flash"
    flash.write_bytes(_with_block(bytes(65536) + flash.read_bytes()[65536:], b"\x55" * 4096))
    with pico() as board, Repl(board.port) as repl:
        assert repl("print(1 + 1)") == "2"
    assert flash.read_bytes()[BLOCK] == b"\x55" * 4096


def test_the_current_directory_decides_nothing(ready_target, tmp_path, monkeypatch):
    for name in ("tools", "mpconnxr_host"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('of another project')")
    target = ready_target("rp2040")
    monkeypatch.chdir(tmp_path)
    assert target.run("print(6 * 7)").stdout == "42\n"
    with target.board(tmp_path / "flash") as board, Repl(board.port) as repl:
        assert repl("print(6 * 7)") == "42"


def test_an_emulator_that_does_not_start_says_why(ready_target, tmp_path, monkeypatch):
    target = ready_target("rp2040")
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho more >&2\necho no room for it >&2\n")
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    with pytest.raises(TargetError, match="^the target's process has stopped .*: no room for it$"):
        target.run("print(1)")
    with (
        pytest.raises(TargetError, match="^the emulated board has stopped .*: no room for it$"),
        target.board(tmp_path / "flash"),
    ):
        pass


def _with_block(flash, data):
    return flash[: BLOCK.start] + data + flash[BLOCK.stop :]
