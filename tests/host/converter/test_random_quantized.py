"""Random models, quantized by onnxruntime's quantizer, agree with onnxruntime."""

import logging

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.host.converter.random_models import random_model
from tests.host.converter.random_operators import QUANTIZED
from tests.host.converter.rewrites.qdq_net import by_onnxruntime
from tests.host.converter.test_random_models import on_device

quantization = pytest.importorskip(
    "onnxruntime.quantization", reason="onnxruntime's quantizer makes the models"
)

N_MODELS = 60
STEPS = 2  # of the output's scale, at most
OFTEN = 0.999  # of all outputs are the same


class Batches:
    """The calibration data of a quantizer."""

    def __init__(self, builder, n=4):
        self.batches = [builder.values() for _ in range(n)]

    def get_next(self):
        return self.batches.pop() if self.batches else None


def quantized(seed, folder):
    """Return (model, its inputs); None if the quantizer cannot quantize it."""
    model, builder = random_model(seed, QUANTIZED)
    source, target = folder / f"{seed}.onnx", folder / f"{seed}_q.onnx"
    onnx.save(model, source)
    kinds = quantization.QuantType
    options = {"ActivationSymmetric": builder.chance(0.3), "WeightSymmetric": builder.chance(0.7)}
    try:
        quantization.quantize_static(
            source,
            target,
            Batches(builder),
            quant_format=builder.choice(*quantization.QuantFormat),
            activation_type=builder.choice(kinds.QUInt8, kinds.QInt8),
            weight_type=builder.choice(kinds.QUInt8, kinds.QInt8),
            per_channel=builder.chance(0.5),
            extra_options=options,
        )
        result = onnx.load(target), list(builder.values().values())
        by_onnxruntime(*result)
    except Exception:  # whatever the quantizer, or onnxruntime at its result, stumbles over
        return None
    return result


def steps_of(model):
    """Yield the scale of each output, None for those that are not dequantized."""
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    makers = {name: node for node in model.graph.node for name in node.output}
    for output in model.graph.output:
        maker = makers[output.name]
        is_one = maker.op_type == "DequantizeLinear" and constants[maker.input[1]].size == 1
        yield constants[maker.input[1]].item() if is_one else None


@pytest.mark.slow
@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_random_quantized_models_agree_with_onnxruntime(target, tmp_path, caplog):
    caplog.set_level(logging.ERROR)
    models = [m for m in (quantized(seed, tmp_path) for seed in range(N_MODELS)) if m]
    assert len(models) > N_MODELS / 2
    same = []
    for (model, inputs), outputs in zip(models, on_device(target, models), strict=True):
        expected = by_onnxruntime(model, inputs)
        for got, reference, step in zip(outputs, expected, steps_of(model), strict=True):
            if step is not None:
                apart = np.rint(np.abs(got.astype(np.float64) - reference) / step)
                operators = " ".join(node.op_type for node in model.graph.node)
                assert apart.max() <= STEPS, f"{apart.max():.0f} in {operators}"
                same.append(apart.ravel() == 0)
    assert np.concatenate(same).mean() >= OFTEN
