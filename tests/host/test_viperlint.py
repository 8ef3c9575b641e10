"""Viper code that MicroPython compiles wrongly is refused, and mpconnxr has none."""

import subprocess
import sys

import pytest

from tools import package
from tools.viperlint import problems

XTENSA = pytest.mark.parametrize("target", ["sim-de212", "sim-lx106"], indirect=True)
FUNCTION = """
from micropython import const
_THIRD = const(3)
_FAR = const(_THIRD << 29)

@micropython.viper
def loop(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    i = p[3] + _THIRD
    while i < -5 or i > 0x3FFFFFFF:
        {line}
        i += 1
"""
REFUSED = {
    "i = -x[i]": "-x[i] changes x[i] itself: write 0 - x[i]",
    "i = 3 * ~i": "~i is wrong on Xtensa: write i ^ -1",
    "out[3] = i": "out[3] = ... stores at a constant index: use a variable",
    "out[2 * 2 - 3] += i": "out[2 * 2 - 3] = ... stores at a constant index: use a variable",
    "out[_THIRD] = i": "out[_THIRD] = ... stores at a constant index: use a variable",
    "i = min(i, 7)": "min(i, 7) is not viper: write an if",
    "i &= 0x40000000": "the constant 0x40000000 is not a small integer",
    "i &= (1 << 31) - 1": "the constant 0x7fffffff is not a small integer",
    "i &= _FAR": "the constant 0x60000000 is not a small integer",
}
FINE = [
    "i = 0 - i",
    "i ^= -1",
    "out[i] = p[3]",
    "out[0] = i",
    "i = x[_THIRD]",
    "i &= 1 << 29",
    "i = (1 << i) - 1",
]

SHIFTED = """
@micropython.viper
def loop({arguments}):
    {first}
    {line}
"""


@pytest.mark.parametrize(
    ("arguments", "first", "line", "name"),
    [
        ("p: ptr16, i: int", "x = 0", "x = p[i]", "i"),
        ("a: ptr8, b: ptr8, i: int, p: ptr32", "x = 0", "p[i] = x", "i"),
        ("p: ptr32", "i = 0", "p[i] += 1", "i"),
        ("p: ptr32", "for i in range(3):", "    p[i] = i", "i"),
        ("a: ptr8, i: int", "p = ptr16(a)", "x = p[i]", "i"),
    ],
)
def test_register_indices_that_1_26_multiplies_are_refused(arguments, first, line, name):
    result = problems(SHIFTED.format(arguments=arguments, first=first, line=line))
    assert result == [(5, f"p[{name}] changes {name} itself: write p[{name} + 0]")]


@pytest.mark.parametrize(
    ("arguments", "first", "line"),
    [
        ("a: ptr8, b: ptr8, c: ptr8, i: int, p: ptr32", "x = 0", "x = p[i]"),
        ("p: ptr16, i: int", "x = 0", "x = p[i + 0]"),
        ("p: ptr8, i: int", "x = 0", "x = p[i]"),
        ("p: ptr16, n: int", "x = n + 1; i = x", "x = p[i]"),
        ("p: ptr16, n: int", "x = FAR; i = x", "x = p[2]"),
    ],
)
def test_other_indices_are_accepted(arguments, first, line):
    assert not problems(SHIFTED.format(arguments=arguments, first=first, line=line))


LOADS_ALL = """
import os
folders = [""] + [name for name in os.listdir("mpconnxr/loops") if not name.endswith(".py")]
for folder in folders:
    for name in sorted(os.listdir("mpconnxr/loops/" + folder)):
        if name.endswith(".py"):
            try:
                __import__("mpconnxr.loops." + folder + "." * bool(folder) + name[:-3])
            except (SyntaxError, ImportError):  # assembler for other cores
                pass
"""


@pytest.mark.parametrize("line", REFUSED)
def test_miscompiled_code_is_refused(line):
    assert problems(FUNCTION.format(line=line)) == [(10, REFUSED[line])]


@pytest.mark.parametrize("line", FINE)
def test_well_compiled_code_is_accepted(line):
    assert problems(FUNCTION.format(line=line)) == []


def test_python_code_is_accepted():
    assert problems("def f(x):\n    x[3] = -x[0]\n    return ~max(x)") == []


def test_the_command_line_names_the_line(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text(FUNCTION.format(line="i = ~i"))
    command = [sys.executable, "-m", "tools.viperlint"]
    completed = subprocess.run([*command, bad], capture_output=True, text=True)
    assert (completed.returncode, completed.stdout) == (1, f"{bad}:10: {REFUSED['i = 3 * ~i']}\n")
    completed = subprocess.run(command, capture_output=True, text=True)
    assert completed.returncode == 0 and completed.stdout.endswith("files are fine\n")


@pytest.mark.slow
@XTENSA
def test_no_branch_is_too_far(target):
    """MicroPython 1.25 only prints that the end of a loop or an if is too far away (2 KB)."""
    completed = target.run(LOADS_ALL, files={"mpconnxr": package.folder()}, timeout=300)
    assert (completed.stdout, completed.stderr, completed.returncode) == ("", "", 0)


@XTENSA
def test_a_branch_too_far_is_found(target):
    lines = ["        n += p[n] * 3 + n * 5" for _ in range(120)]
    source = ["@micropython.viper", "def f(p: ptr32, n: int):", "    while n < 3:", *lines]
    completed = target.run("\n".join(source))
    assert "out of range" in completed.stdout
