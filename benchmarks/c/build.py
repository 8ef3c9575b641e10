"""Compile a model's C for a target's core and count its run in the same emulator."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tools.bench import valgrind
from tools.bench.timing import blocks
from tools.bench.timing.cores import CORES, estimate
from tools.micropython import TargetError, get_target, xtensa
from tools.micropython.process import compile_c
from tools.micropython.qemu import ICOUNT
from tools.micropython.source import source_tree

SOURCES = Path(__file__).parent
_TIMEOUT = 600.0  # seconds
_LINKED = ("-nostartfiles", "-T", "{ld}")
_CORES = {
    "mps2-an385": ("-mcpu=cortex-m3", "-mfloat-abi=soft"),
    "mps2-an385-v6m": ("-mcpu=cortex-m0", "-mfloat-abi=soft"),
    "mps2-an386": ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    "mps2-an505": ("-mcpu=cortex-m33", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard"),
}
# An ESP32-C3's core. QEMU's board also has atomic instructions.
_RISCV = ("--specs=picolibc.specs", "-march=rv32imac", "-mabi=ilp32", "-misa-spec=2.2")
_RISCV += ("-mcmodel=medany", "-mno-relax")
_COMPILERS = {
    name: ("arm-none-eabi-gcc", "-mthumb", "--specs=nosys.specs", *core)
    for name, core in _CORES.items()
} | {"virt-rv32": ("riscv64-unknown-elf-gcc", *_RISCV)}
TARGETS = (*_COMPILERS, "sim-de212", "unix")
_SIM_TICKS = 64 / 25  # of the cycle counter of QEMU's Xtensa machine, per instruction
_LIBM = ("math.c", "sf_ldexp.c")  # of MicroPython's lib/libm


def same_products(target: str) -> tuple[str, ...]:
    """Return the kinds of products that mpconnxr computes with integers on a target.

    Floats are among them unless the core has an FPU.
    """
    has_fpu = any(word.startswith("-mfpu") for word in _CORES.get(target, ()))
    return ("int8",) if has_fpu else ("int8", "float")


@dataclass(frozen=True)
class CCount:
    """Counts of one run of the C.

    Attributes:
        instructions: exact.
        output: bytes of the output.
        cycles: estimate; None if the core is not an ARM.
    """

    instructions: int
    output: bytes
    cycles: float | None = None


def compiler_of(target: str) -> tuple[str, ...]:
    """Return the compiler for a target's core, with its options."""
    return _xtensa() if target == "sim-de212" else _COMPILERS[target]


def _xtensa():
    """Return the compiler for an ESP32's ABI, without its FPU."""
    known = f"XTENSA_GNU_CONFIG={xtensa.describe('de212')}"
    options = ("-mabi=windowed", "-mlongcalls", "-mtext-section-literals", "-DHAVE_DIV32")
    return ("env", known, "xtensa-lx106-elf-gcc", *options)


def count(text: str, target: str, level: str, more: Sequence[str] = ()) -> CCount:
    """Compile model.h and count one run.

    Args:
        text: of model.h.
        target: name of a target, one of TARGETS.
        level: -O2 or -O3.
        more: further options and libraries for the compiler.

    Raises:
        TargetError: if it does not compile or run.
    """
    with tempfile.TemporaryDirectory(prefix="mpconnxr-") as name:
        folder = Path(name)
        (folder / "model.h").write_text(text)
        if target == "unix":
            return _on_host(folder, level)
        return _in_qemu(folder, target, level, more)


def timed_on_host(folder: Path, text: str) -> Path:
    """Compile paired.c with this model.h for this computer, at -O3."""
    (folder / "model.h").write_text(text)
    program = folder / "program"
    _compile(["gcc", "-O3", str(SOURCES / "paired.c")], program)
    return program


def _in_qemu(folder, target_name, level, more):
    target = get_target(target_name)
    address, per_instruction = target.counter
    program = folder / "program.elf"
    ld = str(SOURCES / f"{target.machine}.ld")
    linked = [word.format(ld=ld) for word in _LINKED]
    command = [*compiler_of(target_name), *linked, f"-DCOUNTER={address}", level]
    sources = [str(SOURCES / "start.c")]
    if target_name == "sim-de212":
        per_instruction = _SIM_TICKS
        command = [*compiler_of(target_name), level, "-nostdlib", "-Wl,--gc-sections"]
        command += ["-T", str(xtensa.SOURCES / "memory.ld")]
        sources = [str(SOURCES / "start_sim.c"), *_xtensa_library(folder, level)]
    _compile([*command, *sources, *more], program)
    report = folder / "blocks"
    run = [target.system, *ICOUNT, "-machine", target.machine, *target.bios, "-semihosting"]
    run += ["-cpu", target.cpu] if target.cpu else []
    run += ["-display", "none", "-monitor", "none", "-serial", "none", "-kernel", str(program)]
    if target_name in CORES:
        run += ["-plugin", blocks.option(target.system, report)]
    lines = valgrind.output_of(run, _TIMEOUT).stderr.split() or ["", ""]
    if len(lines) != 2:
        raise TargetError(f"{target_name}: the C program failed")
    ticks = int(np.frombuffer(bytes.fromhex(lines[0]), "<u4")[0])
    cycles = None
    if target_name in CORES:
        cycles = estimate(blocks.blocks_in(report), CORES[target_name]).cycles
    return CCount(round(ticks / per_instruction), bytes.fromhex(lines[1]), cycles)


def _xtensa_library(folder, level):
    """Compile the C library's functions that Debian lacks for cores with register windows."""
    tree = source_tree()
    sources = [xtensa.SOURCES / name for name in ("window.S", "integers.c", "floats.c")]
    sources += [tree / "lib" / "libm" / name for name in _LIBM]
    sources.append(tree / "shared" / "libc" / "string0.c")
    names = [f"{path.stem}.o" for path in sources]
    command = ["-fno-builtin", "-ffunction-sections", "-w", "-c", level]
    command.append(f"-I{tree / 'lib' / 'libm'}")
    for name, path in zip(names, sources, strict=True):
        whole = [*compiler_of("sim-de212"), *command, "-o", str(folder / name), str(path)]
        compile_c(whole, path.name)
    return [str(folder / name) for name in names]


def _on_host(folder, level):
    program = folder / "program"
    _compile(["gcc", level, str(SOURCES / "host.c")], program)
    (once, output), (twice, _) = (
        valgrind.counted([str(program), str(n)], _TIMEOUT) for n in (1, 2)
    )
    return CCount(twice - once, bytes.fromhex(output.strip()))


def _compile(command, program):
    includes = [f"-I{SOURCES}", f"-I{program.parent}", f"-L{SOURCES}"]
    libraries = [] if "-nostdlib" in command else ["-lm"]
    compile_c([*command, *includes, "-o", str(program), *libraries], "the C")
