"""The largest possible sums of block floating point are right in each form; what they cost."""

import json

import pytest

from tests.host.ops.test_block_loops import CLOCK, PACKAGE, TARGETS

LENGTHS = (0, 1, 119, 120, 121, 240, 241, 0xFFFF)
PLAIN = 1000  # items, at most, in the plain form on an emulated core
FAMILIES = {"block_dot": [24], "block_narrow": [16, 8, 4]}

# One row of equal items by one of equal weights, in each form; prints the limbs.
SCRIPT = """
import json
from array import array
from mpconnxr import forms
lengths, most_plain, families = json.loads(open("cases").read())
for k in lengths:
    for item in (-(1 << 23), (1 << 23) - 1):
        x = array("i", [item] * (k + 1))
        for family in families:
            for bits in families[family]:
                for weight in (0, (1 << bits) - 1):
                    code = {24: "i", 16: "H"}.get(bits, "B")
                    w = array(code, [weight | weight << 4 if bits == 4 else weight] * (k + 1))
                    for form in forms.available(family):
                        if form == "plain" and k > most_plain:
                            continue
                        out = array("i", [7] * 6)
                        dots = forms.get(family, form).dots
                        dots(x, w, out, array("i", [0, 1, k, k, 0, 1, 0, bits]))
                        print(json.dumps([form, k, item, weight << 24 - bits, list(out)]))
"""


def limbs(total):
    return [total & 0xFFFFFF, total >> 24 & 0xFFFFFF, total >> 48]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_the_largest_sums_do_not_overflow(target):
    cases = json.dumps([LENGTHS, PLAIN, FAMILIES]).encode()
    completed = target.run(SCRIPT, files={"mpconnxr": PACKAGE, "cases": cases}, timeout=120)
    assert completed.returncode == 0, completed.stderr
    printed = [json.loads(line) for line in completed.stdout.splitlines()]
    assert len(printed) >= 16 * (len(LENGTHS) - 1)
    for form, k, element, weight, got in printed:
        expected = limbs(k * element + (1 << 40)) + limbs(k * element * weight + (1 << 63))
        assert got == expected, (form, k, element, weight)


# Steady-state instructions a multiply-accumulate, as test_block_loops counts them.
COUNT = f"""
import gc
from array import array
from mpconnxr import forms
K, ROWS, M = 200, 2, 16
x = array("i", [i * 7919 & 0x7FFFFF for i in range(K * ROWS)])
out, p = array("i", [0] * (3 * (M + 1) * ROWS)), array("i", [0, ROWS, K, K, 0, M, 0, 0])
{CLOCK}
start()
for form in forms.available("block_narrow"):
    for bits, code in ((16, "H"), (8, "B"), (4, "B")):
        w = array(code, [i * 7919 & 255 for i in range(K * M)])
        dots = forms.get("block_narrow", form).dots
        p[7] = bits
        dots(x, w, out, p)
        gc.collect()
        t = ticks() & 0xFFFFFFFF
        dots(x, w, out, p)
        t = (t - (ticks() & 0xFFFFFFFF)) & 0xFFFFFFFF
        print(form, bits, t / 1.6 / (K * M * ROWS))
"""
MOST = {"armv7m": (4.5, 4, 4), "thumb": (11, 10.5, 8), "viper": (40, 30, 26)}


def test_narrow_weights_cost_less_in_assembler(ready_target):
    completed = ready_target("mps2-an385").run(COUNT, files={"mpconnxr": PACKAGE}, icount=True)
    assert completed.returncode == 0, completed.stderr
    rows = [line.split() for line in completed.stdout.splitlines()]
    counts = {(form, int(bits)): float(n) for form, bits, n in rows}
    for form, most in MOST.items():
        for bits, n in zip((16, 8, 4), most, strict=True):
            assert counts[form, bits] < n
