"""Print the figures of a conversion."""

from __future__ import annotations

from collections import Counter

from ..ir import walk
from ..quantize.text import print_outcome
from ..report import python_floats


def grid_text(tensor) -> str:
    """Return scale and zero point of a quantized input or output, "" for others."""
    if "scale" not in tensor:
        return ""
    return f", scale {tensor['scale']:.7g}, zero point {tensor['zero_point']}"


def print_summary(converted, verbose: bool = False) -> None:
    """Print nodes, kernels, MACs, and bytes of file and arena; with verbose each step too."""
    report = converted.report()
    if converted.quantized:
        print_outcome(converted.quantized)
    for row in converted.narrowed:
        output = "" if row.output is None else f", its output {row.output:.1f} dB"
        print(f"weights  {row.node} ({row.operator}): {row.weights:.1f} dB{output}")
    for note in report["notes"]:
        print(f"note: {note}")
    floats = python_floats.of(converted)
    if floats.warning:
        print(f"warning: {floats.warning}")
    for kind in ("inputs", "outputs"):
        for t in report[kind]:
            print(f"{kind[:-1]:8} {t['name']} {t['dtype']} {t['shape']}{grid_text(t)}")
    if verbose and report["rewrites"]:
        print("rewrites " + ", ".join(f"{name} x{n}" for name, n in report["rewrites"].items()))
    kernels = Counter(step.kernel for step in walk(converted.graph.steps))
    print(f"nodes    {report['nodes']} -> {report['nodes_simplified']} -> {report['steps']} steps")
    print("kernels  " + ", ".join(f"{k} x{n}" if n > 1 else k for k, n in kernels.most_common()))
    print(f"MACs     {report['macs']:,}")
    if floats.text and not floats.warning:
        print(f"floats   Python's do {floats.text}")
    print(
        f"file     {report['file_bytes']:,} bytes, of which {report['weight_bytes']:,} are weights"
    )
    print(f"digest   {report['sha256']}")
    bound = report["arena_lower_bound_bytes"]
    what = "lower bound" if report["arena_bytes"] >= bound else "without overlaps at least"
    print(f"arena    {report['arena_bytes']:,} bytes ({what} {bound:,})")
    if report["window_bytes"]:
        held = report["held_bytes"]
        rest = f"; {held:,} bytes of weights stay in memory" if held else ""
        print(
            f"streamed {report['streamed_arena_bytes']:,} bytes of arena if weights are read from "
            f"a file, {report['window_bytes']:,} of them a buffer for weights (--window){rest}"
        )
    if report["state_bytes"]:
        print(f"state    {report['state_bytes']:,} bytes, kept from run to run")
    if verbose:
        for i, step in enumerate(walk(converted.graph.steps)):
            tensors = ", ".join(str(t) for t in step.inputs)
            outputs = ", ".join(str(t) for t in step.outputs)
            print(f"{i:4} {step.kernel:10} {tensors} -> {outputs}  [{step.node}]")
