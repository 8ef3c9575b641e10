"""Dot products of bytes: every form that a target has gives the exact integers."""

import json
from pathlib import Path

import numpy as np
import pytest

from tools.micropython import target_names

PACKAGE = Path(__file__).parents[3] / "mpconnxr"

# Runs every form over rows at odd addresses and lengths; prints the sums by form.
SCRIPT = """
import json
from array import array
from mpconnxr import forms
x = open("x", "rb").read()
w = open("w", "rb").read()
for form in forms.available("loops_dot_u8"):
    loops = forms.get("loops_dot_u8", form)
    results = []
    for x_first, k, w_first, m in json.loads(open("cases").read()):
        out = array("i", [-1] * (2 * m + 3))
        loops.dots_u8(x, w, out, array("i", [x_first, k, 1, 2, w_first, m]))
        total = array("i", [-1, -1])
        loops.sum_u8(x, x, total, array("i", [x_first, k, 1]))
        results.append([list(out), list(total)])
    print(json.dumps([form, results]))
"""
FORMS = {
    "unix": ["viper", "plain"],
    "unix32": ["viper", "plain"],
    "unix-plain": ["plain"],
    "mps2-an385": ["thumb", "viper", "plain"],
}


def vectors():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 256, 300, np.uint8)
    w = rng.integers(0, 256, 3000, np.uint8)
    x[:40], w[:600] = 255, 255
    lengths = [0, 1, 7, 8, 9, 15, 16, 17, 31, 64, 100]
    cases = [
        [int(rng.integers(0, 100)), k, int(rng.integers(0, 100)), m]
        for k in lengths
        for m in (1, 2, 5)
    ]
    return x, w, cases


def expected(x, w, case):
    x_first, k, w_first, m = case
    row = x[x_first : x_first + k].astype(np.int64)
    out = [-1] * (2 * m + 3)
    for i in range(m):
        out[1 + 2 * i] = int(row @ w[w_first + i * k :][:k].astype(np.int64))
    return [out, [-1, int(row.sum())]]


@pytest.mark.parametrize("target", target_names(), indirect=True)
def test_all_forms_are_exact(target):
    x, w, cases = vectors()
    files = {"mpconnxr": PACKAGE, "x": x.tobytes(), "w": w.tobytes()}
    done = target.run(SCRIPT, files={**files, "cases": json.dumps(cases).encode()})
    assert done.returncode == 0, done.stderr
    results = dict(json.loads(line) for line in done.stdout.splitlines())
    assert list(results) == FORMS[target.name]
    for form, got in results.items():
        for case, values in zip(cases, got, strict=True):
            assert values == expected(x, w, case), (form, case)


# Steady-state instructions a multiply-accumulate, from QEMU's counted instructions.
COUNT = """
from array import array
from mpconnxr import forms
K, M = 1024, 16
x, w, out = bytearray(K), bytearray(K * M), array("i", [0] * M)
p = array("i", [0, K, 0, 1, 0, M])
@micropython.viper
def start():
    timer = ptr32(0x40000000)  # CMSDK timer 0, 25 MHz: 1.6 ticks an instruction at shift=6
    i = 0
    timer[i] = 0
    timer[i + 1] = -1
    timer[i + 2] = -1
    timer[i] = 1
@micropython.viper
def ticks() -> int:
    timer = ptr32(0x40000000)
    return int(timer[1])
start()
for form in forms.available("loops_dot_u8"):
    dots = forms.get("loops_dot_u8", form).dots_u8
    dots(x, w, out, p)
    t = ticks() & 0xFFFFFFFF
    dots(x, w, out, p)
    t = (t - (ticks() & 0xFFFFFFFF)) & 0xFFFFFFFF
    print(form, t / 1.6 / (K * M))
"""


def test_assembler_beats_viper_beats_plain(ready_target):
    done = ready_target("mps2-an385").run(COUNT, files={"mpconnxr": PACKAGE}, icount=True)
    assert done.returncode == 0, done.stderr
    counts = {form: float(n) for form, n in (line.split() for line in done.stdout.splitlines())}
    assert counts["thumb"] < 5
    assert counts["viper"] < 16
    assert counts["plain"] > 100
