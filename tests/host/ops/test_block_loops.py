"""Each form of the loops of block floating point gives the bits of exact arithmetic."""

import json

import numpy as np
import pytest

from tests.host.ops import block_reference
from tools import package
from tools.converter.ops._block import mantissas
from tools.micropython import target_names

PACKAGE = package.folder()
LIMITS = (-2.5e37, np.inf)  # some results are cut

# One row of x, M rows of weights, through every pair of forms; prints the results' bits by pair.
SCRIPT = """
import json
from array import array
from mpconnxr import forms
x = array("i", open("x", "rb").read())
w = array("i", open("w", "rb").read())
exponents = open("exponents", "rb").read()
bias = array("i", open("bias", "rb").read())
low, high = json.loads(open("limits").read())
cases = json.loads(open("cases").read())
for form in forms.available("block_dot"):
    for common in forms.available("block"):
        dots = forms.get("block_dot", form).dots
        loops = forms.get("block", common)
        finish = forms.get("block_finish", common).finish
        results = []
        for x_first, k, w_first, first, m in cases:
            sums = 4 + 4 * m
            row = sums + 3 * (m + 1)
            s, out = array("i", [0] * (row + k)), array("i", [-1] * (2 * m))
            loops.peak(x, x, s, array("i", [x_first, k, 0]))
            e = s[0] or 1
            b = 1 << 29
            p = [x_first, 1, 1, 1, k, 1, 1, 1, 1, b, b, b, 1, 1, 1, 0, k, 1, k, row, e]
            loops.mantissas(x, x, s, array("i", p))
            loops.align(bias, exponents, s, array("i", [first, 1, first, 1, m, 4, e]))
            dots(s, w, s, array("i", [row, 1, k, k, w_first, m, sums]))
            p = [sums, 1, m, 4, 0, 0, 2, 0, 1, 0] + low + high + [0]
            finish(s, s, out, array("i", p))
            results.append(list(out))
        print(json.dumps([form, common, results]))
"""
# The emulator of a whole Pico takes minutes: mps2-an385-v6m has the same forms.
TARGETS = [name for name in target_names() if name not in ("cpython", "rp2040")]
CORTEX_M = ["armv7m", "thumb", "viper", "plain"]
FORMS = {
    "unix": ["viper64", "plain"],
    "unix-guard": ["viper64", "plain"],
    "unix-asan": ["viper64", "plain"],
    "unix-plain": ["plain"],
    "mps2-an385": CORTEX_M,
    "mps2-an385-v6m": CORTEX_M[1:],
    "mps2-an386": CORTEX_M,
    "mps2-an505": CORTEX_M,
    "virt-rv32": ["rv32", "viper", "plain"],
    "sim-de212": ["xtensawin", "viper", "plain"],
    "webassembly": ["plain"],
}


def rows(k, kind, rng):
    """Return k float32s of a kind."""
    values = rng.standard_normal(k) * 2.0 ** rng.integers(-30, 30, k)
    if kind == "equal":
        values = np.full(k, -1.99999988)
    elif kind == "tiny":
        values = values * 1e-41
    elif kind == "huge":
        values = np.clip(values, -0.9, 0.9) * 3.4e38
    elif kind == "zero":
        values = np.zeros(k)
    elif kind == "even":
        values = rng.standard_normal(k)
    return values.astype(np.float32)


def vectors():
    """Return [(x, weights (M, K), bias (M))]."""
    rng = np.random.default_rng(5)
    kinds = ["wide", "equal", "tiny", "huge", "zero", "even"]
    cases = []
    for k in (1, 2, 7, 8, 9, 60, 61, 130):
        for kind in kinds:
            weights = np.stack([rows(k, other, rng) for other in kinds])
            scale = 10.0 ** rng.integers(-40, 38, len(kinds))
            bias = rng.standard_normal(len(kinds)) * scale * rng.integers(0, 2, len(kinds))
            x = rows(k, kind, rng)
            cases.append((x, weights, bias.astype(np.float32)))
    return cases + [large_biases(k, rng) for k in (65, 130, 3000)]


