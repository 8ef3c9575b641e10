"""Single layers cut out of quantized models, between integers and integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper, utils

from tests.host import zoo
from tools.converter import load
from tools.converter.convert import Converted, Options, convert
from tools.converter.reference import golden
from tools.converter.shapes.infer import infer

_BYTES = (onnx.TensorProto.UINT8, onnx.TensorProto.INT8)


@dataclass
class Layer:
    """A layer between integers.

    Attributes:
        inputs: onnxruntime's own integers, which the layer reads.
        expected: onnxruntime's integers that it computes.
    """

    name: str
    model: onnx.ModelProto
    inputs: list[np.ndarray]
    expected: np.ndarray

    def converted(self, **options) -> Converted:
        names = [i.name for i in self.model.graph.input]
        shapes = dict(zip(names, [x.shape for x in self.inputs], strict=True))
        return convert(self.model, Options(shapes=shapes, strip=True, **options))


def layers_of(name: str) -> list[Layer]:
    """Return the layers of a model of the collection, with its first sample."""
    model = infer(load.load(zoo.model_path(name)))
    cuts = list(cuts_of(model.graph))
    expected = dict.fromkeys(n for inputs, output in cuts for n in [*inputs, output])
    values = _values(model, list(expected), zoo.sample(name, 0, "input"))
    extractor = utils.Extractor(model)
    return [
        Layer(
            f"{name}: {output}",
            extractor.extract_model(inputs, [output]),
            [values[i] for i in inputs],
            values[output],
        )
        for inputs, output in cuts
    ]


def cuts_of(graph: onnx.GraphProto) -> Iterator[tuple[list[str], str]]:
    """Yield (inputs, output) of each layer: of a Q up to the integers before it, of QLinear nodes.

    graph: a graph with all types.
    """
    makers = {name: node for node in graph.node for name in node.output}
    infos = {v.name: v for v in [*graph.input, *graph.value_info, *graph.output]}
    constants = {t.name for t in graph.initializer}

    def is_end(name):
        is_bytes = name in infos and infos[name].type.tensor_type.elem_type in _BYTES
        return is_bytes and name not in constants

    for node in graph.node:
        if not node.op_type.startswith(("Quantize", "QLinear", "QGemm")):
            continue
        inputs = _integers_behind(node, makers, is_end, constants)
        if inputs and is_end(node.output[0]):
            yield inputs, node.output[0]


def other_cuts_of(graph: onnx.GraphProto) -> Iterator[tuple[list[str], str]]:
    """Yield (inputs, output) of the parts before and after the layers of cuts_of."""
    cuts = list(cuts_of(graph))
    constants = {t.name for t in graph.initializer}
    ends = {name for inputs, output in cuts for name in [*inputs, output]}
    ends |= {i.name for i in graph.input} - constants
    makers = {name: node for node in graph.node for name in node.output}
    made = {output for _, output in cuts}
    for name in [*sorted(ends), *(o.name for o in graph.output if o.name not in ends)]:
        if name in makers and name not in made:
            yield _integers_behind(makers[name], makers, ends.__contains__, constants), name


def _integers_behind(node, makers, is_end, constants):
    """Return the names of the integers that a node is computed from; [] if it needs floats, too.

    Args:
        node: where the search starts; it goes from outputs to inputs.
        makers: node by the name of its output.
        is_end: returns True for the name of integers, where the search ends.
        constants: names of initializers, which are ignored.
    """
    result: dict[str, None] = {}
    todo = [n for n in node.input if n]
    while todo:
        name = todo.pop()
        if is_end(name):
            result[name] = None
        elif name in makers:
            todo += [n for n in makers[name].input if n]
        elif name not in constants:
            return []
    return list(result)


def _values(model, names, inputs):
    """Return onnxruntime's values by name, for these names."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    own = {i.name: x for i, x in zip(model.graph.input, inputs, strict=True)}
    outputs = [n for n in names if n not in own]
    del copy.graph.output[:]
    copy.graph.output.extend(onnx.helper.make_empty_tensor_value_info(n) for n in outputs)
    result = golden.reference(copy, inputs)
    assert result is not None, "onnxruntime does not run it"
    return own | dict(zip(outputs, result, strict=True))


def output_scale(name: str) -> float:
    """Return a quantization step of a model's output; 1 if that is integers."""
    graph = onnx.load(zoo.model_path(name)).graph
    constants = {t.name: t for t in graph.initializer}
    last = next(node for node in graph.node if graph.output[0].name in node.output)
    if last.op_type != "DequantizeLinear":
        return 1.0
    return float(numpy_helper.to_array(constants[last.input[1]]))
