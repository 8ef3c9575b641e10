"""Dot products of bytes with requantization have the same bits in every form of a target."""

import json
from fractions import Fraction

import numpy as np
import pytest

from tests.host.ops.test_block_loops import CLOCK
from tools import package
from tools.converter.ops._qweights import pack, padded
from tools.converter.ops._requantize import Sums, channel_multipliers

PACKAGE = package.folder()
BIAS = 1 << 29
FORMS = {
    "unix": ["viper", "plain"],
    "unix32": ["viper", "plain"],
    "unix-plain": ["plain"],
    "mps2-an385": ["armv7m", "thumb", "viper", "plain"],
    "mps2-an385-v6m": ["thumb", "viper", "plain"],
    "mps2-an386": ["armv7em", "armv7m", "thumb", "viper", "plain"],
    "mps2-an505": ["armv7em", "armv7m", "thumb", "viper", "plain"],
    "virt-rv32": ["rv32", "viper", "plain"],
}

# Runs each case in every form; prints the outputs by form.
SCRIPT = """
import json
from array import array
from mpconnxr import forms
cases = json.loads(open("cases").read())
for form in forms.available("qdot"):
    loops = forms.get("qdot", form)
    words = forms.get("qdot32", form if form in ("viper", "plain") else None)
    print(json.dumps(form))
    for i, (nbytes, p, q) in enumerate(cases):
        x, w = open(f"x{i}", "rb").read(), open(f"w{i}", "rb").read()
        out8, out32 = bytearray(nbytes), array("i", [0] * nbytes)
        (loops.qdots8_many if p[14] and i % 2 else loops.qdots8)(x, w, out8, array("i", p))
        words.qdots32(x, w, out32, array("i", q))
        print(json.dumps([list(out8), list(out32)]))
"""


class Case:
    """Random or extreme bytes.

    Attributes:
        scales: 2**-40 to 2**9.
        has_sums: a sum precedes the elements of each position, as in patches; else rows of
            elements.
    """

    def __init__(self, rng, k, m, positions, extreme=False, has_sums=True):
        self.has_sums = has_sums
        low = 255 if extreme else 0
        self.x = rng.integers(low, 256, (positions, k), np.uint8)
        self.w = rng.integers(low, 256, (m, k), np.uint8)
        if extreme and m > 1:
            self.w[::2] = 0
        self.zw, self.zx = (int(v) for v in rng.choice([0, 1, 127, 128, 255], 2))
        self.c = rng.integers(-(1 << 24), 1 << 24, m)
        reach = np.full(m, (1 << 24) + k * 65025)
        self.scales = np.exp2(rng.uniform(-40 if extreme else -14, 9 if extreme else -2, m))
        self.zy, self.limits = int(rng.integers(-128, 128)), (-128, 127)
        if k % 2:
            self.limits = -100, 90
        self.strides = (m + 1, 1) if k % 3 else (1, positions + 2)  # of position and channel
        self.first = int(rng.integers(5))
        self.exact = [Fraction(float(s)) for s in self.scales]
        sums = Sums(self.c, -reach, reach)
        self.channels = channel_multipliers(self.exact, sums, -255, 255)
        self.words = self.channels.mantissas

    def shape(self):
        return len(self.x), len(self.w)

    def nbytes(self):
        n, m = self.shape()
        return self.first + (n - 1) * self.strides[0] + (m - 1) * self.strides[1] + 1

    def files(self, i):
        n, k = self.x.shape
        records = np.zeros((n, 4 + padded(k)), np.uint8)
        records[:, :4] = self.x.sum(1, dtype="<i4").view(np.uint8).reshape(n, 4)
        records[:, 4 : 4 + k] = self.x
        x = records if self.has_sums else records[:, 4:]
        return {
            f"x{i}": x.tobytes(),
            f"w{i}": pack(self.w, 1, self.channels.first_words, self.words).tobytes(),
        }

    def params(self):
        n, m = self.shape()
        kp = padded(self.x.shape[1])
        p = [8 * m, 0, kp, n, m, self.first, *self.strides, self.zw]
        limits = [v + BIAS for v in (self.zy, *self.limits)]
        of_x = [4, 4 + kp, 1] if self.has_sums else [0, kp, 0]
        return [self.nbytes(), [*p, *limits, *of_x, 0, 0], [*p, self.zx, 0, 0, *of_x]]

    def _sums(self, c):
        x, w = self.x.astype(np.int64), self.w.astype(np.int64)
        return x @ (w - self.zw).T + c

    def expected(self):
        """Return both outputs: the real result if the scale is not tiny; int32 sums of words."""
        sums = self._sums(self.c)
        q = np.array([[self._real(m, v) for m, v in enumerate(row)] for row in sums.tolist()])
        wide = self._sums(self.channels.first_words) + self.zx * self.words
        wide = (wide + (1 << 31)) % (1 << 32) - (1 << 31)
        return [self._placed(v) for v in (np.clip(q + self.zy, *self.limits) & 255, wide)]

    def _real(self, m, total):
        """Return the result rounded to even; a scale below 2**-17 as loops/qdot defines it."""
        f, mantissa = int(self.channels.shifts[m]), int(self.words[m])
        if f > 25:
            a = (total - int(self.c[m]) >> f - 25) + int(self.channels.constants[m])
            return round(Fraction(min(max(a, -(1 << 25)), 1 << 25) * mantissa, 1 << 47))
        return round(total * self.exact[m])

    def _placed(self, values):
        out = np.zeros(self.nbytes(), np.int64)
        n, m = self.shape()
        at = np.arange(n)[:, None] * self.strides[0] + np.arange(m) * self.strides[1]
        out[self.first + at] = values
        return out.tolist()


