"""Print a report as text or as JSON."""

from __future__ import annotations

import json
import math
from argparse import Namespace

import numpy as np

from tools.limits import printable

from . import trace, vector
from .layers import aligned, shortened, table


def to_json(report: dict) -> str:
    """Return one JSON object; values that JSON cannot hold become "nan", "inf" or "-inf"."""
    return json.dumps(_plain(report), allow_nan=False)


def _plain(value):
    if isinstance(value, np.ndarray):
        exact = value if value.dtype.kind in "biufO" else value.astype(np.float32)
        return _plain(exact.tolist())
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _text(values):
    """Return an array as text, or maps one a line."""
    if isinstance(values, list):
        return "\n".join(map(str, values))
    return np.array2string(values, threshold=64, max_line_width=99)


def print_profile(report: dict) -> None:
    """Print the steps as a table, the times of whole runs, and sizes."""
    total = sum(step["us"] for step in report["steps"] if "/" not in step["step"])
    rows = [("step", "name", "kernel", "loops", "us", "share")]
    for s in report["steps"]:
        share = f"{s['us'] / (total or 1):.1%}"
        fields = (s["step"], shortened(s["name"]), s["kernel"], " ".join(s["forms"]))
        rows.append((*fields, f"{s['us']:,.0f}", share))
    rows.append(("", "", "all", "", f"{total:,.0f}", ""))
    for line in aligned(rows, right=(4, 5)):
        print(line)
    b = report["benchmark"]
    times = ", ".join(
        f"{name} {b[name + '_us']:,}" for name in ("min", "p50", "p95", "p99", "max")
    )
    print(f"runs    {b['n']} on {report['target']}: {times} us")
    print(f"bytes   {report['arena_bytes']:,} of arena, {report['file_bytes']:,} of file")


def print_trace(report: dict, args: Namespace) -> None:
    """Print the steps as --trace LEVEL asks, and the verdict of a comparison."""
    for line in trace.lines_of(report, args.trace):
        print(printable(line))
    if args.compare and not report["deviates"]:
        print(_without_deviation(report))
    if args.dump:
        print(f"tensors -> {args.dump}")


def _without_deviation(report):
    """Return the verdict on a trace in which no step deviates."""
    outputs = [o for step in report["steps"] for o in step["outputs"] if "error" in o]
    most = report["tolerance"]
    is_rounded = any(o["bound"] > 1.001 * most for o in outputs)
    text = f"no step deviates from onnxruntime by more than {most}"
    text += " or what quantization rounds" if is_rounded else ""
    return f"{text} ({len(outputs)} compared)"


def print_report(report: dict) -> None:
    """Print outputs (shortened, or their files), errors, seconds and bytes."""
    for sample in report["samples"]:
        for output in sample["outputs"]:
            where = f"-> {output['file']}" if "file" in output else ""
            about = f"{output['name']} {output['dtype']} {output['shape']} {where}".rstrip()
            print(f"sample {sample['sample']}: {about}")
            if not where:
                print(_text(output["values"]))
    for line in vector.lines_of(report) if "verified" in report else ():
        print(line)
    for line in table(report["layers"]) if "layers" in report else ():
        print(line)
    for e in report.get("errors", ()):
        snr = "no error" if e["snr_db"] is None else f"SNR {e['snr_db']:.1f} dB"
        argmax = "" if e["argmax"] is None else f", argmax agrees in {e['argmax']:.2%}"
        print(
            f"error of {e['name']}: max {e['max_abs']:.3g} ({e['max_rel']:.3g} of the largest "
            f"value), mean {e['mean_abs']:.3g}, {snr}{argmax}"
        )
    if report["seconds"] is not None:
        print(f"seconds {report['seconds']:.6f} an inference on {report['target']}")
    print(f"bytes   {report['arena_bytes']:,} of arena, {report['file_bytes']:,} of file")
