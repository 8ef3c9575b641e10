"""Control an emulated board, and copy files into the image of its flash while it is off."""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath

from littlefs import LittleFS, LittleFSError
from littlefs.context import UserContext

from tools.micropython.rp2040 import EmulatedBoard

from .device import Device, Digest, Files
from .errors import BoardError, DeployError
from .transfer import NEW

_SILENCE = 600  # s; an emulated board is several times slower than its clock
_LEAST = 32768  # bytes that its serial port takes while it could be switched off and on
_BLOCK, _READ, _PAGE = 4096, 32, 256  # bytes that MicroPython erases, reads, programs at least


class EmulatedDevice(Device):
    """An emulated board on its serial port, which is off while many bytes are copied."""

    def __init__(self, board: EmulatedBoard):
        super().__init__(board.port, _SILENCE)
        self._board = board

    @contextlib.contextmanager
    def copying(self, nbytes: int) -> Iterator[Files]:
        """Yield the board's files for a copy of many bytes, or itself; then the board checks them.

        The board starts anew: it forgets what it imported.

        Raises:
            DeployError: if the board reads other bytes than were written.
        """
        if nbytes < _LEAST:
            yield self
            return
        error = None
        self.__exit__()
        with self._board.off() as storage:
            image = Image(storage)
            try:
                yield image
            except BoardError as e:  # of a full file system: the caller removes files
                error = e
        self._port = self._board.port
        self.__enter__()
        if error:
            raise error
        digests = self.digests({path: digest.nbytes for path, digest in image.written.items()})
        if wrong := [path for path, digest in image.written.items() if digests[path] != digest]:
            raise DeployError(f"the board's file system is damaged: {wrong[0]} reads differently")


class Image:
    """The file system in an emulated board's flash, while the board is off.

    Files have their final names only if they are complete, as on a board (see on_board.py).

    Attributes:
        written: {path: digest} of the files that were written and are still there.
    """

    written: dict[str, Digest]

    def __init__(self, storage: mmap.mmap):
        """Mount the file system as MicroPython does; raise DeployError if it is damaged."""
        self.written = {}
        sizes = {"block_size": _BLOCK, "block_count": len(storage) // _BLOCK}
        sizes |= {"prog_size": _PAGE, "read_size": _READ, "cache_size": 4 * _PAGE}
        self._files = LittleFS(_Flash(buffer=storage), mount=False, **sizes)
        try:
            self._files.mount()
        except LittleFSError as e:
            raise DeployError(
                f"the board's file system is damaged ({e}): name another flash with --flash"
            ) from None

    def stage(self, path: str, data: bytes, on_written: Callable[[int], object]) -> None:
        """Write a file under a temporary name, and read it back."""
        try:
            with _errors():
                self._files.makedirs(str(PurePosixPath(path).parent), exist_ok=True)
                with self._files.open(path + NEW, "wb") as f:
                    f.write(data)
                with self._files.open(path + NEW, "rb") as f:
                    actual = f.read()
            if actual != data:
                raise DeployError(f"the board's file system is damaged: {path} reads differently")
        except DeployError:
            with contextlib.suppress(DeployError):
                self.remove(path + NEW)
            raise
        self.written[path + NEW] = Digest.of(data)
        on_written(len(data))

    def duplicate(self, source: str, path: str, data: bytes) -> None:
        """Write a file that the board has in another place; `source` need not be read."""
        self.stage(path, data, lambda _: None)

    def put(self, path: str, stale: Iterable[str] = ()) -> None:
        """Rename a staged file to its final name, then remove the stale files."""
        with _errors():
            self._files.rename(path + NEW, path)
        if path + NEW in self.written:
            self.written[path] = self.written.pop(path + NEW)
        for old in stale:
            self.remove(old)

    def remove(self, path: str) -> None:
        """Remove a file if it exists."""
        with _errors(), contextlib.suppress(FileNotFoundError):
            self._files.remove(path)
        self.written.pop(path, None)


class _Flash(UserContext):
    """LittleFS's access to the flash; each change survives the end of this process."""

    def erase(self, cfg, block):
        return self.prog(cfg, block, 0, b"\xff" * cfg.block_size)


@contextlib.contextmanager
def _errors():
    """Raise errors of LittleFS as a board does, by the number that MicroPython has for them."""
    try:
        yield
    except LittleFSError as e:
        raise BoardError(f"OSError: {-e.code}") from None
