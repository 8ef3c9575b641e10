"""Run a script beside a model and its inputs, on a target or on a board at a serial port."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection
from pathlib import Path

import numpy as np

from tools import limits, package
from tools.converter import own
from tools.converter.convert import Options
from tools.errors import RunError
from tools.format.objects import is_object
from tools.harness import input_bytes
from tools.micropython import get_target, is_target

from .models import Notify, checked, open_model
from .samples import sample_of


class Once:
    """A model with its inputs, ready to run a script on.

    Attributes:
        arrays: the inputs: X.npy or random ones.
        ready: the model converted for them.
    """

    def __init__(self, args: Namespace, options: Options, notify: Notify):
        self._args, self._ops = args, options.ops
        model = open_model(args.model, options, notify)
        arrays = sample_of(args.inputs).arrays or [_random(spec) for spec in model.inputs]
        self.arrays = checked(arrays, model.inputs)
        self.ready = model.ready(self.arrays)

    def run(self, script: Path, arguments: str, runs: int, needs: Collection[str] = ()) -> str:
        """Run a script that calls main(arguments, folder of the files), and return its output.

        Args:
            script: the script's file.
            arguments: source of the arguments.
            runs: number of runs that the timeout is for.
            needs: optional modules of the package.
        """
        ready = self.ready
        files = {f"input_{k}": input_bytes(self.arrays[i]) for k, i in enumerate(ready.fed)}
        files["model.bin"] = ready.data
        text = script.read_text()

        def program(folder):
            return f"{text}\nmain({arguments}, {folder!r})\n"

        timeout = self._args.timeout * runs
        with limits.lifted():
            if is_target(self._args.target):
                return self._on_target(files, program(""), timeout)
            from .board import run_on_board

            return run_on_board(self._args, files, program, timeout, needs)

    def _on_target(self, files, program, timeout):
        target = get_target(self._args.target)
        files = package_files(self._ops) | files
        completed = target.run(program, files=files, timeout=timeout)
        if completed.returncode:
            raise RunError(f"{target.name}: {completed.stderr.strip().splitlines()[-1]}")
        return completed.stdout


def package_files(ops: Path | None) -> dict[str, Path]:
    """Return {name: file or folder} of the device package, with the kernels of `--ops`."""
    kernels = {f"{package.NAME}/ops/{n}": path for n, path in own.kernels_in(ops).items()}
    code = package.folder()
    if not kernels:
        return {package.NAME: code}
    return kernels | {p.relative_to(code.parent).as_posix(): p for p in code.rglob("*.py")}


def _random(spec):
    """Return random values for an input without X.npy, the same in each call."""
    if is_object(spec.number) or not all(isinstance(d, int) for d in spec.shape):
        raise RunError(f"X.npy is needed for the input {spec}")
    rng = np.random.default_rng(0)
    if spec.dtype.kind in "iu":
        return rng.integers(0, 100, spec.shape).astype(spec.dtype)
    return rng.standard_normal(spec.shape).astype(spec.dtype)
