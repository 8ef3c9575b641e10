"""Count C code for the same model: generated C, and calls of Arm's CMSIS-NN.

tools.bench adds these figures to the row of each model and target.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.bench.measure import cycles
from tools.converter.convert import Converted
from tools.errors import ConvertError

from . import build, cmsis, code, paired

# All targets compute the same output, so one of them provides it for the comparison with CMSIS-NN.
_REFERENCE_TARGET = "mps2-an386"


def c_figures(path: Path, converted: Converted, row: dict) -> dict:
    """Return the figures of generated C at -O2 and -O3, and of C with mpconnxr's products.

    A figure is None if an operator has no C, or this computer has no compiler for the core.
    """
    names = ("c_o2", "c_o3", "c_same_o3")
    target = row["target"]
    try:
        text = code.generate(path).text
        same = code.generate(path, same=build.same_products(target)).text
    except ConvertError as e:
        print(f"bench: no C for {path}: {e}", file=sys.stderr)
        return dict.fromkeys(f"{name}_instructions" for name in names)
    if target not in build.TARGETS:
        return dict.fromkeys(f"{name}_instructions" for name in names)
    runs = ((text, "-O2"), (text, "-O3"), (same, "-O3"))
    counts = [build.count(source, target, level) for source, level in runs]
    figures = _figures(zip(names, counts, strict=True))
    if target == "unix" and row["form"] == "best":
        times = paired.measure(converted, text)
        figures |= {"time_ns": times.ours, "c_o3_time_ns": times.c, "c_o3_time_ratio": times.ratio}
    return figures


def cmsis_figures(path: Path, converted: Converted, row: dict, package: Path | None) -> dict:
    """Return the figures of CMSIS-NN, and the distance of its output from mpconnxr's.

    The result is empty without CMSIS-NN's sources, on the unix target, and without a compiler.

    Args:
        path: the model.
        converted: the same model, converted.
        row: figures of mpconnxr, of which only the target is read.
        package: folder of mpconnxr; default: the source.
    """
    target = row["target"]
    if target not in build.TARGETS or target == "unix" or cmsis.folder() is None:
        return {}
    try:
        source = cmsis.generate(path)
    except ConvertError as e:
        print(f"bench: {path} by CMSIS-NN: {e}", file=sys.stderr)
        return {"cmsis_why": str(e)}
    compiler, counts = build.compiler_of(target), {}
    for level in ("-O2", "-O3"):
        library = cmsis.library(target, compiler, level)
        name = f"cmsis_{level[1:].lower()}"
        counts[name] = build.count(source.text, target, level, library)
    ours = cycles(converted, _REFERENCE_TARGET, (), package, source.sample).output
    off = max(source.steps_off(count.output, ours) for count in counts.values())
    return _figures(counts.items()) | {"cmsis_steps_off": off}


def _figures(counts):
    """Return instructions and, where estimated, cycles of (name, CCount) pairs."""
    figures = {}
    for name, counted in counts:
        figures[f"{name}_instructions"] = counted.instructions
        if counted.cycles is not None:
            figures[f"{name}_cycles"] = round(counted.cycles)
    return figures
