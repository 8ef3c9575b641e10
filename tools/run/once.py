"""A script beside a model and its inputs, on a target or on a board at a serial port."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection
from pathlib import Path

import numpy as np

from tools import limits, package
from tools.converter import own
from tools.converter.convert import Options
from tools.format.objects import is_object
from tools.harness import input_bytes
from tools.micropython import get_target, is_target

from .errors import RunError
from .models import Say, checked, open_model
from .samples import sample_of


class Once:
    """arrays: the inputs, X.npy or else random ones; ready: the model for them.

    Raises ConvertError, RunError, OSError.
    """

    def __init__(self, args: Namespace, options: Options, say: Say):
        self._args, self._ops = args, options.ops
        model = open_model(args.model, options, say)
        arrays = sample_of(args.inputs).arrays or [_random(spec) for spec in model.inputs]
        self.arrays = checked(arrays, model.inputs)
        self.ready = model.ready(self.arrays)

    def run(self, script: Path, arguments: str, runs: int, needs: Collection[str] = ()) -> str:
        """What a script printed that calls main(arguments, folder of the files).

        runs: how many the timeout is for; needs: optional modules of the package. Raises RunError,
        TargetError, DeployError.
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
        kernels = {f"mpconnxr/ops/{n}": path for n, path in own.kernels_in(self._ops).items()}
        code = package.folder()
        if kernels:
            code = kernels | {p.relative_to(code.parent).as_posix(): p for p in code.rglob("*.py")}
        else:
            code = {package.NAME: code}
        target = get_target(self._args.target)
        done = target.run(program, files=code | files, timeout=timeout)
        if done.returncode:
            raise RunError(f"{target.name}: {done.stderr.strip().splitlines()[-1]}")
        return done.stdout


def _random(spec):
    """Values for an input that none were given for, the same in each call."""
    if is_object(spec.number) or not all(isinstance(d, int) for d in spec.shape):
        raise RunError(f"X.npy is needed for the input {spec}")
    rng = np.random.default_rng(0)
    if spec.dtype.kind in "iu":
        return rng.integers(0, 100, spec.shape).astype(spec.dtype)
    return rng.standard_normal(spec.shape).astype(spec.dtype)
