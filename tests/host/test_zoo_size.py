"""File sizes: real float32 models next to their .onnx, integer ones next to these."""

import re

import pytest

from tests.host import zoo

# Weights that are integers, float16, or in a file beside the .onnx.
OTHERS = re.compile("_qdq_|_qop_|_dynq$|_int8$|_qtdnn$|_f16$|_w8$|_external_data$")
MODELS = [name for name in zoo.models() if not OTHERS.search(name)]
# Integer models by the float32 model that they were made of, where that takes more than 50 KB.
OF_FLOATS = {
    "cifar10net_op17_f32": ["cifar10net_dynq", "cifar10net_qdq_s8", "cifar10net_qop_u8"],
    "mlperf_ad_fc_ae_f32": ["mlperf_ad_fc_ae_int8"],
    "mlperf_kws_dscnn_f32": ["mlperf_kws_dscnn_int8", "mlperf_kws_dscnn_ort_qop_s8"],
    "mlperf_vww_mobilenet_f32": ["mlperf_vww_mobilenet_int8", "mlperf_vww_mobilenet_ort_qop_u8u8"],
    "mobilenetv2_035_96_f32": ["mobilenetv2_035_96_qdq_s8", "mobilenetv2_035_96_qop_u8"],
    "squeezenet_mini_96_f32": ["squeezenet_mini_96_qop_u8"],
    "tinymaix_cifar10_f32": ["tinymaix_cifar10_int8"],
    "tinymaix_mnist_resnet_f32": ["tinymaix_mnist_resnet_int8"],
}
SHARE = 0.28  # of the float32 model's stripped file
# What small layers have beside their weights: 8 or 9 weights a row next to a bias and a
# multiplier that rounds exactly, and the numbers of the steps.
MORE = {
    "mlperf_kws_dscnn_int8": 0.2807,
    "mobilenetv2_035_96_qdq_s8": 0.2984,
    "mobilenetv2_035_96_qop_u8": 0.2984,
    "squeezenet_mini_96_qop_u8": 0.2801,
}
# Of a float32 .onnx, where a recurrent layer is in fixed point: beside its weights it has a table
# for its gates (1.4 KB a file), and six bytes a row more than a bias takes.
WITH_GATES = 1.04

pytestmark = zoo.needs_zoo


def stripped_nbytes(name, floats):
    return len(zoo.converted(name, float=floats).data)


@pytest.mark.parametrize("name", MODELS)
def test_a_stripped_file_is_no_larger_than_its_onnx(name):
    nbytes = zoo.model_path(name).stat().st_size
    assert stripped_nbytes(name, "python") <= nbytes
    exact = zoo.converted(name, float="exact")
    has_gates = any(step.kernel == "gated" for step in exact.graph.steps)
    assert len(exact.data) <= nbytes * (WITH_GATES if has_gates else 1)


@pytest.mark.parametrize("name", OF_FLOATS)
def test_integers_take_little_more_than_a_quarter(name):
    floats = stripped_nbytes(name, "exact")
    of_onnx = SHARE * zoo.model_path(name).stat().st_size
    for integers in OF_FLOATS[name]:
        most = MORE.get(integers, SHARE) * floats
        assert stripped_nbytes(integers, "exact") <= min(most, of_onnx)
