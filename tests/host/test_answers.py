"""Whatever a board answers, the host returns a value or one clear error."""

import os
import threading
import tty

import pytest

from tools.deploy import device as devices
from tools.deploy import line
from tools.deploy.device import Device
from tools.deploy.errors import DeployError

GREETING = b"raw REPL; CTRL-B to exit\r\n"
ABOUT = {
    "name": "micropython",
    "version": (1, 25, 0),
    "machine": "board",
    "build": "",
    "mpy": 0,
    "platform": "rp2",
    "folder": "/",
    "free_heap_bytes": 200_000,
    "largest_bytes": 100_000,
    "assemblers": ["thumb"],
}
ANSWERS = {
    "nothing": "",
    "an empty line": "\r\n",
    "nonsense": "}{",
    "a cut list": "[1, 2",
    "a cut text": "('/main.py', 1",
    "deep": "[" * 20_000,
    "a sum": "1 + " * 5_000,
    "a huge number": "9" * 20_000,
    "a negative number": "(-1, -1)",
    "another type": "{1: [None, 2.5j]}",
    "control characters": "\x1b[2J\x00\x07\x9b",
    "not UTF-8": b"\xff\xfe\x80",
    "a traceback's text": "Traceback (most recent call last):",
}
COMMANDS = {
    "about": lambda device: device.about(),
    "sizes": lambda device: device.sizes(["/"]),
    "tree": lambda device: device.tree(["/"]),
    "kinds": lambda device: device.kinds(["/a", "/b"]),
    "is_elsewhere": lambda device: device.is_elsewhere("/"),
    "is_same_folder": lambda device: device.is_same_folder("/a", "/b"),
    "digests": lambda device: device.digests({"/a": 1}),
    "space": lambda device: device.space("/"),
    "read": lambda device: device.read("/a"),
    "format_of": lambda device: device.format_of("/"),
    "verify": lambda device: device.verify("/", "/m.bin", 1),
}
EMPTY = {"sizes", "tree"}  # no file is an answer, too


class Board(threading.Thread):
    """A raw REPL on a pseudo-terminal.

    Attributes:
        answer: what it prints for a command that calls something.
        error: its traceback.
        flood: bytes that it prints forever instead.
    """

    def __init__(self, answer="", error="", flood=b""):
        super().__init__(daemon=True)
        self.answer = answer if isinstance(answer, bytes) else answer.encode()
        self.error, self.flood = error.encode(), flood
        self.is_silent = False
        self._far, near = os.openpty()
        tty.setraw(near)
        self.port = os.ttyname(near)
        self.start()

    def run(self):
        try:
            self._serve()
        except OSError:
            return  # nobody listens any more

    def _serve(self):
        code, is_greeted = b"", False
        while True:
            for byte in os.read(self._far, 4096):
                c = bytes([byte])
                if c == b"\x01":
                    code, is_greeted = b"", True
                    self._send(GREETING + b">")
                elif c == b"\x04" and is_greeted and not code:
                    self._send(b"OK\r\nMPY: soft reboot\r\n" + GREETING + b">")
                elif c == b"\x04":
                    self._answer(code)
                    code = b""
                elif c not in b"\r\x02\x03\x05":
                    code += c
                if code == b"A" and c == b"A":  # of raw paste, which follows
                    code = b""

    def _answer(self, code):
        self._send(b"OK")
        is_call = code.rstrip().endswith(b")") and b"\n" not in code.strip()
        while is_call and self.flood:
            self._send(self.flood)
        if is_call and self.is_silent:
            return
        self._send((self.answer if is_call else b"") + b"\x04" + self.error * is_call + b"\x04>")

    def _send(self, data):
        while data:
            data = data[os.write(self._far, data) :]


@pytest.fixture
def speak(monkeypatch):
    """Return device(board, silence=2): a Device with short time limits."""
    monkeypatch.setattr(line.Line, "seconds", 1.0)
    return lambda board, silence=2: Device(board.port, silence)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("command", COMMANDS)
def test_any_answer_gives_a_value_or_an_error(speak, command, answer):
    printed = ANSWERS[answer]
    if command in EMPTY and not printed:
        pytest.skip("no file is an answer")
    with speak(Board(printed)) as device, pytest.raises(DeployError) as raised:
        COMMANDS[command](device)
    message = str(raised.value)
    assert (
        message.startswith("the board answers ")
        and " instead of " in message
        and len(message) < 300
    )
    assert message.isprintable()


@pytest.mark.parametrize("lacking", ABOUT)
def test_a_board_that_omits_its_description_is_an_error(speak, lacking):
    printed = repr({k: v for k, v in ABOUT.items() if k != lacking})
    with (
        speak(Board(printed)) as device,
        pytest.raises(DeployError, match="instead of what it is"),
    ):
        device.about()


@pytest.mark.parametrize("name", ABOUT)
def test_a_board_that_reports_another_type_is_an_error(speak, name):
    board, match = Board(repr(ABOUT | {name: 1.5})), "instead of what it is"
    with speak(board) as device, pytest.raises(DeployError, match=match):
        device.about()


def test_right_answers_are_parsed(speak):
    with speak(Board(repr(ABOUT))) as device:
        assert device.about().platform == "rp2"
    with speak(Board("('/a', 1)\r\n('/b', 2)\r\n")) as device:
        assert device.tree(["/"]) == {"/a": 1, "/b": 2}
    with speak(Board("1e-6 0.5 None 1 0.25 None 3000\r\n")) as device:
        result = device.verify("/", "/m.bin", 1)
        assert (result.max_error, result.bound, result.seconds) == (1e-6, None, 0.25)
        assert result.heap_bytes == 3000


@pytest.mark.parametrize("flood", [b"x" * 4096, b"(1, 2)\r\n" * 512, b"\x00" * 4096])
def test_endless_output_is_an_error(speak, flood, monkeypatch):
    monkeypatch.setattr(devices, "MAX_BYTES", 100_000)
    board = Board(flood=flood)
    match = "the board prints over|does not stop printing"
    with pytest.raises(DeployError, match=match), speak(board) as device:
        device.execute("sizes(['/'])", max_bytes=100_000)


def test_slow_endless_output_is_an_error(speak, monkeypatch):
    class Slow(Board):
        def _send(self, data):
            super()._send(data)
            if self.flood in data:
                threading.Event().wait(0.05)

    board, match = Slow(flood=b"."), "the board prints for over 2 seconds"
    with pytest.raises(DeployError, match=match), speak(board, silence=0.2) as device:
        device.execute("sizes(['/'])")


def test_a_silent_board_is_an_error(speak):
    board = Board()
    with pytest.raises(DeployError, match="timeout"), speak(board, 0.3) as device:
        board.is_silent = True
        device.execute("sizes(['/'])")


@pytest.mark.parametrize("error", ["\r\n", " ", "\x00", "ValueError: \x1b[2J"])
def test_any_traceback_is_an_error(speak, error):
    with speak(Board(error=error)) as device, pytest.raises(DeployError, match="board raised"):
        device.execute("sizes(['/'])")
