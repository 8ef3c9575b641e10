"""How long each step of a model takes on a target or on a board: Model.profile() from here."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import numpy as np

from tools import limits
from tools.converter import own
from tools.converter.convert import Options
from tools.deploy.modules import PACKAGE
from tools.format.objects import is_object
from tools.harness import input_bytes
from tools.micropython import get_target, target_names

from .errors import RunError
from .models import Say, checked, open_model
from .samples import sample_of

_SCRIPT = Path(__file__).with_name("on_target.py")
_TIMES = ("min_us", "p50_us", "p95_us", "p99_us", "max_us")


def profile(args: Namespace, options: Options, say: Say) -> dict:
    """The steps with their microseconds, and those of whole runs.

    Raises ConvertError, RunError, TargetError, DeployError, OSError.
    """
    model = open_model(args.model, options, say)
    arrays = sample_of(args.inputs).arrays or [_random(spec) for spec in model.inputs]
    arrays = checked(arrays, model.inputs)
    ready = model.ready(arrays)
    files = {f"input_{k}": input_bytes(arrays[i]) for k, i in enumerate(ready.fed)}
    files["model.bin"] = ready.data
    with limits.lifted():
        printed = _printed(args, files, options)
    *steps, benchmark = [json.loads(line) for line in printed.splitlines()]
    for step in steps:
        number = step["step"]  # "3/0" is one in a body
        if not step["name"] and number.isdigit() and int(number) < len(ready.nodes):
            step["name"] = ready.nodes[int(number)]
    return {
        "model": str(args.model),
        "target": args.target,
        "steps": steps,
        "benchmark": {"n": benchmark["n"], **dict(zip(_TIMES, benchmark["times"], strict=True))},
        "file_bytes": len(ready.data),
        "arena_bytes": ready.arena_bytes,
    }


def _printed(args, files, options):
    """By the script, on a target or a board."""
    if args.target in target_names():
        return _on_target(args, files, own.kernels_in(options.ops))
    from .board import run_on_board

    return run_on_board(args, files, _program)


def _random(spec):
    """Values for an input that none were given for, the same in each call."""
    if is_object(spec.number) or not all(isinstance(d, int) for d in spec.shape):
        raise RunError(f"--profile needs X.npy for the input {spec}")
    rng = np.random.default_rng(0)
    if spec.dtype.kind in "iu":
        return rng.integers(0, 100, spec.shape).astype(spec.dtype)
    return rng.standard_normal(spec.shape).astype(spec.dtype)


def _program(args, folder):
    """The text to run where the files are in this folder."""
    return f"{_SCRIPT.read_text()}\nmain({args.runs}, {folder!r})\n"


def _on_target(args, files, kernels):
    """What the script printed."""
    package = {f"mpconnxr/ops/{name}": path for name, path in kernels.items()}
    if package:
        found = PACKAGE.rglob("*.py")
        package |= {f"mpconnxr/{p.relative_to(PACKAGE).as_posix()}": p for p in found}
    else:
        package = {"mpconnxr": PACKAGE}
    target = get_target(args.target)
    timeout = args.timeout * (2 * args.runs + 4)
    done = target.run(_program(args, ""), files=package | files, timeout=timeout)
    if done.returncode:
        raise RunError(f"{args.target}: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout
