"""The firmware for Xtensa is built with the right tools, and a fault there ends a run."""

import subprocess
from pathlib import Path

import pytest

from tools.micropython import TargetError
from tools.micropython.recipe import BOARDS

ROUNDS = 300_000

MISALIGNED = """
@micropython.viper
def read(p: ptr32) -> int:
    return p[0]

from uctypes import addressof
data = bytearray(9)
print("before")
read(addressof(data) + 1)
"""


def test_arithmetic_helpers_compute_like_the_host(tmp_path):
    source = Path(__file__).with_name("xtensa_helpers.c")
    program = tmp_path / "helpers"
    options = ["-O2", f"-DROUNDS={ROUNDS}", f"-I{BOARDS / 'sim'}"]
    subprocess.run(["gcc", *options, source, "-lm", "-o", program], check=True)
    completed = subprocess.run([program], capture_output=True, text=True)
    assert (completed.stdout, completed.returncode) == ("", 0)


@pytest.mark.parametrize("target", ["sim-de212", "sim-lx106"], indirect=True)
def test_a_fault_ends_the_run(target):
    lines = []
    with pytest.raises(TargetError, match="stopped"):
        target.run(MISALIGNED, on_line=lines.append)
    assert lines[0] == "before" and lines[-1].startswith("fault: exccause 9 ")


@pytest.mark.parametrize("target", ["sim-de212", "sim-lx106"], indirect=True)
def test_exceptions_unwind_deep_calls(target):
    """An exception and returns leave more frames than the core has register windows."""
    script = """
def down(n):
    if n == 0:
        raise ValueError
    try:
        return down(n - 1) + 1
    except ValueError:
        if n % 7:
            raise
        return n

print([down(n) for n in range(1, 60) if n % 7 == 0])
"""
    completed = target.run(script)
    assert (completed.stdout, completed.stderr) == ("[7, 14, 21, 28, 35, 42, 49, 56]\n", "")
