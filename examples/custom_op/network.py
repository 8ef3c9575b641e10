"""A model with custom operators that removes noise from a signal.

Each operator comes with its definition as an ONNX function, so that the model runs anywhere and
the converter could expand the operators. With kernels for them, each becomes one step.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

ACME = "com.acme"
OPSET = 17
N_SAMPLES = 256
N_TAPS = 9
THRESHOLD = 0.15


def network(functions: bool = True) -> onnx.ModelProto:
    """Return the model: signal float32 (1, 256) -> clean float32 (1, 248).

    Args:
        functions: add the operators' definitions.
    """
    taps = np.hanning(N_TAPS + 2)[1:-1]
    nodes = [
        helper.make_node("Fir", ["signal", "taps"], ["smooth"], "fir", domain=ACME),
        helper.make_node(
            "SoftThreshold", ["smooth"], ["clean"], "shrink", domain=ACME, threshold=THRESHOLD
        ),
    ]
    graph = helper.make_graph(
        nodes,
        "denoise",
        [helper.make_tensor_value_info("signal", TensorProto.FLOAT, (1, N_SAMPLES))],
        [helper.make_tensor_value_info("clean", TensorProto.FLOAT, (1, N_SAMPLES - N_TAPS + 1))],
        [numpy_helper.from_array((taps / taps.sum()).astype(np.float32), "taps")],
    )
    return helper.make_model(
        graph,
        functions=[_fir(), _soft_threshold()] if functions else [],
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(ACME, 1)],
        ir_version=8,
    )


def noisy_signal(seed: int = 0) -> np.ndarray:
    """Return two bumps in noise, float32 (1, 256)."""
    t = np.arange(N_SAMPLES)
    bumps = np.exp(-(((t - 80) / 12) ** 2)) - 0.7 * np.exp(-(((t - 170) / 20) ** 2))
    noise = np.random.default_rng(seed).normal(0, 0.08, N_SAMPLES)
    return (bumps + noise).astype(np.float32)[None]


def _fir():
    """Define Fir as a convolution of one channel."""
    body = [
        helper.make_node("Constant", [], ["axis"], value_ints=[0]),
        helper.make_node("Constant", [], ["axes"], value_ints=[0, 1]),
        helper.make_node("Unsqueeze", ["x", "axis"], ["x3"]),
        helper.make_node("Unsqueeze", ["taps", "axes"], ["w"]),
        helper.make_node("Conv", ["x3", "w"], ["y3"]),
        helper.make_node("Squeeze", ["y3", "axis"], ["y"]),
    ]
    return _function("Fir", ["x", "taps"], body)


def _soft_threshold():
    """Define SoftThreshold as ONNX's Shrink, with a bias equal to the threshold."""
    shrink = helper.make_node("Shrink", ["x"], ["y"])
    for name in ("lambd", "bias"):
        shrink.attribute.add(name=name, ref_attr_name="threshold", type=AttributeProto.FLOAT)
    return _function("SoftThreshold", ["x"], [shrink], ["threshold"])


def _function(name, inputs, body, attributes=()):
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_function(ACME, name, inputs, ["y"], body, opsets, list(attributes))
