"""Convolutions and products of real quantized models round as an evaluation in float64 does."""

import os

import numpy as np
import pytest

from tests.host import zoo
from tests.host.float64_layers import evaluated
from tests.host.quantized_layers import layers_of
from tools.harness import Job, run_jobs

LONG = os.environ.get("MPCONNXR_LONG") == "1"
SMALL = ["cifar10net_qdq_s8", "digits_cnn_qdq_s8", "har_cnn1d_qdq_s8", "mlperf_kws_dscnn_int8"]
SMALL += ["tinymaix_mnist_resnet_int8", "mobilenetv2_035_96_qdq_s8", "tflm_micro_speech_int8"]
LARGE = ["mcunet_vww_int8", "mlperf_vww_mobilenet_int8", "mlperf_ad_fc_ae_int8"]
LARGE += ["tinymaix_cifar10_int8", "tinymaix_vww96_int8", "tinymaix_mnist_dw_int8"]
PRODUCTS = {"Conv", "Gemm", "MatMul"}

pytestmark = zoo.needs_zoo


@pytest.mark.parametrize("target", ["unix"], indirect=True)
@pytest.mark.parametrize("name", SMALL + (LARGE if LONG else []))
def test_layers_round_as_float64(target, name):
    """If onnxruntime's float32 gives what float64 gives, so does the board."""
    products = [
        layer
        for layer in layers_of(name)
        if PRODUCTS & {node.op_type for node in layer.model.graph.node}
    ]
    right = [evaluated(layer.model, layer.inputs) for layer in products]
    assert products and all(r is not None for r in right)
    made = [layer.converted() for layer in products]
    jobs = [
        Job(c.data, [[x.tobytes() for x in layer.inputs]])
        for c, layer in zip(made, products, strict=True)
    ]
    outcomes = run_jobs(target, jobs, 300)
    for layer, want, c, outcome in zip(products, right, made, outcomes, strict=True):
        [t] = c.graph.outputs
        got = np.frombuffer(outcome.runs[0].outputs[0], t.np_dtype).reshape(want.shape)
        assert not ((got != want) & (layer.expected == want)).any(), layer.name
