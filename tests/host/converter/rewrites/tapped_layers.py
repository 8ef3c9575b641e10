"""Compare each layer of a quantized net with its result for the inputs that the board computed.

onnxruntime computes a layer in float32, whose last bits go astray where the exact result lies next
to the middle between two integers: a step, in 1 or 2 elements of a whole net, which later layers
amplify to hundreds of elements. A board computes the exact result, so whole nets are compared by
layers: no difference is left that another layer could have made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import utils

from tests.host.float64_layers import evaluated
from tests.host.quantized_layers import cuts_of, other_cuts_of
from tools.converter.convert import Options, convert
from tools.converter.protos import copied, free_inputs
from tools.converter.reference import golden
from tools.converter.shapes.infer import infer
from tools.harness import Job, Run, run_jobs

BOUND = 2e-5  # of floats behind the last integers, to the largest one


def values_of(outputs, run: Run) -> dict[str, np.ndarray]:
    """Return the outputs of a run by name.

    Args:
        outputs: tensors of the outputs.
        run: the run.
    """
    pairs = zip(outputs, run.outputs, strict=True)
    return {t.name: np.frombuffer(raw, t.np_dtype).reshape(t.shape) for t, raw in pairs}


def wrong_layers(
    target, model: onnx.ModelProto, inputs: Sequence[np.ndarray], got: Mapping[str, np.ndarray]
) -> str:
    """Return descriptions of a model's wrong layers, "" without any.

    The integers between layers become outputs, which must not change the model's own outputs.

    Args:
        target: the target that runs the model.
        model: a model of fixed dims.
        inputs: arrays in the graph's order.
        got: outputs of the model without these further ones, by name.
    """
    model = infer(model)
    graph = model.graph
    cuts = [*cuts_of(graph), *other_cuts_of(graph)]
    whole = _with_outputs(model, [out for _, out in cuts])
    values = _run(target, whole, inputs)
    changed = [name for name, y in got.items() if not np.array_equal(y, values[name])]
    if changed:
        return f"with integers as outputs, these are others: {', '.join(changed)}"
    values |= dict(zip([i.name for i in free_inputs(graph)], inputs, strict=True))
    extractor, wrong = utils.Extractor(whole), []
    for names, out in cuts:
        layer = extractor.extract_model(names, [out])
        if text := _wrong(layer, [values[name] for name in names], values[out]):
            wrong.append(f"{out}: {text}")
    return "\n".join(wrong)


def _with_outputs(model, names):
    """Return a copy of the model that has these values as further outputs."""
    result = copied(model)
    infos = {v.name: v for v in model.graph.value_info}
    known = {v.name for v in [*model.graph.output, *model.graph.input]}
    result.graph.output.extend(infos[name] for name in dict.fromkeys(names) if name not in known)
    return result


def _run(target, model, inputs):
    converted = convert(model, Options(strip=True, check=False))
    pairs = zip(inputs, converted.graph.inputs, strict=True)
    sample = [x.astype(t.np_dtype).tobytes() for x, t in pairs]
    [outcome] = run_jobs(target, [Job(converted.data, [sample])], timeout=300)
    assert not outcome.error, outcome.message
    return values_of(converted.graph.outputs, outcome.runs[0])


def _wrong(layer, inputs, got):
    """Return "" if integers are onnxruntime's, or the exact ones where onnxruntime's are not."""
    [right] = golden.reference(layer, inputs)
    if right.dtype.kind == "f":
        apart = np.abs(got.astype(np.float64) - right).max(initial=0)
        largest = np.abs(right).max(initial=0)
        return f"{apart / (largest or 1):.2g} of the largest off" * bool(apart > BOUND * largest)
    if (got == right).all():
        return ""
    exact = evaluated(layer, inputs)
    n = int((got != (right if exact is None else exact)).sum())
    return f"{n} of {got.size} integers are neither exact nor onnxruntime's" * bool(n)
