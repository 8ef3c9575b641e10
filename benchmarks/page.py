"""Write docs/benchmarks.md and its chart from the rows of a measurement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tools.bench.rows import per_mac, share_outside_loops, time_ratio
from tools.bench.timing.cores import CORES
from tools.converter.report.svg import element

from .cycles import is_integer
from .published import compared

_HEAD = """# Benchmarks

Written by `{command}`; do not edit. Instructions of one steady-state `run()` of a whole model for
each of its nominal multiply-accumulates (padding included), counted exactly in QEMU (`unix`: by
valgrind, to a few percent); next to them C that is generated from the same graph
([benchmarks/c](../benchmarks/c)),
compiled by gcc for the same core and counted in the same emulator. Cycles are
[estimated](#estimated-cycles), and no real board was in the loop.

The C is straightforward, as a code generator or a reference kernel writes it: nested loops over
the output, one multiply-accumulate at a time, with every extent a constant. Floats are soft on
cores without an FPU, and in the C for Xtensa (an ESP32 has one). *Same in C* computes products as
mpconnxr's loops do: patches of bytes, four channels of two positions at a time, integers that
requantize; mantissas of floats, summed in 64 bits (where the core has an FPU floats are computed
straightforwardly).

*Outside of loops* is what the interpreter takes around them, its calls of them included: the
counter is read before and after each loop of a second run, less what that takes around a loop that
does nothing. Loops that another loop calls are a part of that.
*Time / C -O3*, on the computer that wrote this page: processor time of a run, and of the C that
took turns with it; the median of 15 rounds' ratios.

{cmsis}
[collection.md](collection.md) has all models of the collection.

![Instructions a multiply-accumulate](benchmarks.svg)
"""
_CMSIS = """*CMSIS-NN*, Arm's library of kernels, is called layer by layer from C that is generated
from the same graph, and compiled by the same gcc (`-fno-math-errno -ffunction-sections`). Its
sources are no part of this repository: `MPCONNXR_CMSIS_NN` names their folder. Its activations are
int8, and its weights have no zero point: models that need anything else have no figure (–). *Off*
is the largest distance of its output from mpconnxr's on the same random input, in steps of the
output. On a core without the DSP extension it is plain C.
"""
_NO_CMSIS = """Arm's CMSIS-NN is not compared here: `MPCONNXR_CMSIS_NN` named no folder of it.
"""
_SUMMARY = """## At a glance

mpconnxr next to C and CMSIS-NN, each at the better of -O2 and -O3: least and most of the models of
integers. Below 1, mpconnxr takes less.

| core | instructions / C | cycles / C | instructions / CMSIS-NN | cycles / CMSIS-NN |
|---|---:|---:|---:|---:|
{lines}
"""
_CYCLES = """## Estimated cycles

QEMU counts instructions. Cycles are estimates: a plugin of QEMU counts how often each block of
instructions runs and how often its branch is taken, and each instruction takes what the core's
reference manual (TRM) says ([tools/bench/timing](../tools/bench/timing)).

| core | source | where the source leaves it open |
|---|---|---|
{cores}

On a Cortex-M3, M4 and M33, a load right behind another one takes one cycle instead of two, and an
address that the instruction before computed costs a cycle. A taken branch costs one cycle for the
pipeline, two where a register says where to, three where memory does.

Wait states, of mpconnxr's loops in SRAM, and of C, CMSIS-NN and the interpreter in flash:

| board | code in SRAM | code in flash |
|---|---|---|
| RP2040 | none | none: its cache of 16 KB answers in a cycle; misses are not counted |
| with a Cortex-M3, M4, M33 | {sram} | none: as on an RP2040, or behind an accelerator |

Weights that are read from flash have no wait states, either.
"""
_SRAM = (
    "fetched over the system bus, as data are: a cycle for each taken branch, and one where a "
    "fetch and a load meet (*of them SRAM*)"
)
_PUBLISHED = """### Next to published figures

CMSIS-NN, cycles a MAC: as others measured them on boards, and as they are estimated here (-O3).

| board | model | measured | estimated | off | source |
|---|---|---:|---:|---:|---|
{lines}

What was measured waits for flash. The STM32L4R5 has 5 wait states at this clock, and caches of
1 KB for code and of 256 bytes for data: most of the weights come from flash itself.
"""
_TARGETS = {
    "mps2-an385": "Cortex-M3",
    "mps2-an385-v6m": "ARMv6-M code, as the RP2040 runs it",
    "mps2-an386": "Cortex-M4F",
    "mps2-an505": "Cortex-M33",
    "virt-rv32": "RISC-V, rv32imac, as an ESP32-C3 and an RP2350 run it",
    "sim-de212": "Xtensa with register windows, as an ESP32 runs it",
    "unix": "x86-64, a process of this computer",
}
_COLUMNS = (
    "| model | MACs | mpconnxr | C -O2 | C -O3 | same in C -O3 | {} | arena, bytes "
    "| allocated by a run, bytes |"
)
_BAR, _GAP, _LEFT, _WIDTH = 14.0, 10.0, 250.0, 460.0  # pixels


def write(rows: Sequence[dict], folder: Path, command: str) -> None:
    """Write benchmarks.md and benchmarks.svg.

    Args:
        rows: one measurement each, as tools.bench and benchmarks.c make them.
        folder: where to write.
        command: the command that measures again, for the page.
    """
    has_cmsis = any("cmsis_o3_instructions" in row for row in rows)
    parts = [_HEAD.format(command=command, cmsis=_CMSIS if has_cmsis else _NO_CMSIS)]
    parts += _summary(rows)
    for kind in dict.fromkeys(map(_kind, rows)):
        target_rows = [row for row in rows if _kind(row) == kind]
        parts.append(f"## {kind}\n\n{_table(target_rows)}")
        parts += _cycles(target_rows)
        parts.append(_kernels(target_rows))
    parts += _about_cycles(rows)
    (folder / "benchmarks.md").write_text("\n".join(parts))
    first_target = [row for row in rows if row["target"] == rows[0]["target"]]
    (folder / "benchmarks.svg").write_text(_bars(first_target) + "\n")


def _kind(row):
    """Return the heading of the row's section; `cycles` reads the target from its parentheses."""
    target = row["target"]
    return f"{_TARGETS.get(target, target)} (`{target}`)"


def _table(rows):
    timed = any("c_o3_time_ratio" in row for row in rows)
    title, figure = "outside of loops", share_outside_loops
    if timed:
        title, figure = "time / C -O3", time_ratio
    lines = [_COLUMNS.format(title), "|---|" + "---:|" * (_COLUMNS.count("|") - 2)]
    for row in rows:
        counts = [per_mac(row, name) or "–" for name in _COUNTS]
        cells = [_name(row), f"{row['macs']:,}", *counts, figure(row) or "–"]
        cells += [f"{row['arena_bytes']:,}", f"{row['heap_growth_bytes']:,}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cycles(rows):
    """Return a table of cycles per MAC and of CMSIS-NN's figures, without empty columns."""
    columns = {
        title: [per_mac(row, name) for row in rows] for title, name in _CYCLES_COLUMNS.items()
    }
    columns["off"] = [f"{r['cmsis_steps_off']:g}" if "cmsis_steps_off" in r else "" for r in rows]
    shown = {title: cells for title, cells in columns.items() if any(cells)}
    if not shown:
        return []
    lines = [f"| model | {' | '.join(shown)} |", "|---|" + "---:|" * len(shown)]
    for row, *cells in zip(rows, *shown.values(), strict=True):
        lines.append(f"| {_name(row)} | {' | '.join(cell or '–' for cell in cells)} |")
    return ["\n".join(lines) + "\n"]


def _summary(rows):
    """Return the section "At a glance" in a list; [] if no row has figures of CMSIS-NN.

    For each core, it has the least and the greatest ratio of mpconnxr's instructions and cycles to
    those of C and to those of CMSIS-NN, over the integer models.
    """
    lines = []
    for kind in dict.fromkeys(_kind(row) for row in rows if "cmsis_o3_instructions" in row):
        target_rows = [r for r in rows if _kind(r) == kind and is_integer(_name(r))]
        cells = [
            _range(target_rows, counted, other)
            for other in ("c", "cmsis")
            for counted in ("instructions", "cycles")
        ]
        lines.append(f"| {kind.partition(' (')[0]} | {' | '.join(cells)} |")
    return [_SUMMARY.format(lines="\n".join(lines))] if lines else []


def _range(rows, counted, other):
    """Return a text such as "0.50 to 0.75": mpconnxr's counts over the other's better level."""
    ratios = [
        row[counted] / min(row[f"{other}_{level}_{counted}"] for level in ("o2", "o3"))
        for row in rows
        if row.get(f"{other}_o2_{counted}") and row.get(counted)
    ]
    return f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "–"


def _about_cycles(rows):
    """Return the sections on estimated cycles and on how they compare with published times."""
    targets = [t for t in CORES if any(row["target"] == t and "cycles" in row for row in rows)]
    if not targets:
        return []
    cores = [f"| {c.name} | {c.source} | {c.note} |" for c in (CORES[t] for t in targets)]
    parts = [_CYCLES.format(cores="\n".join(cores), sram=_SRAM)]
    lines = [
        f"| {f.board} | {f.model} | {real:.2f} | {ours:.2f} | {_off(ours / real)} | {f.source} |"
        for f, real, ours in compared(rows)
    ]
    return parts + ([_PUBLISHED.format(lines="\n".join(lines))] if lines else [])


def _off(ratio):
    return f"{round(ratio - 1, 2) + 0.0:+.0%}"


def _kernels(rows):
    """Return a table with the share of each kernel in the instructions of all rows."""
    sums = {}
    for row in rows:
        for name, counts in row.get("kernels", {}).items():
            instructions, macs = sums.get(name, (0, 0))
            sums[name] = instructions + counts["instructions"], macs + counts["macs"]
    total = sum(instructions for instructions, _ in sums.values())
    lines = ["| kernel | of all instructions | a MAC of its own |", "|---|---:|---:|"]
    for name, (instructions, macs) in sorted(sums.items(), key=lambda element: -element[1][0]):
        per_mac = f"{instructions / macs:.2f}" if macs else "–"
        lines.append(f"| {name} | {instructions / total:.1%} | {per_mac} |")
    return "\n".join(lines) + "\n" if total else ""


_CYCLES_COLUMNS = {
    "cycles a MAC: mpconnxr": "cycles",
    "of them SRAM": "fetched",
    "C -O3": "c_o3_cycles",
    "CMSIS-NN -O2": "cmsis_o2_cycles",
    "CMSIS-NN -O3": "cmsis_o3_cycles",
    "instructions a MAC: CMSIS-NN -O2": "cmsis_o2_instructions",
    "its -O3": "cmsis_o3_instructions",
}
_COUNTS = (
    "instructions",
    "c_o2_instructions",
    "c_o3_instructions",
    "c_same_o3_instructions",
)


def _name(row):
    path = Path(row["model"])
    return path.parent.name if path.stem == "model" else path.stem


def _bars(rows):
    """Return a bar chart as SVG: for each model mpconnxr and the C at -O3."""
    shown = [row for row in rows if row.get("c_o3_instructions")]
    most = max(
        row[n] / row["macs"] for row in shown for n in ("instructions", "c_o3_instructions")
    )
    parts, y = [_legend()], 30.0
    for row in shown:
        label = element("text", _name(row), x=_LEFT - 8, y=y + _BAR + 4, text_anchor="end")
        parts += [label, _bar(row, "instructions", y, most, "#2b6cb0")]
        parts.append(_bar(row, "c_o3_instructions", y + _BAR, most, "#a0aec0"))
        y += 2 * _BAR + _GAP
    return element(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        width=_LEFT + _WIDTH + 70,
        height=y,
        font_family="sans-serif",
        font_size=12,
        fill="#4a5568",
    )


def _bar(row, name, y, most, colour):
    ratio = row[name] / row["macs"]
    width = _WIDTH * ratio / most
    rect = element("rect", x=_LEFT, y=y, width=width, height=_BAR - 2, fill=colour)
    return rect + element("text", f"{ratio:.1f}", x=_LEFT + width + 6, y=y + _BAR - 3)


def _legend():
    parts = []
    for x, colour, text in (
        (_LEFT, "#2b6cb0", "mpconnxr"),
        (_LEFT + 110, "#a0aec0", "C, gcc -O3"),
    ):
        parts.append(element("rect", x=x, y=6.0, width=12, height=12, fill=colour))
        parts.append(element("text", text, x=x + 18, y=16.0))
    return element("g", *parts)
