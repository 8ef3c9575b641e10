"""Run the test vector in a model.bin on a target: does it compute what the converter stored?"""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from tools import limits
from tools.errors import RunError
from tools.micropython import get_target

from .models import BinModel
from .once import package_files

_SCRIPT = (Path(__file__).parent / "vector_on_target.py").read_text()


def applies(args: Namespace, model: object) -> bool:
    """Return True if a call names no inputs, so that those of the file's test vector are meant."""
    inputs = (args.inputs, args.samples, args.random)
    others = (args.compare, args.expect, args.layers, args.output_dir)
    is_bin = isinstance(model, BinModel)
    return is_bin and model.has_vector and bool(model.inputs) and not any((*inputs, *others))


def run_vector(args: Namespace, model: BinModel) -> dict:
    """Run the vector, and return a report without samples.

    Raises:
        RunError: if the run fails.
    """
    ready = model.ready([])
    target = get_target(args.target)
    files = {"model.bin": ready.data, **package_files(args.ops)}
    with limits.lifted():
        completed = target.run(_SCRIPT, files=files, timeout=args.timeout)
    if completed.returncode:
        raise RunError(f"{target.name}: {completed.stderr.strip().splitlines()[-1]}")
    result = json.loads(completed.stdout)
    return {
        "model": str(args.model),
        "target": args.target,
        "conversions": 1,
        "file_bytes": len(ready.data),
        "arena_bytes": ready.arena_bytes,
        "seconds": result.pop("seconds"),
        "samples": [],
        "verified": result,
        "inputs": [str(spec) for spec in model.inputs],
    }


def lines_of(report: dict) -> list[str]:
    """Return the result as text, and what to give for a run with other inputs."""
    v, needed = report["verified"], "; ".join(report["inputs"])
    error = f"error {v['max_error']:.3g} where values reach {v['largest']:.3g}"
    if v["ok"]:
        result = f"verified: {error}, by the test vector in the file"
    else:
        result = f"NOT verified: {error} (at most {v['bound']:.3g} is right)"
    return [result, f"inputs  {needed}: give X.npy for each to run your own"]
