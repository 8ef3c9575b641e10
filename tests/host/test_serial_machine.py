"""Tests run on a board at a serial port; here that is a fake board."""

import pytest

from tests.device.machine import FOLDER, SerialMachine
from tests.host.fake_board import FakeBoard
from tools.deploy.errors import BoardError


@pytest.fixture
def board(ready_target, tmp_path):
    fake = FakeBoard(ready_target("unix32").build(), tmp_path)
    yield fake
    fake.stop()


def test_scripts_find_their_files_and_forget_each_other(board):
    files = {"word": b"hello", "package/module.py": b"WORD = 'there'"}
    script = "from package.module import WORD\nprint(open('word').read(), WORD, 'a' in dir())"
    with SerialMachine(board.port) as machine:
        assert machine.kind.arch == "x86"
        assert machine.run(script + "\na = 1", files) == "hello there False\n"
        assert machine.run(script, files | {"word": b"again"}) == "again there False\n"
        with pytest.raises(BoardError, match="ValueError: why"):
            machine.run("raise ValueError('why')", {})
    assert board.files() == {
        f"{FOLDER}/word": b"again",
        f"{FOLDER}/package/module.py": files["package/module.py"],
    }
