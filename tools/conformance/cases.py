"""Collect test cases: of the onnx package, of replaced versions, and of com.microsoft."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

from tools.converter.protos import free_inputs

from . import MS, OLD, VERSIONS, ms, old, versions

_DATA = Path(onnx.__file__).parent / "backend/test/data"
_RTOL, _ATOL = 1e-3, 1e-7  # onnx's defaults, which a case's data.json may override


Value = np.ndarray | list[np.ndarray] | None


@dataclass(frozen=True)
class Case:
    """A model with inputs and expected outputs.

    Attributes:
        collection: one of COLLECTIONS.
        name: unique in the collection.
        operator: the tested operator; "" for a model of several.
        model: serialized.
        inputs: arrays in the graph's order without initializers; a list of arrays for a sequence,
            None for an absent optional.
        outputs: expected outputs, likewise.
        rtol: relative tolerance of floats.
        atol: absolute tolerance of floats.
        is_rounded: a few integers may be off by one, since they are rounded floats.
        disputed: why the expected outputs are wrong; "" if they are right.
    """

    collection: str
    name: str
    operator: str
    model: bytes
    inputs: list[Value]
    outputs: list[Value]
    rtol: float = _RTOL
    atol: float = _ATOL
    is_rounded: bool = False
    disputed: str = ""

    @property
    def id(self) -> str:
        """Collection and name."""
        return f"{self.collection} {self.name}"


@cache
def ms_cases(most: int | None = None) -> tuple[Case, ...]:
    """Return the cases of com.microsoft, at most `most` per operator; none without onnxruntime."""
    if not ms.is_possible():
        return ()
    return tuple(
        Case(MS, **vars(made))
        for operator in ms.operators()
        for made in itertools.islice(ms.models(operator), most)
    )


@cache
def version_cases(most: int = 20) -> tuple[Case, ...]:
    """Return at most `most` random models per operator version; none without onnxruntime."""
    if not ms.is_possible():
        return ()
    return tuple(
        Case(VERSIONS, **vars(made))
        for version in versions.versions()
        for made in versions.models(version, most)
    )


@cache
def old_cases() -> tuple[Case, ...]:
    """Return the node cases of replaced operator versions; none without their archive."""
    return tuple(
        Case(
            OLD,
            name,
            _operator(model),
            model.SerializeToString(),
            [_array(x) for x in inputs],
            [_array(x) for x in outputs],
            disputed=old.disputed(name),
        )
        for name, model, inputs, outputs in old.cases()
    )


@cache
def all_cases() -> tuple[Case, ...]:
    """Return every case of the onnx package, in the collections' order."""
    cases = list(_node_cases())
    for kind in ("pytorch-converted", "pytorch-operator", "simple"):
        cases += [_folder_case(kind, folder) for folder in sorted((_DATA / kind).glob("test_*"))]
    cases += [_light_case(path) for path in sorted((_DATA / "real").glob("*/data.json"))]
    return tuple(cases)


def _node_cases() -> Iterator[Case]:
    np.random.seed(0)  # some cases draw their data
    operators = {}
    with np.errstate(all="ignore"):  # some cases divide by zero on purpose
        collected = collect_testcases(None)
    for case in collected:
        # In `NAME_expanded...` the operator is replaced by the function that defines it.
        first = case.name.partition("_expanded")[0]
        operator = operators.setdefault(first, _operator(case.model))
        for inputs, outputs in case.data_sets:
            yield Case(
                "node",
                case.name,
                operator,
                case.model.SerializeToString(),
                [_array(x) for x in inputs],
                [_array(x) for x in outputs],
                case.rtol,
                case.atol,
            )


def _operator(model):
    """Return the only operator of a model, constants aside; "" if it has several."""
    names = {
        f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
        for node in model.graph.node
        if node.op_type != "Constant"
    }
    if len(names) > 1:
        return ""
    return names.pop() if names else "Constant"


def _array(value):
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, list):
        return [_array(x) for x in value]
    return None if value is None else np.asarray(value)


def elements(values: Sequence[Value]) -> list[np.ndarray]:
    """Return the arrays among the values, and the arrays in sequences."""
    lists = [v if isinstance(v, list) else [v] for v in values]
    return [x for arrays in lists for x in arrays if x is not None]


def _folder_case(kind, folder):
    raw = (folder / "model.onnx").read_bytes()
    model = onnx.load_model_from_string(raw)
    data = folder / "test_data_set_0"
    return Case(
        kind,
        folder.name,
        _operator(model),
        raw,
        _stored(data, "input", free_inputs(model.graph)),
        _stored(data, "output", model.graph.output),
        **_tolerances(folder / "data.json"),
    )


def _stored(folder, kind, infos):
    arrays = []
    for i, info in enumerate(infos):
        raw = (folder / f"{kind}_{i}.pb").read_bytes()
        if info.type.HasField("sequence_type"):
            arrays.append(numpy_helper.to_list(onnx.SequenceProto.FromString(raw)))
        else:
            arrays.append(numpy_helper.to_array(onnx.TensorProto.FromString(raw)))
    return arrays


def _light_case(description):
    """Return a well-known network with random weights and the input of onnx's test runner."""
    path = _DATA / "light" / Path(json.loads(description.read_text())["url"]).name
    model = onnx.load(path)
    inputs = []
    for info in free_inputs(model.graph):
        shape = [d.dim_value or 1 for d in info.type.tensor_type.shape.dim]
        n = int(np.prod(shape))
        inputs.append((np.arange(n).reshape(shape) / n).astype(np.float32))
    expected = onnx.TensorProto.FromString(path.with_name(f"{path.stem}_output_0.pb").read_bytes())
    return Case(
        "light",
        description.parent.name,
        "",
        path.read_bytes(),
        inputs,
        [numpy_helper.to_array(expected)],
        **_tolerances(description),
    )


def _tolerances(path):
    fields = json.loads(path.read_text()) if path.is_file() else {}
    return {key: fields[key] for key in ("rtol", "atol") if key in fields}
