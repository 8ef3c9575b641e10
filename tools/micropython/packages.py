"""System packages that targets need: check for them, install them."""

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from .errors import TargetError


@dataclass(frozen=True)
class Package:
    """A Debian package, and a command that succeeds only if its content is installed."""

    name: str
    probe: tuple[str, ...]

    def is_installed(self) -> bool:
        """Return True if the package's content is installed."""
        return _succeeds(self.probe)


@cache
def _succeeds(command: tuple[str, ...]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _header(compiler: str, *flags: str) -> tuple[str, ...]:
    """Return a probe for a C library, whose headers are a separate package."""
    return (compiler, *flags, "-include", "stdlib.h", "-E", "-x", "c", "/dev/null")


GCC = Package("gcc", ("gcc", "--version"))
MAKE = Package("make", ("make", "--version"))
LIBC = Package("libc6-dev", _header("gcc"))
GCC_32BIT = Package("gcc-multilib", _header("gcc", "-m32"))
GCC_ARM = Package("gcc-arm-none-eabi", ("arm-none-eabi-gcc", "--version"))
NEWLIB_ARM = Package("libnewlib-arm-none-eabi", _header("arm-none-eabi-gcc"))
GCC_RISCV = Package("gcc-riscv64-unknown-elf", ("riscv64-unknown-elf-gcc", "--version"))
PICOLIBC_RISCV = Package(
    "picolibc-riscv64-unknown-elf",
    _header("riscv64-unknown-elf-gcc", "--specs=picolibc.specs"),
)
CMAKE = Package("cmake", ("cmake", "--version"))
GCC_XTENSA = Package("gcc-xtensa-lx106", ("xtensa-lx106-elf-gcc", "--version"))
PICOLIBC_XTENSA = Package("picolibc-xtensa-lx106-elf", _header("xtensa-lx106-elf-gcc"))
QEMU_XTENSA = Package("qemu-system-misc", ("qemu-system-xtensa", "--version"))
QEMU_RISCV = Package("qemu-system-misc", ("qemu-system-riscv32", "--version"))
QEMU_ARM = Package("qemu-system-arm", ("qemu-system-arm", "--version"))
NODE = Package("nodejs", ("node", "--version"))
NPM = Package("npm", ("npm", "--version"))


def missing_of(packages: Iterable[Package]) -> list[str]:
    """Return the names of the packages that are not installed, each once."""
    return list(dict.fromkeys(p.name for p in packages if not p.is_installed()))


def install(names: list[str]) -> None:
    """Install Debian packages as root, or through sudo without a password.

    Raises:
        TargetError: if that is impossible; the message says how to install them by hand.
    """
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *names]
    by_hand = f"install: {' '.join(names)}"
    if not shutil.which("apt-get"):
        raise TargetError(f"this system has no apt-get; {by_hand}")
    prefix = []
    if os.geteuid() != 0:
        prefix = ["sudo", "-n"]
        if not _succeeds(("sudo", "-n", "true")):
            raise TargetError(f"packages are missing; as root, {by_hand}")
    # sudo does not pass variables on, env does.
    prefix += ["env", "DEBIAN_FRONTEND=noninteractive"]
    for step in (["apt-get", "update", "--quiet"], command):
        if subprocess.run([*prefix, *step], stdin=subprocess.DEVNULL).returncode:
            raise TargetError(f"{' '.join(step[:2])} failed; {by_hand}")
    _succeeds.cache_clear()
