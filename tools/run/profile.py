"""Measure how long each step of a model takes on a target or a board, with Model.profile()."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from tools.converter.convert import Options

from .models import Notify
from .once import Once

_SCRIPT = Path(__file__).with_name("on_target.py")
_TIMES = ("min_us", "p50_us", "p95_us", "p99_us", "max_us")


def profile(args: Namespace, options: Options, notify: Notify) -> dict:
    """Return the report: the steps with their microseconds, and those of whole runs."""
    once = Once(args, options, notify)
    ready = once.ready
    printed = once.run(_SCRIPT, str(args.runs), 2 * args.runs + 4)
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
