"""Compile a plugin of QEMU, once for each version of QEMU's plugin interface."""

import hashlib
import re
import subprocess
from functools import cache
from pathlib import Path

from tools.cache import made

from .errors import TargetError
from .process import compile_c

# (first version of QEMU, version of its interface), the newest first.
_APIS = (((9, 1), 3), ((9, 0), 2), ((0, 0), 1))


def plugin(system: str, source: Path) -> Path:
    """Return the path of the plugin for this QEMU, compiled once into the cache folder.

    Raises:
        TargetError: if QEMU has no plugins, or the plugin does not compile.
    """
    api = _api(system)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:8]
    name = f"{source.stem}-{api}-{digest}.so"
    return made(name, lambda _, product: _compile(api, source, product))


@cache
def _api(system: str) -> int:
    if "-plugin" not in _output_of(system, "--help"):
        raise TargetError(f"{system} was built without plugins: install one with them")
    match = re.search(r"version (\d+)\.(\d+)", _output_of(system, "--version"))
    if not match:
        raise TargetError(f"{system} --version prints no version")
    version = (int(match[1]), int(match[2]))
    return next(api for first, api in _APIS if version >= first)


def _output_of(system: str, option: str) -> str:
    try:
        return subprocess.run([system, option], capture_output=True, text=True).stdout
    except OSError as error:
        raise TargetError(f"cannot start {system}: {error.strerror}") from None


def _compile(api: int, source: Path, product: Path) -> None:
    command = ["gcc", "-shared", "-fPIC", "-O2", "-Wall", "-fvisibility=hidden"]
    command += [f"-DPLUGIN_API={api}", "-o", str(product), str(source)]
    compile_c(command, source.name)
