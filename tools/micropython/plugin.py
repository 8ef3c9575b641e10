"""A plugin of QEMU, compiled once for each version of QEMU's interface."""

import hashlib
import re
import subprocess
from functools import cache
from pathlib import Path

from tools.cache import made

from .errors import TargetError
from .process import compile_c

# Versions of the interface, by the first QEMU that has it.
_APIS = (((9, 1), 3), ((9, 0), 2), ((0, 0), 1))


def plugin(system: str, source: Path) -> Path:
    """The plugin for this QEMU, compiled once into the cache folder."""
    api = _api(system)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:8]
    name = f"{source.stem}-{api}-{digest}.so"
    return made(name, lambda _, product: _compile(api, source, product))


@cache
def _api(system: str) -> int:
    if "-plugin" not in _said(system, "--help"):
        raise TargetError(f"{system} was built without plugins, which this needs")
    found = re.search(r"version (\d+)\.(\d+)", _said(system, "--version"))
    if not found:
        raise TargetError(f"{system} does not say its version")
    version = (int(found[1]), int(found[2]))
    return next(api for first, api in _APIS if version >= first)


def _said(system: str, option: str) -> str:
    try:
        return subprocess.run([system, option], capture_output=True, text=True).stdout
    except OSError as error:
        raise TargetError(f"cannot start {system}: {error.strerror}") from None


def _compile(api: int, source: Path, product: Path) -> None:
    command = ["gcc", "-shared", "-fPIC", "-O2", "-Wall", "-fvisibility=hidden"]
    command += [f"-DPLUGIN_API={api}", "-o", str(product), str(source)]
    compile_c(command, source.name)
