"""Quantize a float model after its training.

The float graph comes simplified, with its shapes. onnxruntime's quantizer
places QuantizeLinear and DequantizeLinear; the rewrites after it make integer operators of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import onnx

from ..context import PLAIN, Context
from ..errors import ConvertError, UsageError
from ..load import upgraded
from ..numbers.narrow import Row, narrow_recurrent
from ..protos import copied
from ..shapes import infer
from . import floats
from .biases import as_vectors
from .data import loaded, notes
from .interface import unquantized_interface
from .layers import Layer, layers
from .search import Attempt, best
from .settings import Settings
from .tested import Tested, tested

_OPSET = 13  # the first in which DequantizeLinear has an axis: a scale for each channel
_IR_VERSION = 10  # that each onnxruntime reads: onnx writes newer ones before it does
_OF_INTEGERS = (
    "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger",
    "ConvInteger", "DynamicQuantizeLSTM",
)  # fmt: skip
RECURRENT_BITS = 8  # of the weights of recurrent layers
_SHOWN = 64  # samples that the layers' figures look at


@dataclass
class Outcome:
    """What quantization did.

    Attributes:
        layers: the costs by layer, the noisiest first.
        attempts: the settings that were tried; the last one was taken.
        notes: for the user.
        in_float: by name of a node that the quantizer was not given, why.
        narrowed: recurrent layers, whose weights are rounded to 8 bits.
        tested: what both models answer on the test data, if there are some.
    """

    layers: list[Layer] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    in_float: Mapping[str, str] = field(default_factory=dict)
    narrowed: list[Row] = field(default_factory=list)
    tested: Tested | None = None

    def report(self) -> dict:
        """Return the accuracies for JSON: shares of the calibration data, and the test's."""
        attempts = [
            {"settings": one.what, "top1": one.top1, "top1_float": one.top1_float}
            for one in self.attempts
        ]
        return {"attempts": attempts, "test": self.tested.report() if self.tested else None}


def quantize(
    model: onnx.ModelProto,
    settings: Settings,
    context: Context = PLAIN,
    class_names: Sequence[str] = (),
) -> tuple[onnx.ModelProto, Outcome]:
    """Return the quantized model and its costs; raise UsageError or ConvertError."""
    _require_runtime()
    settings = loaded(settings, model.graph)
    _check(model, settings)
    named = upgraded(copied(model), _OPSET, "--quantize: ")
    named.ir_version = min(named.ir_version, _IR_VERSION)
    for i, node in enumerate(named.graph.node):
        node.name = node.name or f"{node.op_type}_{i}"
    unknown = set(settings.exclude) - {node.name for node in named.graph.node}
    if unknown:
        raise UsageError(f"--exclude: no node is called {', '.join(sorted(unknown))}")
    requested, unfit = settings.exclude, as_vectors(named.graph)
    settings = replace(settings, exclude=tuple(dict.fromkeys([*requested, *unfit])))
    converted, attempts = best(named, settings)
    in_float = floats.reasons(requested, unfit, attempts[-1].exclude)
    narrowed = narrow_recurrent(converted, RECURRENT_BITS, requested)
    if not _has_integers(converted) and not narrowed:
        return model, Outcome(notes=_nothing(settings), in_float=in_float)
    converted = infer.infer(converted, context)
    outcome = Outcome([], attempts, _unscored(settings, attempts), in_float, narrowed)
    if settings.test is not None:
        outcome.tested = tested(model, converted, settings.test, class_names)
    if settings.mode == "dynamic":
        return converted, outcome
    outcome.layers = layers(named, converted, settings.samples[:_SHOWN])
    outcome.notes = notes(settings.samples) + outcome.notes
    if settings.io == "int8":
        outcome.notes += [
            f"{name} stays float: it is not quantized" for name in unquantized_interface(converted)
        ]
        del converted.graph.value_info[:]
    return infer.infer(converted, context), outcome


def _has_integers(model):
    return any(node.op_type in _OF_INTEGERS for node in model.graph.node)


def _nothing(settings):
    """Return notes on a model that the quantizer has not changed."""
    if settings.exclude:
        what = "without those in --exclude the model has no other operators"
    else:
        what = "the model has no operators"
    lines = [
        f"--quantize {settings.mode} changes nothing: {what} that it quantizes, as Conv, Gemm"
    ]
    unused = {"--labels": _labelled(settings), "--test": settings.test is not None}
    return lines + [
        f"{name} is not used: no accuracy is measured" for name, is_set in unused.items() if is_set
    ]


def _labelled(settings):
    return settings.labels is not None


def _unscored(settings, attempts):
    """Return a note if labels are given and no accuracy is measured."""
    if not _labelled(settings) or attempts[-1].top1 is not None:
        return []
    return ["--labels is not used: the model has no output of class scores, one row a sample"]


def _require_runtime():
    try:
        import onnxruntime.quantization  # noqa: F401
    except ImportError as e:
        raise ConvertError(
            f"--quantize needs onnxruntime ({e}); install it: pip install onnxruntime"
        ) from None


def _check(model, settings):
    if settings.mode != "dynamic" and not settings.samples:
        raise UsageError(f"--quantize {settings.mode} needs --calibration data.npz or a folder")
    if settings.mode == "dynamic" and settings.io != "float":
        raise UsageError("--io int8 needs ranges that are known: not with --quantize dynamic")
    if settings.max_drop is not None and settings.labels is None:
        raise UsageError("--min-accuracy-drop needs --labels")
    if any(node.op_type in ("QuantizeLinear", "QLinearConv") for node in model.graph.node):
        raise UsageError("the model is quantized already")
