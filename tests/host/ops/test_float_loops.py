"""Arithmetic on the bits of float32 gives numpy's bits in each form, for any bits."""

import numpy as np
import pytest

from tests.host.device import small
from tools.micropython import UNIX_TARGETS

N = 30_000
NAN = 0x7FC00000
SPECIAL = [0, 1, 2, 0x7FFFFF, 0x800000, 0x800001, 0xFFFFFF, 0x1000000, 0x3F7FFFFF, 0x3F800000]
SPECIAL += [0x3F800001, 0x7F7FFFFF, 0x7F7FFFFE, 0x7F000000, 0x7F800000, 0x7F800001, 0x7FC00000]

SCRIPT = """
from array import array
from binascii import hexlify
from mpconnxr import forms
floats, w = [array("f", open(name, "rb").read()) for name in ("x", "w")]
words = array("i", open("x", "rb").read())
n = len(w)
for family, name, flag in FLAGS:
    for form in forms.available(family):
        out = array("B" if name == "compare8" else "f", [0] * n)
        p = array("i", [0, 0, 1, 0, 0, 1, 0, 1, n, flag])
        if name in ("sqrt32", "whole32"):
            p = array("i", [0, n, flag])
        if name == "whole32":
            x, out = words, array("i", [0] * n)
        else:
            x = floats
        getattr(forms.get(family, form), name)(x, w, out, p)
        print(family, name, flag, form, str(hexlify(out), "ascii"))
"""


def pairs():
    """Return two arrays of floats: any bits, near exponents, near numbers, special ones."""
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 1 << 32, (2, N), np.uint32)
    kind = rng.integers(0, 5, N)
    near = (a & 0x7F800000) + rng.integers(-30, 31, N) * (1 << 23)
    b = np.where(kind == 1, (near & 0x7F800000) | (b & 0x807FFFFF), b)
    b = np.where(kind == 2, a + rng.integers(-40, 40, N), b)
    b = np.where(kind == 3, (a + rng.integers(-40, 40, N)) ^ (1 << 31), b)
    a = np.where(kind == 4, a & 0x81FFFFFF, a)  # small and denormal
    whole = np.array(SPECIAL, np.uint32)
    signed = np.concatenate([whole, whole | 1 << 31])
    a = np.concatenate([a, np.repeat(signed, len(signed))])
    b = np.concatenate([b & 0xFFFFFFFF, np.tile(signed, len(signed))])
    return a.astype(np.uint32).view(np.float32), b.astype(np.uint32).view(np.float32)


def expected(a, b):
    """Return {(family, name, flag): array}."""
    result = {
        ("add", "add32", 0): a + b,
        ("add", "add32", 1): a - b,
        ("mul", "mul32", 0): a * b,
        ("mul", "mul32", 1): np.where((a >= 0) | np.isnan(a), a, a * b),
        ("div", "div32", 0): a / b,
        ("root", "sqrt32", 0): np.sqrt(a),
    }
    whole = [np.abs(a), -a, np.sign(a), np.floor(a), np.ceil(a), np.rint(a)]
    result |= {("whole", "whole32", i): rounded for i, rounded in enumerate(whole)}
    nan = np.isnan(a) | np.isnan(b)
    for flag, first in ((0, a > b), (1, a < b)):
        chosen = np.where(first, a, b)
        result["order", "larger32", flag] = np.where(nan, np.float32(np.nan), chosen)
    for flag in range(8):
        true = [a < b, a == b, a > b]
        bits = [t & (flag >> i & 1) for i, t in enumerate(true)]
        result["order", "compare8", flag] = np.any(bits, 0).astype(np.uint8)
    return result


def words(values):
    """Return the bits; for any NaN, those that the loops write."""
    if values.dtype == np.uint8:
        return values
    return np.where(np.isnan(values), np.uint32(NAN), values.view(np.uint32))


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_arithmetic_gives_the_bits_of_numpy(target):
    a, b = pairs()
    with np.errstate(all="ignore"):
        rows = expected(a, b)
    script = SCRIPT.replace("FLAGS", repr(list(rows)))
    printed = small.run(target, script, {"x": a.tobytes(), "w": b.tobytes()}).splitlines()
    assert len(printed) == (2 if target.viper else 1) * len(rows)
    for line in printed:
        family, name, flag, form, data = line.split()
        right = words(rows[family, name, int(flag)])
        got = np.frombuffer(bytes.fromhex(data), right.dtype)
        bad = np.flatnonzero(got != right)[:3]
        shown = [(hex(v) for v in (*t.view(np.uint32)[bad],)) for t in (a, b)]
        assert not len(bad), (line[:40], [list(s) for s in shown], got[bad], right[bad])
