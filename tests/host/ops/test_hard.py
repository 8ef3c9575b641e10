"""HardSigmoid and HardSwish on the bits of float32: exact, equal in all forms, and quick."""

import json
from fractions import Fraction

import numpy as np
import onnx
import pytest

from tests.host.ops.single_node import INF, NAN, model_of
from tools import package
from tools.bench.__main__ import main
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

# Within 2**-23 of what is summed, as the sum in float32 is.
RELATIVE, ABSOLUTE = 3e-7, 4e-7
SLOPES = [(1 / 6, 0.5), (0.2, 0.5), (0.25, 0.5), (0.5, 0.75), (0.3, 0.5), (8.5, 0.01), (1e-5, 0.9)]
SPECIAL = [0.0, -0.0, 3.0, -3.0, 2.5, -2.5, 1e30, -1e30, INF, -INF, 1e-40, -1e-40, 1.5e-45, 2e-38]


def inputs():
    rng = np.random.default_rng(4)
    far = 10.0 ** rng.uniform(-45, 38, 300) * rng.choice([-1, 1], 300)
    near = [np.nextafter(np.float32(c), np.float32(to)) for c in (-3, 3, -2.5) for to in (-9, 9)]
    return np.concatenate([rng.normal(0, 3, 1500), far, near, SPECIAL]).astype(np.float32)


def cases(x):
    """Yield (operator, attributes, exact results)."""
    wide = x.astype(np.float64)
    for slope, offset in SLOPES:
        attributes = {"alpha": slope, "beta": offset}
        exact = np.clip(wide * np.float32(slope) + np.float32(offset), 0, 1)
        yield "HardSigmoid", attributes, exact
    with np.errstate(invalid="ignore"):
        yield "HardSwish", {}, np.where(x < -3, 0, wide * np.clip(wide / 6 + 0.5, 0, 1))


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_results_are_as_exact_as_float32(target):
    x = inputs()
    raw = np.append(x, np.float32(NAN))
    results = list(cases(x))
    models = [
        convert(model_of(op, [raw], **attributes), Options()) for op, attributes, _ in results
    ]
    assert all([s.kernel for s in m.graph.steps] == ["hard"] for m in models)
    outcomes = run_jobs(target, [Job(m.data, [[raw.tobytes()]]) for m in models])
    for (op, attributes, exact), outcome in zip(results, outcomes, strict=True):
        assert not outcome.error, outcome.message
        got = np.frombuffer(outcome.runs[0].outputs[0], np.float32)
        np.testing.assert_allclose(got[:-1], exact, RELATIVE, ABSOLUTE, err_msg=str(attributes))
        assert got[-1:].view(np.uint32) == 0x7FC00000
        if op == "HardSwish":
            tiny = np.abs(x) < 1e-30
            halves = np.float32(x[tiny].astype(np.float64) / 2)
            assert np.abs(halves.view(np.int32) - got[:-1][tiny].view(np.int32)).max() <= 1


FORMS_SCRIPT = """
import binascii
from array import array
from mpconnxr import forms, tensor
bits = open("bits", "rb").read()
n = len(bits) // 4
x = tensor.view(bytearray(bits), 0, "i", n)
for form in forms.available("hard"):
    for p in ((715827883, 129, 1 << 29, 1), (715827883, 129, 1 << 29, 0), (1 << 29, 0, 5, 1),
              (1 << 30, 254, (1 << 30) - 1, 1), ((1 << 30) - 1, 121, 77777777, 0)):
        out = array("i", [77] * n)
        forms.get("hard", form).hard32(x, x, out, array("i", (1, n - 1) + p))
        print(form, *(p + (binascii.hexlify(out).decode(),)))
"""


def result(bits, slope, reach, offset, times):
    """Return the bits of one result, computed by integers of any size."""
    sign, e, m = bits >> 31, bits >> 23 & 255, bits & 0x7FFFFF
    if e == 255 and m:
        return 0x7FC00000
    e, m = (e, m | 1 << 23) if e else (1, m)
    t = 0 if sign else 1 << 30
    if e <= reach:
        part = (m * slope >> 24 << 1) >> reach - e
        t = min(max(offset + (-part if sign else part), 0), 1 << 30)
    q, e, sign = (m * t >> 24, e, sign) if times else (t, 126, 0)
    value = Fraction(q) * Fraction(2) ** (e - 156)
    return sign << 31 | _nearest(value)


def _nearest(value):
    """Return the bits of the float32 nearest to a positive number, ties upwards."""
    if value == 0:
        return 0
    exponent = max(len(bin(value.numerator)) - len(bin(value.denominator)), -126)
    while value < Fraction(2) ** exponent and exponent > -126:
        exponent -= 1
    while value >= Fraction(2) ** (exponent + 1):
        exponent += 1
    units = value / Fraction(2) ** (exponent - 23) + Fraction(1, 2)
    return units.numerator // units.denominator + (exponent + 126 << 23)


@pytest.mark.parametrize("name", ["unix", "unix32", "mps2-an385", "mps2-an386", "virt-rv32"])
def test_all_forms_give_the_same_bits(ready_target, name):
    x = np.concatenate([[9], inputs()[::7], [NAN], SPECIAL, [9]]).astype(np.float32)
    files = {"mpconnxr": package.folder(), "bits": x.tobytes()}
    completed = ready_target(name).run(FORMS_SCRIPT, files=files)
    assert completed.returncode == 0 and not completed.stderr, completed.stderr
    lines = completed.stdout.splitlines()
    forms = {line.split()[0] for line in lines}
    assert "plain" in forms and (not name.startswith("mps2") or {"armv7m", "thumb"} <= forms)
    for line in lines:
        form, *p, text = line.split()
        got = np.frombuffer(bytes.fromhex(text), np.uint32)
        expected = [result(int(v), *map(int, p)) for v in x[1:-1].view(np.uint32)]
        assert got[0] == got[-1] == 77
        np.testing.assert_array_equal(got[1:-1], np.array(expected, np.uint32), str((form, *p)))


@pytest.mark.parametrize(("target", "most"), [("mps2-an385", 60), ("mps2-an385-v6m", 130)])
@pytest.mark.parametrize("op", ["HardSigmoid", "HardSwish"])
def test_instructions_for_each_element_are_bounded(
    ready_target, tmp_path, capsys, target, most, op
):
    """With polynomials there were 466."""
    ready_target(target)
    x = np.zeros(4096, np.float32)
    onnx.save(model_of(op, [x]), tmp_path / "m.onnx")
    path = str(tmp_path / "m.onnx")
    assert main([path, "--no-c", "--strip", "--target", target, "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["instructions"] <= most * x.size and row["heap_growth_bytes"] == 0
