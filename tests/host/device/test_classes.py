"""top_k handles all kinds of outputs as docs/api.md says."""

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)


@every_target
def test_top_k_accepts_sequences(target):
    script = """
from array import array
from mpconnxr import InputError, top_k
nan = float("nan")
print(top_k([3, 9, 1, 9, 4], 3), top_k((1, 2)), top_k([], 2), top_k([5], 3))
print(top_k(array("f", [0.5, -1, 2]), 2, ("a", "b", "c")), top_k([1, 2], 0))
print(top_k([nan, -2, nan, -3], 3)[:2])
print(top_k({"cat": 0.25, "ant": 0.5, "bee": 0.25}, 3), top_k([{3: 1.5, 1: 2.5}]))
try:
    top_k([1, 2, 3], 1, ["a"])
except InputError as e:
    print(e)
"""
    assert small.lines(target, script) == [
        "[(1, 9), (3, 9), (4, 4)] [(1, 2)] [] [(0, 5)]",
        "[('c', 2.0), ('a', 0.5)] []",
        "[(1, -2), (3, -3)]",
        "[('ant', 0.5), ('bee', 0.25), ('cat', 0.25)] [(1, 2.5)]",
        "1 labels for 3 values",
    ]


@every_target
def test_top_k_accepts_outputs(target):
    half = small.relu((4,), TensorProto.FLOAT16)
    scale, zero = np.array(0.5, np.float32), np.array(3, np.int8)
    quantized = small.model(
        [("QuantizeLinear", "x s z", "y", {})],
        [small.value("x", (4,))],
        [small.value("y", (4,), TensorProto.INT8)],
        s=scale,
        z=zero,
    )
    script = """
import mpconnxr
from mpconnxr.io.classes import top_k
for name in ("f", "h", "q"):
    m = mpconnxr.load(name + ".bin")
    print(top_k(m.run([0.5, 2.5, 1, 2])[0], 2, "wxyz"))
"""
    files = {"f": small.relu((4,)), "h": half, "q": quantized}
    printed = small.lines(target, script, **{k: small.binary(v) for k, v in files.items()})
    assert printed == ["[('x', 2.5), ('z', 2.0)]"] * 3


@every_target
def test_probabilities_and_thresholds_are_applied(target):
    script = """
from mpconnxr import InputError, top_k
inf, nan = float("inf"), float("nan")
def shown(found):
    return [(label, "{:.4f}".format(p)) for label, p in found]
print(shown(top_k([1, 3, 2], 2, "abc", softmax=True)))
print(shown(top_k({"x": 1000.0, "y": 1000.0}, 2, softmax=True)))
print(top_k([-inf, inf], 2, softmax=True))
print(top_k([0.25, 0.75], threshold=0.75), top_k([0.25, 0.75], 2, "ab", threshold=0.8))
print(shown(top_k([1, 3, 2], 3, "abc", True, 0.7)), top_k([], softmax=True, threshold=1))
print(top_k([nan, nan], threshold=0)[0][0], top_k([1, nan, 3], softmax=True, threshold=0.1)[0][0])
"""
    assert small.lines(target, script) == [
        "[('b', '0.6652'), ('c', '0.2447')]",
        "[('x', '0.5000'), ('y', '0.5000')]",
        "[(1, 1.0), (0, 0.0)]",
        "[(1, 0.75)] [(None, 0.75)]",
        "[(None, '0.6652')] []",
        "None None",
    ]
