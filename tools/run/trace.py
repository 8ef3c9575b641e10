"""Trace what each step of a model computes on a target or a board, next to onnxruntime."""

from __future__ import annotations

import base64
import json
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np

from tools.converter.convert import Options
from tools.converter.reference.compare import apart
from tools.converter.reference.tolerance import is_float, largest_of
from tools.errors import RunError

from .compare import Reference, inner_values
from .models import Notify
from .once import Once

_SCRIPT = Path(__file__).with_name("trace_on_target.py")
_RUNS = 4  # in units of --timeout, as loading takes long too


def trace(args: Namespace, options: Options, notify: Notify) -> dict:
    """Return the report: the steps in the order in which they ran, with the values they wrote."""
    if args.compare:  # keep all values, so that each can be compared
        options = replace(options, inner=tuple(inner_values(args.compare)))
    once = Once(args, options, notify)
    with_values = args.trace > 1 or args.dump or args.compare
    printed = once.run(_SCRIPT, str(int(bool(with_values))), _RUNS, ("inspect.trace",))
    steps = _steps(printed, once.ready)
    if args.compare:
        _compare(args, once, options, steps)
    if args.dump:
        args.dump.mkdir(parents=True, exist_ok=True)
        for step in steps:
            for output in step["outputs"]:
                _save(args.dump, step["step"], output)
    return {
        "model": str(args.model),
        "target": args.target,
        "steps": steps,
        "deviates": _first_that_deviates(steps) if args.compare else None,
        "tolerance": once.ready.relative,
    }


def _steps(printed, ready):
    steps: list[dict] = []
    for line in printed.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "S":
            steps.append(json.loads(rest) | {"outputs": []})
            continue
        if not steps or kind not in ("T", "B"):
            raise RunError(f"the target printed {line[:80]!r} in its trace")
        outputs = steps[-1]["outputs"]
        if kind == "T":
            dtype, _, dims = rest.partition(" ")
            outputs.append({"dtype": dtype, "shape": [int(d) for d in dims.split(",") if d]})
            outputs[-1]["data"] = b""
        else:
            outputs[-1]["data"] += base64.b64decode(rest)
    if not steps:
        raise RunError("the model has no steps")
    for step in steps:
        _describe(step, ready)
    return steps


def _describe(step, ready):
    """Add names that the file does not have, and turn bytes into arrays."""
    number = step["step"]  # "3/0" is one in a body
    known = number.isdigit() and int(number) < len(ready.nodes)
    if not step["name"] and known:
        step["name"] = ready.nodes[int(number)]
    names = ready.values[int(number)] if known and ready.values else []
    for k, output in enumerate(step["outputs"]):
        output["name"] = names[k] if k < len(names) else ""
        output["at"] = k
        data = output.pop("data")
        dtype = None if output["dtype"] == "?" else _dtype(output["dtype"])
        if dtype is not None and len(data) == dtype.itemsize * int(np.prod(output["shape"])):
            output["values"] = np.frombuffer(data, dtype).reshape(output["shape"])


def _dtype(name):
    """Return numpy's dtype, or that of ml_dtypes; None if neither has it."""
    name = name.replace("float8e4m3", "float8_e4m3").replace("float8e5m2", "float8_e5m2")
    name = name.replace("float8e8m0", "float8_e8m0fnu").replace("float4e2m1", "float4_e2m1fn")
    name = name.replace("float6e2m3", "float6_e2m3fn").replace("float6e3m2", "float6_e3m2fn")
    try:
        return np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        return None


def _compare(args, once, options, steps):
    """Add to each output onnxruntime's value, the error, and the largest right error."""
    operators = inner_values(args.compare)
    zeros = {s.name: np.zeros(s.shape, s.dtype) for s in once.ready.states}
    reference = Reference(args.compare, options.state, zeros, operators, options.bind)
    reference.check([once.arrays])
    ends = reference.run(once.arrays)
    names = [spec.name for spec in once.ready.outputs]
    expected = reference.values | dict(zip(names, ends, strict=False))
    for step in steps:
        for output in step["outputs"]:
            right = expected.get(output["name"])
            got = output.get("values")
            if right is None or got is None or not isinstance(right, np.ndarray):
                continue
            if right.dtype == got.dtype and right.shape == got.shape and got.dtype.kind in "biuf":
                output["expected"] = right
                output["error"] = apart(got, right) / _unit(right)
    compared = [o for step in steps for o in step["outputs"] if "error" in o]
    rights = {o["name"]: o["expected"] for o in compared}
    bounds = reference.bounds(rights, once.ready.relative)
    for output in compared:
        output["bound"] = bounds[output["name"]] / _unit(output["expected"])


def _unit(right):
    """Return the unit of an error: the largest value of floats, or 1 for integers."""
    return largest_of(right) or 1.0 if is_float(right) else 1.0


def _first_that_deviates(steps):
    """Return {step, name, value, error} of the first value beyond its bound; None without any."""
    for step in steps:
        for output in step["outputs"]:
            if output.get("error", 0) > output.get("bound", 0):
                about = {"value": output["name"], "error": output["error"]}
                return {"step": step["step"], "name": step["name"]} | about
    return None


def _save(folder, step, output):
    """Write an output to STEP_K.npy, and onnxruntime's value to STEP_K.expected.npy."""
    stem = f"{step.replace('/', '-')}_{output['at']}"
    for key, suffix in (("values", ".npy"), ("expected", ".expected.npy")):
        if key in output:
            values = output[key]
            if values.dtype.kind == "V":  # which .npy files cannot name
                values = values.view(np.uint8)
            np.save(folder / (stem + suffix), values)


def lines_of(report: dict, level: int) -> list[str]:
    """Return the trace as lines.

    Args:
        report: report of `trace`.
        level: 0 the verdict alone, 1 a line for each step, 2 the range of its outputs too, 3 their
            first elements too.
    """
    lines = []
    widths = [max(len(step[key]) for step in report["steps"]) for key in ("name", "kernel")]
    for step in report["steps"] if level else ():
        about = f"{step['name']:{widths[0]}}  {step['kernel']:{widths[1]}}"
        line = f"{step['step']:5} {about} {step['us']:>9,} us"
        errors = [o["error"] for o in step["outputs"] if "error" in o]
        lines.append(line + (f"   error {max(errors):.1e}" if errors else ""))
        if level > 1:
            lines += [f"      -> {_about(output, level)}" for output in step["outputs"]]
    deviates = report["deviates"]
    if deviates:
        what = f"step {deviates['step']} {deviates['name']}, value {deviates['value']}"
        lines.append(f"first that deviates from onnxruntime: {what}: {deviates['error']:.3g}")
    return lines


def _about(output, level):
    text = f"{output['name']} {output['dtype']} {output['shape']}".lstrip()
    if "values" not in output:
        return text if output["dtype"] != "?" else f"{output['name']} decided in the run".lstrip()
    values = output["values"].astype(np.float64).ravel()
    finite = values[np.isfinite(values)]
    if finite.size:
        text += f": {finite.min():.5g} to {finite.max():.5g}, mean {finite.mean():.5g}"
    if finite.size < values.size:
        text += f", {values.size - finite.size} not finite"
    if level > 2:
        text += ", " + " ".join(f"{v:.5g}" for v in values[:8])
    return text
