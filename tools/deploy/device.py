"""A board on a serial port, spoken to in its raw REPL through mpremote."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mpremote.transport import TransportError

from . import answers
from .errors import BoardError, DeployError
from .line import MOST_BYTES, Line

_CODE = (Path(__file__).parent / "on_board.py").read_text()
_VERIFY = (Path(__file__).parent / "on_board_verify.py").read_text()
_OLDEST = (1, 24)
_SILENCE = 15  # s without a byte after which a board counts as lost
_SLOWEST_DIGEST = 20_000  # bytes a second
_SLOW = 120  # s for a command that looks at all files
_IDENTITY = """
import sys
def identity():
    try:
        from machine import unique_id
        return bytes(unique_id())
    except ImportError:
        return b""
it = sys.implementation
print((getattr(it, "_machine", ""), getattr(it, "_mpy", 0), sys.platform, identity()))
"""
_END = b"\x04"  # of what code prints, and of its traceback
_LOOK = 0.1  # s
_CHUNK = 768  # bytes of a file in one command: small next to any board's heap, 1,024 in base64


class Digest(NamedTuple):
    """Size in bytes and SHA-256 in hex."""

    nbytes: int
    sha256: str

    @staticmethod
    def of(data: bytes) -> Digest:
        """Return the digest of bytes on this computer."""
        return Digest(len(data), hashlib.sha256(data).hexdigest())


@dataclass(frozen=True)
class About:
    """What a board says of itself, much of it from its sys.implementation.

    mpy: architecture and version of its .mpy files; folder: its current one; largest_bytes: the
    largest free piece of its heap; assemblers: inline ones that its compiler knows; native:
    whether it has memory for native code.
    """

    name: str
    version: tuple[int, int, int]
    machine: str
    build: str
    mpy: int
    platform: str
    folder: str
    free_heap_bytes: int
    largest_bytes: int
    assemblers: list[str]
    native: bool = True


@dataclass(frozen=True)
class Verified:
    """What inspect.golden found on the board; bound: the largest error that is right, None where
    an earlier release of the package does not say it; seconds of a run and of the first one, None
    without a clock there; heap_bytes: touched from the first import to the end of a run,
    without what verifying takes.
    """

    max_error: float
    largest: float
    bound: float | None
    ok: bool
    seconds: float | None
    first_seconds: float | None
    heap_bytes: int


class Device:
    """A context manager: on entry the board is reset (softly) and its raw REPL entered."""

    def __init__(self, port: str, silence: float | None = None):
        """silence: seconds without a byte after which the board counts as lost."""
        self._port = port
        self._silence = silence or _SILENCE
        self._identity = ""

    def __enter__(self) -> Device:
        with self._speaking():
            self._serial = Line(self._port, timeout=self._silence)
        try:
            self.reset()
        except BaseException:
            self._serial.close()
            raise
        return self

    def __exit__(self, *_) -> None:
        with contextlib.suppress(OSError):  # the board was unplugged: nothing is left to undo
            self._serial.serial.write(b"\x03")  # Ctrl-C: what was interrupted here may run there
            self._serial.exit_raw_repl()
            self._serial.close()

    @contextlib.contextmanager
    def _speaking(self):
        """Failures of the line as DeployError, and without the bytes that mpremote prints."""
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                yield
        except (TransportError, OSError, struct.error) as e:  # the last: a board gone mid-command
            reason = str(e).partition("\n")[0] or repr(e)
            raise DeployError(f"{self._port}: {reason}") from None

    def reset(self) -> None:
        """Resets the board softly, which forgets what was imported."""
        self._reset(_CODE)

    def _reset(self, code):
        with self._speaking():
            self._serial.enter_raw_repl()
        found = self.execute(_IDENTITY)
        if found != (self._identity or found):
            raise DeployError(f"{self._port}: another board answers than before")
        self._identity = found
        self.execute(code)

    def execute(
        self,
        source: str,
        silence: float | None = None,
        slow: bool = False,
        most_bytes: int = MOST_BYTES,
    ) -> str:
        """Runs code on the board and returns what it printed. Raises BoardError.

        silence: seconds without a byte after which the board counts as lost; slow: give it more;
        most_bytes: that it may print.
        """
        silence = silence or self._silence + (_SLOW if slow else 0)
        with self._speaking():
            self._serial.most_bytes = most_bytes
            output, error = self._serial.exec_raw(source, timeout=silence)
        if error:
            raise _error(BoardError(error.decode(errors="replace")))
        return output.decode(errors="replace")

    def lines(self, source: str, silence: float | None = None) -> Iterator[str]:
        """Runs code on the board; yields each line that it prints, and "" while there is none.

        The board goes on with the code until it ends or this generator is closed, which
        interrupts it. silence: seconds without a byte after which the board counts as lost.
        Raises BoardError.
        """
        until, held = time.monotonic() + (silence or self._silence), b""
        self.leave(source)
        try:
            while held.count(_END) < 2:
                heard = self._heard()
                if heard:
                    until = time.monotonic() + (silence or self._silence)
                elif time.monotonic() > until:
                    raise DeployError(f"{self._port}: the board says nothing any more")
                printed, end, rest = (held + heard).partition(_END)
                *whole, printed = printed.split(b"\n")
                if max(len(printed), len(rest)) > MOST_BYTES:
                    raise DeployError(
                        f"{self._port}: the board prints over {MOST_BYTES:,} bytes in a line"
                    )
                held = printed + end + rest
                yield from (line.decode(errors="replace").rstrip("\r") for line in whole)
                if not heard:
                    yield ""
        finally:
            with self._speaking():
                self._serial.enter_raw_repl(soft_reset=False)  # interrupts what still runs
        error = held.split(_END)[1]
        if error:
            raise _error(BoardError(error.decode(errors="replace")))

    def _heard(self):
        """What the board says within a tenth of a second."""
        with self._speaking():
            if ahead := self._serial.ahead():
                return ahead
            port = self._serial.serial
            timeout, port.timeout = port.timeout, _LOOK
            try:
                return port.read(max(1, port.in_waiting))
            finally:
                port.timeout = timeout

    def leave(self, source: str) -> None:
        """Runs code that ends the connection."""
        with self._speaking():
            self._serial.exec_raw_no_follow(source)

    def about(self) -> About:
        """Raises DeployError if it does not run a MicroPython that is new enough."""
        printed = self.execute("describe()")
        about = answers.parsed_fields(printed, About, "what it is")
        if about.name != "micropython" or about.version < _OLDEST:
            version = ".".join(map(str, about.version))
            raise DeployError(f"the board runs {about.name} {version}; MicroPython 1.24 is needed")
        return about

    def sizes(self, folders: Iterable[str]) -> dict[str, int]:
        """Bytes of each file in those of the folders that exist, by path."""
        return self._sizes(f"sizes({list(folders)!r})")

    def tree(self, folders: Iterable[str]) -> dict[str, int]:
        """Bytes of each file in those of the folders that exist, and below, by path."""
        return self._sizes(f"tree({list(folders)!r})")

    def _sizes(self, command):
        lines = self.execute(command)
        return dict(answers.parsed_lines(lines, tuple[str, int], "a file's path and size"))

    def kinds(self, paths: Iterable[str]) -> list[int]:
        """0 where there is nothing, 1 for a file, 2 for a folder."""
        paths = list(paths)
        printed, due = self.execute(f"kinds({paths!r})"), f"the kinds of {len(paths)} paths"
        found = answers.parsed(printed, list[int], due)
        if len(found) != len(paths):
            raise answers.unexpected(printed, due)
        return found

    def is_elsewhere(self, folder: str) -> bool:
        """Whether mpconnxr can be imported, but from another folder."""
        return answers.parsed(self.execute(f"is_elsewhere({folder!r})"), bool, "True or False")

    def is_one(self, folder: str, other: str) -> bool:
        """Whether two names of folders that exist are those of one."""
        if self.kinds([folder, other]) != [2, 2]:
            return False
        return answers.parsed(
            self.execute(f"is_one({folder!r}, {other!r})"), bool, "True or False"
        )

    def digests(self, sizes: Mapping[str, int]) -> dict[str, Digest | None]:
        """Of files on the board, computed there, None where there is none.

        sizes: about their bytes, by path.
        """
        silence = self._silence + max(sizes.values(), default=0) / _SLOWEST_DIGEST
        lines = self.execute(f"digests({list(sizes)!r})", silence)
        kind = tuple[int, str] | None
        found = answers.parsed_lines(lines, kind, "a file's size and digest", len(sizes))
        return {p: d and Digest(*d) for p, d in zip(sizes, found, strict=True)}

    def space(self, folder: str) -> tuple[int, int]:
        """(free bytes, unit of allocation) of the file system that a folder is in."""
        printed = self.execute(f"space({folder!r})")
        return answers.parsed(printed, tuple[int, int], "the room in its file system")

    def read(self, path: str) -> str:
        """The text of a small file, "" where there is none."""
        return answers.parsed(self.execute(f"read({path!r})"), str, f"the text of {path}")

    def stage(self, path: str, data: bytes, on_written: Callable[[int], object]) -> None:
        """Makes a file under a temporary name and checks its length and digest there."""
        self.execute(f"begin({path!r})")
        try:
            for at in range(0, len(data), _CHUNK):
                piece = data[at : at + _CHUNK]
                self.execute(f"more({base64.b64encode(piece)!r})")
                on_written(len(piece))
        except BoardError:
            with contextlib.suppress(BoardError):  # the first one tells what went wrong
                self.execute(f"abandon({path!r})")
            raise
        self.execute(f"finish({path!r}, {tuple(Digest.of(data))!r})")

    def duplicate(self, source: str, path: str, data: bytes) -> None:
        """Makes a file under a temporary name from one that the board has, and checks it."""
        try:
            self.execute(f"duplicate({source!r}, {path!r}, {tuple(Digest.of(data))!r})")
        except BoardError:
            with contextlib.suppress(BoardError):
                self.execute(f"abandon({path!r})")
            raise

    def put(self, path: str, stale: Iterable[str] = ()) -> None:
        """Gives a staged file its name; only then the stale ones are removed."""
        self.execute(f"put({path!r}, {list(stale)!r})")

    def remove(self, path: str) -> None:
        """Removes a file if it is there."""
        self.execute(f"remove({path!r})")

    def clear(self, folder: str) -> None:
        """Removes a folder with all that is in it, if it is there."""
        self.execute(f"clear({folder!r})", slow=True)

    def prune(self, folder: str) -> None:
        """Removes the folders in a folder that hold nothing, and that one."""
        self.execute(f"prune({folder!r})")

    def move(self, old: str, new: str) -> None:
        """Renames a folder."""
        self.execute(f"move({old!r}, {new!r})")

    def load(self, folder: str, path: str, silence: float) -> None:
        """As verify, but the model is only loaded."""
        self._reset(_VERIFY)
        self.execute(f"load({folder!r}, {path!r})", silence)

    def format_of(self, folder: str) -> int:
        """As verify: the version of model files that the package in a folder reads."""
        self._reset(_VERIFY)
        printed = self.execute(f"format_of({folder!r})")
        return answers.parsed(printed, int, "the version of its file format")

    def verify(self, folder: str, path: str, silence: float) -> Verified:
        """Resets the board and runs the golden vectors of a model in a slot's file.

        folder: has the package to take. Other commands need a reset after it.
        """
        self._reset(_VERIFY)
        printed = self.execute(f"verify({folder!r}, {path!r})", silence)
        try:
            return _verified(*printed.split()[-7:])
        except (ValueError, TypeError):  # another text, or fewer words
            raise answers.unexpected(printed, "the result of a verification") from None


def _verified(max_error, largest, bound, ok, seconds, first_seconds, heap):
    bound, *times = (None if t == "None" else float(t) for t in (bound, seconds, first_seconds))
    return Verified(float(max_error), float(largest), bound, ok == "1", *times, int(heap))


def _error(error):
    if error.is_forgotten:
        return DeployError("the board was reset meanwhile: call flash.py again")
    return error
