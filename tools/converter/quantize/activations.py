"""Read the tensors of a model while samples run through it, in onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import onnx

from ..protos import copied
from ..reference.ort_session import open_session
from .data import Sample


def each_run(model: onnx.ModelProto, samples: Sequence[Sample]) -> Iterator[dict[str, np.ndarray]]:
    """Yield for each sample the float tensors of the graph by name, with the inputs.

    Values must have types.
    """
    copy = copied(model)
    present = {o.name for o in copy.graph.output}
    made = {name for node in copy.graph.node for name in node.output}
    inner = [v for v in copy.graph.value_info if v.name in made - present]
    copy.graph.output.extend(v for v in inner if _is_float(v))
    session = open_session(copy)
    names = [o.name for o in copy.graph.output if _is_float(o)]
    floats = [i.name for i in model.graph.input if _is_float(i)]
    for sample in samples:
        values = dict(zip(names, session.run(names, dict(sample)), strict=True))
        yield values | {name: sample[name] for name in floats if name in sample}


def _is_float(info):
    return info.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
