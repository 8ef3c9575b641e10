"""Targets that are a process of this computer: MicroPython's unix port."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .errors import TargetTimeout
from .packages import GCC, GCC_32BIT, LIBC, MAKE
from .process import Lines, Process
from .recipe import Recipe
from .staging import SCRIPT, staged
from .target import Completed, Target

# MicroPython does not free its heap when it exits.
_ASAN_OPTIONS = "detect_leaks=0"
HEAP = 8 << 20  # bytes; a heap larger than the processor's cache slows allocation down

# Run by an installed MicroPython to prove that it can replace one built here.
PROBE = """
import sys, hashlib, uctypes, micropython
from vfs import VfsRom
@micropython.viper
def double(x: int) -> int:
    return x + x
assert sys.implementation.version >= (1, 24) and double(4) == 8
assert sys.maxsize > 1 << 32 and 16777217.0 != 16777216.0
hashlib.sha256, micropython.mem_peak()
print("usable")
"""


@cache
def installed_micropython() -> Path | None:
    """Return the system's own `micropython` if it passes the PROBE; None otherwise."""
    executable = shutil.which("micropython")
    if executable is None or os.environ.get("MICROPYTHON_SRC"):
        return None
    try:
        probe = [executable, "-c", PROBE]
        done = subprocess.run(probe, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Path(executable) if done.stdout.strip() == "usable" else None


@dataclass(frozen=True)
class UnixTarget(Target):
    """An executable of this computer; each run is a process in a temporary folder.

    Attributes:
        may_be_installed: the system's own MicroPython may replace one built here.
    """

    may_be_installed: bool = False

    def path(self) -> Path:
        """Return where the executable is or will be."""
        built = super().path()
        if self.may_be_installed and not built.is_file():
            return installed_micropython() or built
        return built

    def build(self) -> Path:
        """Return the executable, built if needed.

        Raises:
            TargetError: if it cannot be built.
        """
        path = self.path()
        return path if path.is_file() else super().build()

    def run(
        self, script, files=None, args=(), timeout=60, heap=None, on_line=None, icount=False
    ) -> Completed:
        """Run a script in a process: see Target.run."""
        if icount:
            raise self._refuse("icount")
        interpreter = self._command(heap)
        lines = Lines(on_line)
        with staged(script, files) as folder:
            # Import modules only from the script's folder, not from the user's.
            environment = os.environ | {"MICROPYPATH": "", "ASAN_OPTIONS": _ASAN_OPTIONS}
            process = Process(
                [*interpreter, SCRIPT, *args],
                timeout,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
            )
            with process:
                try:
                    while data := process.read():
                        lines.feed(data)
                    status = process.wait()
                except TargetTimeout as error:
                    raise TargetTimeout(f"{self.name}: {error}", lines.finish()) from None
                return Completed(lines.finish(), process.errors(), status)

    def _command(self, heap: int | None) -> list[str]:
        """Return the command that runs a script, without the script."""
        return [str(self.build()), "-X", f"heapsize={heap or HEAP}"]


# These modules need libraries of the system or further sources; nothing here uses them.
_OPTIONS = (
    "MICROPY_PY_BTREE=0",
    "MICROPY_PY_FFI=0",
    "MICROPY_PY_SSL=0",
    "MICROPY_SSL_MBEDTLS=0",
)
_PACKAGES = (GCC, LIBC, MAKE)
# The garbage collector reads stacks, and MicroPython calls memcpy(NULL, ..., 0).
_SANITIZERS = "-fsanitize=address,undefined"
_SANITIZED = (
    f"{_SANITIZERS} -fno-sanitize=nonnull-attribute -fno-omit-frame-pointer"
    " --param asan-stack=0 --param asan-use-after-return=0"
)
_NO_NATIVE_CODE = "-DMICROPY_EMIT_X64=0 -DMICROPY_EMIT_X86=0 -DMICROPY_EMIT_ARM=0"
_SINGLE_FLOATS = "-DMICROPY_FLOAT_IMPL=MICROPY_FLOAT_IMPL_FLOAT"

# The port also runs on macOS and on other processors, but without these emitters.
_ARCH = {"x86_64": "x64"}.get(os.uname().machine, "") if sys.platform == "linux" else ""

_64BIT = {
    "word_bits": 64,
    "float_bits": 64,
    "viper": True,
    "arch": _ARCH,
    "build_packages": _PACKAGES,
}
_32BIT = {
    "word_bits": 32,
    "float_bits": 32,
    "viper": True,
    "arch": "x86",
    "build_packages": (*_PACKAGES, GCC_32BIT),
}
_OPTIONS_32BIT = (*_OPTIONS, "MICROPY_FORCE_32BIT=1")

TARGETS = (
    UnixTarget(
        "unix",
        "64-bit words, doubles, viper",
        Recipe("unix", "micropython", _OPTIONS),
        may_be_installed=True,
        **_64BIT,
    ),
    UnixTarget(
        "unix32",
        "32-bit words, single floats, viper",
        Recipe("unix", "micropython", _OPTIONS_32BIT, _SINGLE_FLOATS),
        **_32BIT,
    ),
    UnixTarget(
        "unix-plain",
        "64-bit words, doubles, bytecode only: @micropython.viper is a SyntaxError",
        Recipe("unix", "micropython", _OPTIONS, _NO_NATIVE_CODE),
        **_64BIT | {"viper": False, "arch": ""},
    ),
)

# For tests in a clone, see tests/modules/guard/guard.c.
GUARD_TARGETS = (
    UnixTarget(
        "unix-guard",
        "as unix, each array between pages that fault",
        Recipe("unix", "micropython", _OPTIONS, modules=True),
        **_64BIT,
    ),
    UnixTarget(
        "unix32-guard",
        "as unix32, each array between pages that fault",
        Recipe("unix", "micropython", _OPTIONS_32BIT, _SINGLE_FLOATS, modules=True),
        **_32BIT,
    ),
    UnixTarget(
        "unix-asan",
        "as unix-guard, its C with AddressSanitizer and UBSan",
        Recipe(
            "unix",
            "micropython",
            (*_OPTIONS, f"LDFLAGS_EXTRA={_SANITIZERS}"),
            _SANITIZED,
            modules=True,
        ),
        **_64BIT,
    ),
)