def large_biases(k, rng):
    """Return a case with the largest sums, and biases of which they are some units, down to 0."""
    x = rows(k, "equal", rng)
    shifts = np.repeat(np.arange(51, 67), 2)  # of the biases' lowest bits, in the sums' units
    weights = np.stack([x * sign for sign in np.tile([1, -1], len(shifts) // 2)])
    bias = np.ldexp(1 + rng.integers(0, 3, len(shifts)) / 2.0**23, shifts + 23 + 254 - 298)
    return x, weights, (bias * rng.choice([-1, 1], len(shifts))).astype(np.float32)


def expected(case):
    x, weights, bias = case
    with np.errstate(over="ignore"):
        results = [
            block_reference.product(x, row, b) for row, b in zip(weights, bias, strict=True)
        ]
    return np.clip(np.array(results, np.float32), *map(np.float32, LIMITS))


def sign_and_magnitude(value):
    bits = int(np.float32(value).view(np.uint32))
    return [bits >> 31, bits & 0x7FFFFFFF]


def packed(cases):
    """Return the cases as files, with the offsets at which each begins."""
    places = []
    files = dict.fromkeys(("x", "w", "exponents", "bias"), b"")
    for x, weights, bias in cases:
        first = len(files["exponents"])
        places.append([len(files["x"]) // 4, len(x), len(files["w"]) // 4, first, len(bias)])
        for name, values in zip(files, (x, *mantissas(weights), bias), strict=True):
            files[name] += values.tobytes()
    files["cases"] = json.dumps(places).encode()
    return {**files, "limits": json.dumps(list(map(sign_and_magnitude, LIMITS))).encode()}


@pytest.fixture(scope="module")
def cases():
    """Return [(inputs, expected)]."""
    return [(case, expected(case)) for case in vectors()]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_all_forms_are_exact(target, cases):
    files = {"mpconnxr": PACKAGE, **packed([case for case, _ in cases])}
    completed = target.run(SCRIPT, files=files, timeout=120)
    assert completed.returncode == 0, completed.stderr
    results = [json.loads(line) for line in completed.stdout.splitlines()]
    assert list(dict.fromkeys(form for form, _, _ in results)) == FORMS.get(
        target.name, ["viper", "plain"]
    )
    for form, common, got in results:
        for (case, expected), bits in zip(cases, got, strict=True):
            values = np.array(bits[::2], np.int32).view(np.float32)
            assert np.array_equal(values, expected), (form, common, case)
            assert bits[1::2] == [-1] * len(expected)


# Instructions that QEMU has counted: differences of ticks() / 1.6.
CLOCK = """
import micropython
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
"""
# Steady-state instructions a multiply-accumulate.
COUNT = f"""
from array import array
from mpconnxr import forms
K, ROWS, M = 200, 2, 16
words = [i * 7919 & 0xFFFFFF for i in range(K * M)]
x = w = array("i", words)
out, p = array("i", [0] * (3 * (M + 1) * ROWS)), array("i", [0, ROWS, K, K, 0, M, 0])
{CLOCK}
start()
for form in forms.available("block_dot"):
    dots = forms.get("block_dot", form).dots
    dots(x, w, out, p)
    t = ticks() & 0xFFFFFFFF
    dots(x, w, out, p)
    t = (t - (ticks() & 0xFFFFFFFF)) & 0xFFFFFFFF
    print(form, t / 1.6 / (K * M * ROWS))
"""


def test_assembler_beats_viper_beats_plain(ready_target):
    completed = ready_target("mps2-an385").run(COUNT, files={"mpconnxr": PACKAGE}, icount=True)
    assert completed.returncode == 0, completed.stderr
    counts = {
        form: float(n) for form, n in (line.split() for line in completed.stdout.splitlines())
    }
    assert counts["armv7m"] < 3 and counts["thumb"] < 15
    assert counts["viper"] < 66
    assert counts["plain"] > 100
