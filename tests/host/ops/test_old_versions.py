"""Operators of old opsets that were wrong or refused once, against onnxruntime at that opset."""

import numpy as np
import onnx
import pytest

from tools.converter.convert import Options, convert
from tools.converter.reference.ort_session import open_session
from tools.harness import Job, run_jobs

BOXES = "float[2, 4] r = {0.0, 0.5, 2.0, 2.5, 1.0, 1.0, 3.0, 3.5}, int64[2] b = {0, 0}"
ALIGN = "output_height = 2, output_width = 1"
# Opset, shape of x, how y follows from it and the constant k, more constants.
CASES = {
    "slopes broadcast": (7, "2 2 2", "y = PRelu (x, s)", "float[2] s = {0.5, -2.0}"),
    "slopes of channels": (7, "2 2 3", "y = PRelu (x, s)", "float[2, 1] s = {0.5, -2.0}"),
    "mask 7": (7, "2 3", "d, m = Dropout (x) y = Sub (d, m)", ""),
    "mask 10": (
        10,
        "2 3",
        "d, m = Dropout (x) n = Not (m) c = Cast <to = 1> (n) y = Sub (d, c)",
        "",
    ),
    "scalar Reciprocal": (13, "", "y = Reciprocal (x)", ""),
    "scalar Softsign": (13, "", "y = Softsign (x)", ""),
    "scalar ThresholdedRelu": (13, "", "y = ThresholdedRelu <alpha = 0.1> (x)", ""),
    "scalar IsInf": (13, "", "i = IsInf (x) y = Cast <to = 1> (i)", ""),
    "default axes": (13, "2 3 2 2", "y = MeanVarianceNormalization (x)", ""),
    "reduction of bool": (
        18,
        "3",
        """g = Greater (x, z) s = ScatterElements <reduction = "add"> (g, i, t)
        y = Cast <to = 1> (s)""",
        "float z = {0.0}, int64[3] i = {0, 2, 2}, bool[3] t = {1, 1, 1}",
    ),
    "constant LRN": (13, "1", "c = LRN <size = 3, alpha = 0.5> (k) y = Mul (c, x)", ""),
    "constant norm": (13, "1", "c = LpNormalization <p = 1> (k) y = Mul (c, x)", ""),
    "constant RoiAlign": (10, "1", f"c = RoiAlign <{ALIGN}> (k, r, b) y = Mul (c, x)", BOXES),
    "constant ConvTranspose": (
        11,
        "1",
        "c = ConvTranspose <group = 2> (k, w, v) y = Mul (c, x)",
        "float[2, 1, 1, 1] w = {0.5, -1.5}, float[2] v = {1.0, 3.0}",
    ),
    "constant GlobalMaxPool": (13, "1", "c = GlobalMaxPool (k) y = Mul (c, x)", ""),
}


@pytest.mark.parametrize("target", ["unix"], indirect=True)
@pytest.mark.parametrize("name", CASES)
def test_old_operators_agree_with_onnxruntime(target, name):
    pytest.importorskip("onnxruntime")
    opset, shape, body, constants = CASES[name]
    rng = np.random.default_rng(1)
    k = ", ".join(f"{v:.4f}" for v in rng.standard_normal(2 * 4 * 3))
    known = f"float[1, 2, 4, 3] k = {{{k}}}" + (f", {constants}" if constants else "")
    shape = [int(d) for d in shape.split()]
    rank = 4 if name.startswith("constant") else len(shape)  # of y
    sides = [f"[{', '.join(map(str, dims))}]" if dims else "" for dims in (shape, "abcd"[:rank])]
    model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : {opset}]>
        g (float{sides[0]} x) => (float{sides[1]} y) <{known}> {{ {body} }}""")
    x = rng.standard_normal(shape).astype(np.float32)
    [due] = open_session(model).run(None, {"x": x})
    converted = convert(model, Options(strip=True))
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes()]])])
    assert not outcome.error, outcome.message
    got = np.frombuffer(outcome.runs[0].outputs[0], np.float32).reshape(due.shape)
    np.testing.assert_allclose(got, due, 1e-5, 1e-6)
