"""Models with constants at the ends of int64 are right, or soon refused with a typed error."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tests.host.hostile import extremes
from tests.host.hostile.case import model, node, value
from tests.host.hostile.test_hostile import MOST_NBYTES, converted, forks
from tools.converter.convert import convert
from tools.converter.errors import ConvertError

LONG = bool(os.environ.get("MPCONNXR_LONG"))
CASES = list(extremes.cases())[:: 1 if LONG else 5]
OPERATORS = sorted({name.partition("_")[0] for name, _ in CASES})
MOST_SECONDS = 15  # of computing
U8 = 2
_Z = np.array(0, np.uint8)
# (operator, its inputs, whether a negative scale is a factor); s: the scale that is none
_SCALED = (
    ("QuantizeLinear", "f s z", False),
    ("DequantizeLinear", "x s z", True),
    ("QLinearConv", "i s z w t z t z", False),
    ("QLinearConv", "i t z w s z t z", False),
    ("QLinearConv", "i t z w t z s z", False),
    ("QLinearMatMul", "x s z m t z t z", False),
    ("com.microsoft QLinearSoftmax", "x s z t z", False),
    ("com.microsoft QLinearSoftmax", "x t z s z", False),
    ("com.microsoft QLinearSigmoid", "x t z s z", False),
    ("com.microsoft QLinearLeakyRelu", "x s z t z", False),
    ("com.microsoft QLinearAdd", "x t z x s z t z", False),
    ("com.microsoft QLinearMul", "x t z x t z s z", False),
    ("com.microsoft QLinearGlobalAveragePool", "i s z t z", False),
    ("com.microsoft QLinearConcat", "t z x s z", False),
    ("com.microsoft QLinearConcat", "s z x t z", False),
    ("com.microsoft QLinearWhere", "c x s z x t z t z", False),
    ("com.microsoft QGemm", "x s z m t z _ t z", False),
    ("com.microsoft MatMulIntegerToFloat", "x m s t z z", True),
    ("com.microsoft DynamicQuantizeMatMul", "f m s z", True),
)


@forks
@pytest.mark.parametrize("operator", OPERATORS)
def test_extreme_constants_are_right_or_refused(operator, tmp_path):
    for name, proto in CASES:
        if name.partition("_")[0] != operator:
            continue
        (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
        end, message = converted(tmp_path / "model.onnx", tmp_path / "out.bin")
        assert end.seconds < MOST_SECONDS and end.peak < MOST_NBYTES, (name, end)
        assert "Traceback" not in message and "unexpected" not in message, (name, message)
        if end.code:
            assert end.code == 1 and "converter: " in message, (name, end, message)
        else:  # it was compared with onnxruntime
            assert "\nchecked: " in message, (name, message)


@pytest.mark.parametrize("scale", (np.nan, np.inf, -np.inf, -0.5) if LONG else (np.nan, -0.5))
@pytest.mark.parametrize(("operator", "inputs", "is_factor"), _SCALED)
def test_extreme_scales_are_right_or_refused(operator, inputs, is_factor, scale):
    if is_factor and scale == -0.5:
        return
    domain, _, op = operator.rpartition(" ")
    attributes = {"domain": domain} if domain else {}
    if op == "QLinearGlobalAveragePool":
        attributes["channels_last"] = 0
    constants = {"s": np.float32(scale), "t": np.float32(0.5), "z": _Z}
    constants |= {"w": np.ones((1, 1, 1, 1), np.uint8), "m": np.ones((4, 4), np.uint8)}
    constants["c"] = np.ones((4, 4), bool)
    used = inputs.split()
    infos = [value("x", (4, 4), U8), value("i", (1, 1, 4, 4), U8), value("f", (4, 4))]
    proto = model(
        node(op, inputs, "q_out", **attributes),
        [v for v in infos if v.name in used],
        [value("q_out", None, 1 if op[:2] in ("De", "Ma", "Dy") else U8)],
        {k: v for k, v in constants.items() if k in used},
        com_microsoft=1,
    )
    with pytest.raises(ConvertError, match="scale s is negative, infinite or not a number") as e:
        convert(proto)
    assert op in str(e.value) and "q_out" in str(e.value)