def cases():
    rng = np.random.default_rng(5)
    sizes = [(1, 1, 1), (4, 4, 1), (3, 5, 2), (8, 3, 3), (9, 8, 2), (27, 6, 3), (64, 7, 1)]
    kinds = [(extreme, has_sums) for extreme in (False, True) for has_sums in (False, True)]
    results = [Case(rng, *size, *kind) for size in sizes for kind in kinds]
    return [*results, Case(rng, 700, 4, 1, True)]


@pytest.mark.parametrize("target", FORMS, indirect=True)
def test_all_forms_give_the_same_bits(target):
    tried = cases()
    files = {"mpconnxr": PACKAGE, "cases": json.dumps([c.params() for c in tried]).encode()}
    for i, case in enumerate(tried):
        files |= case.files(i)
    completed = target.run(SCRIPT, files=files)
    assert completed.returncode == 0, completed.stderr
    lines = [json.loads(line) for line in completed.stdout.splitlines()]
    by_form = [lines[i : i + len(tried) + 1] for i in range(0, len(lines), len(tried) + 1)]
    assert [form for form, *_ in by_form] == FORMS[target.name]
    for form, *results in by_form:
        for case, got in zip(tried, results, strict=True):
            assert got == case.expected(), (form, case.shape(), case.params())


# Steady-state instructions a multiply-accumulate, from QEMU's counted instructions.
COUNT = f"""
from array import array
from mpconnxr import forms
K, M = 1024, 16
x, w, out = bytearray(4 + K), bytearray(M * (8 + K)), bytearray(M)
p = array("i", [8 * M, 0, K, 1, M, 0, M, 1, 128, 1 << 29, 1 << 29, (1 << 29) + 255, 4]
         + [4 + K, 1, 0])
{CLOCK}
start()
for form in forms.available("qdot"):
    dots = forms.get("qdot", form).qdots8  # of one position
    dots(x, w, out, p)
    t = ticks() & 0xFFFFFFFF
    dots(x, w, out, p)
    t = (t - (ticks() & 0xFFFFFFFF)) & 0xFFFFFFFF
    print(form, t / 1.6 / (K * M))
"""


def test_assembler_beats_viper_beats_plain(ready_target):
    completed = ready_target("mps2-an385").run(COUNT, files={"mpconnxr": PACKAGE}, icount=True)
    assert completed.returncode == 0, completed.stderr
    counts = {
        form: float(n) for form, n in (line.split() for line in completed.stdout.splitlines())
    }
    assert counts["armv7m"] < 2.8
    assert counts["thumb"] < 4
    assert counts["viper"] < 11
    assert counts["plain"] > 100
