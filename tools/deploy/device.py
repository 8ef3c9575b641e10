"""Control a board on a serial port, through mpremote and MicroPython's raw REPL."""

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
from typing import NamedTuple, Protocol

from mpremote.transport import TransportError

from . import answers, ports
from .errors import BoardError, DeployError
from .line import MAX_BYTES, Line

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
_END = b"\x04"  # ends the output of code, and its traceback
_LOOK = 0.1  # s between two reads
_CHUNK = 768  # bytes of a file in one command: small next to any board's heap, 1,024 in base64


class Digest(NamedTuple):
    """Size [bytes] and SHA-256 [hex] of a file."""

    nbytes: int
    sha256: str

    @staticmethod
    def of(data: bytes) -> Digest:
        """Return the digest of bytes on this computer."""
        return Digest(len(data), hashlib.sha256(data).hexdigest())


@dataclass(frozen=True)
class About:
    """Properties that a board reports, most of them from its sys.implementation.

    Attributes:
        mpy: architecture and version of its .mpy files.
        folder: current folder.
        free_heap_bytes: free heap.
        largest_bytes: largest contiguous free block of the heap.
        assemblers: inline assemblers that its compiler has.
        native: True if it has memory for native code.
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
    """Result of mpconnxr.inspect.golden on the board.

    Attributes:
        max_error: largest error.
        largest: largest magnitude of the expected values.
        bound: largest error that counts as right; None from earlier releases of the package.
        seconds: duration of a run; None without a clock.
        first_seconds: duration of the first run; None without a clock.
        heap_bytes: heap touched from the first import to the end of a run, without the
            verification's own.
    """

    max_error: float
    largest: float
    bound: float | None
    ok: bool
    seconds: float | None
    first_seconds: float | None
    heap_bytes: int


class Files(Protocol):
    """Something that takes the files of a board; see the methods of Device."""

    def stage(self, path: str, data: bytes, on_written: Callable[[int], object]) -> None:
        """Write a file under a temporary name, and check it."""

    def duplicate(self, source: str, path: str, data: bytes) -> None:
        """Copy a file that is there to a temporary name, and check it."""

    def put(self, path: str, stale: Iterable[str] = ()) -> None:
        """Rename a staged file to its final name, then remove the stale files."""

    def remove(self, path: str) -> None:
        """Remove a file if it exists."""


class Device:
    """A board on a serial port, in its raw REPL.

    It is a context manager: on entry the port is opened and the board reset (softly).
    """

    def __init__(self, port: str, silence: float | None = None):
        """Name the port, without opening it.

        Args:
            port: serial port or pty.
            silence: seconds without a byte after which the board counts as lost; None for the
                default.
        """
        self._port = port
        self._silence = silence or _SILENCE
        self._identity = ""

    def __enter__(self) -> Device:
        try:
            self._serial = Line(self._port, timeout=self._silence)
        except (TransportError, OSError):
            raise DeployError(f"{self._port}: {ports.why_closed(self._port)}") from None
        try:
            self._reset(_CODE, ports.why_silent)
        except BaseException:
            self._serial.close()
            raise
        return self

    def __exit__(self, *_) -> None:
        with contextlib.suppress(OSError):  # the board was unplugged: nothing to undo
            self._serial.serial.write(b"\x03")  # Ctrl-C: code may still run there
            self._serial.exit_raw_repl()
            self._serial.close()

    @contextlib.contextmanager
    def _line_errors(self, explained=None):
        """Raise failures of the line as DeployError; suppress what mpremote prints.

        Args:
            explained: function of (port, reason) that returns a better text than the reason.
        """
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                yield
        # struct.error: a board that was unplugged during a command
        except (TransportError, OSError, struct.error) as e:
            reason = str(e).partition("\n")[0] or repr(e)
            text = explained(self._port, reason) if explained else reason
            raise DeployError(f"{self._port}: {text}") from None

    def reset(self) -> None:
        """Reset the board softly: it forgets all imports."""
        self._reset(_CODE)

    def _reset(self, code, explained=None):
        with self._line_errors(explained):
            self._serial.enter_raw_repl()
        identity = self.execute(_IDENTITY)
        if identity != (self._identity or identity):
            raise DeployError(f"{self._port}: a different board answers now")
        self._identity = identity
        self.execute(code)

    def execute(
        self,
        source: str,
        silence: float | None = None,
        slow: bool = False,
        max_bytes: int = MAX_BYTES,
        of_user: bool = False,
    ) -> str:
        """Run code on the board and return its output.

        Args:
            source: MicroPython code.
            silence: seconds without a byte after which the board counts as lost; None for the
                default.
            slow: allow more time.
            max_bytes: largest output.
            of_user: the code is the user's, whose NameError does not come from a reset.

        Raises:
            BoardError: if the code raises an exception.
        """
        silence = silence or self._silence + (_SLOW if slow else 0)
        with self._line_errors():
            self._serial.max_bytes = max_bytes
            output, error = self._serial.exec_raw(source, timeout=silence)
        if error:
            raised = BoardError(error.decode(errors="replace"))
            raise raised if of_user else _error(raised)
        return output.decode(errors="replace")

    def lines(self, source: str, silence: float | None = None) -> Iterator[str]:
        """Run code on the board; yield each line that it prints, and "" while it prints nothing.

        The code runs until it ends or this generator is closed, which interrupts it.

        Args:
            source: MicroPython code.
            silence: seconds without a byte after which the board counts as lost; None for the
                default.

        Raises:
            BoardError: if the code raises an exception.
        """
        until, held = time.monotonic() + (silence or self._silence), b""
        self.start(source)
        try:
            while held.count(_END) < 2:
                heard = self._receive()
                if heard:
                    until = time.monotonic() + (silence or self._silence)
                elif time.monotonic() > until:
                    raise DeployError(f"{self._port}: the board stopped responding")
                printed, end, rest = (held + heard).partition(_END)
                *whole, printed = printed.split(b"\n")
                if max(len(printed), len(rest)) > MAX_BYTES:
                    raise DeployError(
                        f"{self._port}: the board prints over {MAX_BYTES:,} bytes in a line"
                    )
                held = printed + end + rest
                yield from (line.decode(errors="replace").rstrip("\r") for line in whole)
                if not heard:
                    yield ""
        finally:
            with self._line_errors():
                self._serial.enter_raw_repl(soft_reset=False)  # interrupts code that still runs
        error = held.split(_END)[1]
        if error:
            raise _error(BoardError(error.decode(errors="replace")))

    def _receive(self):
        """Return the bytes that arrive within a tenth of a second."""
        with self._line_errors():
            if ahead := self._serial.ahead():
                return ahead
            port = self._serial.serial
            timeout, port.timeout = port.timeout, _LOOK
            try:
                return port.read(max(1, port.in_waiting))
            finally:
                port.timeout = timeout

    def start(self, source: str) -> None:
        """Start code on the board without waiting for its end."""
        with self._line_errors():
            self._serial.exec_raw_no_follow(source)

    def about(self) -> About:
        """Return the board's properties; raise DeployError unless it runs a recent MicroPython."""
        printed = self.execute("describe()")
        about = answers.parsed_fields(printed, About, "what it is")
        if about.name != "micropython" or about.version < _OLDEST:
            version = ".".join(map(str, about.version))
            raise DeployError(f"the board runs {about.name} {version}; MicroPython 1.24 is needed")
        return about

    def sizes(self, folders: Iterable[str]) -> dict[str, int]:
        """Return {path: bytes} of the files in folders; missing folders are ignored."""
        return self._sizes(f"sizes({list(folders)!r})")

    def tree(self, folders: Iterable[str]) -> dict[str, int]:
        """Return {path: bytes} of the files in folders and below; missing folders are ignored."""
        return self._sizes(f"tree({list(folders)!r})")

    def _sizes(self, command):
        lines = self.execute(command)
        return dict(answers.parsed_lines(lines, tuple[str, int], "a file's path and size"))

    def kinds(self, paths: Iterable[str]) -> list[int]:
        """Return for each path 0 if nothing is there, 1 for a file, 2 for a folder."""
        paths = list(paths)
        printed, due = self.execute(f"kinds({paths!r})"), f"the kinds of {len(paths)} paths"
        kinds = answers.parsed(printed, list[int], due)
        if len(kinds) != len(paths):
            raise answers.unexpected(printed, due)
        return kinds

    def is_elsewhere(self, folder: str) -> bool:
        """Return True if mpconnxr can be imported from outside a folder."""
        return answers.parsed(self.execute(f"is_elsewhere({folder!r})"), bool, "True or False")

    def is_same_folder(self, folder: str, other: str) -> bool:
        """Return True if two names denote the same existing folder."""
        if self.kinds([folder, other]) != [2, 2]:
            return False
        return answers.parsed(
            self.execute(f"is_same_folder({folder!r}, {other!r})"), bool, "True or False"
        )

    def digests(self, sizes: Mapping[str, int]) -> dict[str, Digest | None]:
        """Return the digest of each file, computed on the board; None for a missing file.

        Args:
            sizes: {path: approximate bytes}, which set the timeout.
        """
        silence = self._silence + max(sizes.values(), default=0) / _SLOWEST_DIGEST
        lines = self.execute(f"digests({list(sizes)!r})", silence)
        kind = tuple[int, str] | None
        digests = answers.parsed_lines(lines, kind, "a file's size and digest", len(sizes))
        return {p: d and Digest(*d) for p, d in zip(sizes, digests, strict=True)}

    def space(self, folder: str) -> tuple[int, int]:
        """Return the free bytes and the allocation unit of a folder's file system."""
        printed = self.execute(f"space({folder!r})")
        return answers.parsed(printed, tuple[int, int], "the room in its file system")

    def read(self, path: str) -> str:
        """Return the text of a small file, "" if it is missing."""
        return answers.parsed(self.execute(f"read({path!r})"), str, f"the text of {path}")

    @contextlib.contextmanager
    def copying(self, nbytes: int) -> Iterator[Files]:
        """Yield what takes the files of a copy of so many bytes: the board itself."""
        yield self

    def stage(self, path: str, data: bytes, on_written: Callable[[int], object]) -> None:
        """Write a file under a temporary name, and check its size and digest on the board."""
        self.execute(f"begin({path!r})")
        try:
            for at in range(0, len(data), _CHUNK):
                piece = data[at : at + _CHUNK]
                self.execute(f"more({base64.b64encode(piece)!r})")
                on_written(len(piece))
        except BoardError:
            with contextlib.suppress(BoardError):  # the first error is reported
                self.execute(f"abandon({path!r})")
            raise
        self.execute(f"finish({path!r}, {tuple(Digest.of(data))!r})")

    def duplicate(self, source: str, path: str, data: bytes) -> None:
        """Copy a file on the board to a temporary name, and check its size and digest."""
        try:
            self.execute(f"duplicate({source!r}, {path!r}, {tuple(Digest.of(data))!r})")
        except BoardError:
            with contextlib.suppress(BoardError):
                self.execute(f"abandon({path!r})")
            raise

    def put(self, path: str, stale: Iterable[str] = ()) -> None:
        """Rename a staged file to its final name, then remove the stale files."""
        self.execute(f"put({path!r}, {list(stale)!r})")

    def remove(self, path: str) -> None:
        """Remove a file if it exists."""
        self.execute(f"remove({path!r})")

    def clear(self, folder: str) -> None:
        """Remove a folder with all its contents, if it exists."""
        self.execute(f"clear({folder!r})", slow=True)

    def prune(self, folder: str) -> None:
        """Remove a folder if it holds no files, and the empty folders in it."""
        self.execute(f"prune({folder!r})")

    def move(self, old: str, new: str) -> None:
        """Rename a file or folder."""
        self.execute(f"move({old!r}, {new!r})")

    def load(self, folder: str, path: str, silence: float) -> None:
        """Reset the board and load the model in a slot's file, to see that it can be loaded.

        Args:
            folder: the folder that has the package.
            path: the slot's file.
            silence: seconds without a byte after which the board counts as lost.
        """
        self._reset(_VERIFY)
        self.execute(f"load({folder!r}, {path!r})", silence)

    def format_of(self, folder: str) -> int:
        """Reset the board and return the model format that the package in a folder reads."""
        self._reset(_VERIFY)
        printed = self.execute(f"format_of({folder!r})")
        return answers.parsed(printed, int, "the version of its file format")

    def verify(self, folder: str, path: str, silence: float) -> Verified:
        """Reset the board and run the golden vectors of the model in a slot's file.

        Other commands need a reset afterwards.

        Args:
            folder: the folder that has the package.
            path: the slot's file.
            silence: seconds without a byte after which the board counts as lost.
        """
        self._reset(_VERIFY)
        printed = self.execute(f"verify({folder!r}, {path!r})", silence)
        try:
            return _verified(*printed.split()[-7:])
        except (ValueError, TypeError):  # unexpected text
            raise answers.unexpected(printed, "the result of a verification") from None


def _verified(max_error, largest, bound, ok, seconds, first_seconds, heap):
    bound, *times = (None if t == "None" else float(t) for t in (bound, seconds, first_seconds))
    return Verified(float(max_error), float(largest), bound, ok == "1", *times, int(heap))


def _error(error):
    if error.is_forgotten:
        return DeployError("the board was reset meanwhile: call mpconnxr flash again")
    return error
