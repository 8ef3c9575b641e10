"""Put QuantizeLinear and DequantizeLinear into a model, with onnxruntime's quantizer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx

from ..protos import copied
from .ranges import Ranges, as_tensors_data
from .runtime import runtimes

# Operators that gain from integers, or that integers pass through unharmed.
_OPERATORS = (
    "Add", "AveragePool", "Clip", "Concat", "Conv", "Flatten", "Gemm", "GlobalAveragePool",
    "LeakyRelu", "MatMul", "MaxPool", "Mul", "Pad", "Relu", "Reshape", "Resize", "Sigmoid",
    "Slice", "Split", "Squeeze", "Tanh", "Transpose", "Unsqueeze",
)  # fmt: skip
_QUANTIZER = "quantizer", "--exclude NODE leaves a node in float"
_OF_BYTES = ("ConvTranspose",)  # those of which only 8 bits have an integer form


def static(
    model: onnx.ModelProto,
    limits: Ranges,
    activation_bits: int,
    per_channel: bool,
    exclude: Sequence[str],
) -> onnx.ModelProto:
    """Quantize activations to 8 or 16 bits by these ranges, weights to 8."""
    from onnxruntime import quantization
    from onnxruntime.quantization.calibrate import save_tensors_data

    wide = activation_bits == 16
    with TemporaryDirectory() as folder, runtimes(*_QUANTIZER):
        cache, out = Path(folder, "ranges.json"), Path(folder, "quantized.onnx")
        save_tensors_data(as_tensors_data(limits), cache)
        quantization.quantize_static(
            model,
            out,
            None,
            calibration_cache_path=cache,
            op_types_to_quantize=[*_OPERATORS, *(() if wide else _OF_BYTES)],
            per_channel=per_channel,
            nodes_to_exclude=list(exclude),
            activation_type=quantization.QuantType.QInt16
            if wide
            else quantization.QuantType.QInt8,
            weight_type=quantization.QuantType.QInt8,
            extra_options={"ActivationSymmetric": wide, "UseQDQContribOps": wide},
        )
        return onnx.load(out)


def dynamic(model: onnx.ModelProto, per_channel: bool, exclude: Sequence[str]) -> onnx.ModelProto:
    """Quantize weights to 8 bits; each run finds the ranges of its activations."""
    from onnxruntime import quantization

    # a Gemm is taken apart before the names are looked at
    names = [*exclude, *(f"{name}_MatMul" for name in exclude)]
    with TemporaryDirectory() as folder, runtimes(*_QUANTIZER):
        out = Path(folder, "quantized.onnx")
        quantization.quantize_dynamic(
            _without_types_of_constants(model),
            out,
            per_channel=per_channel,
            nodes_to_exclude=names,
            weight_type=quantization.QuantType.QInt8,
            extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
        )
        return onnx.load(out)


def _without_types_of_constants(model):
    """Remove types of constants: the quantizer transposes a Gemm's weights, but not these."""
    model, constants = copied(model), {t.name for t in model.graph.initializer}
    kept = [v for v in model.graph.value_info if v.name not in constants]
    del model.graph.value_info[:]
    model.graph.value_info.extend(kept)
    return model
