"""ONNX's own node tests as small model files, which also cover each new kernel."""

from __future__ import annotations

import fcntl
import functools
import os
import pickle
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import TensorProto, numpy_helper

from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError
from tools.converter.ops import lowering_of
from tools.format.layout import element_bytes


@dataclass
class Case:
    """A node test as a file.

    Attributes:
        inputs: bytes of its inputs in the file's order; None for strings.
    """

    name: str
    data: bytes
    kernels: frozenset[str]
    inputs: list[bytes] | None


@functools.cache
def all_cases() -> list[Case]:
    """Return every node test of one node that the converter can convert.

    They are converted once in a run of tests; processes that come later wait, and read them.
    """
    kept = Path(os.environ["MPCONNXR_TEST_CONVERSIONS"], "node-cases")  # see tests/conftest.py
    with open(kept.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            part = kept.with_suffix(".part")
            part.write_bytes(pickle.dumps(_collected()))
            part.rename(kept)
    return pickle.loads(kept.read_bytes())


def _collected():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the reference implementation, about overflows
        from onnx.backend.test.case.node import collect_testcases

        result = collect_testcases(None)
    tested = [c for c in result if c.model is not None and _lowering(c.model)]
    return [case for case in map(_case, tested) if case]


def smallest(files: int) -> dict[str, list[bytes]]:
    """Return the smallest files that use each kernel, at most so many of each."""
    results: dict[str, set[bytes]] = {}
    for case in all_cases():
        for kernel in case.kernels:
            results.setdefault(kernel, set()).add(case.data)
    return {k: sorted(v, key=lambda data: (len(data), data))[:files] for k, v in results.items()}


def _lowering(model):
    nodes = model.graph.node
    return lowering_of(nodes[0].domain, nodes[0].op_type) if len(nodes) == 1 else None


def _value(value):
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def _case(test):
    names = [i.name for i in test.model.graph.input]
    values = dict(zip(names, map(_value, test.data_sets[0][0]), strict=True))
    if not all(isinstance(v, np.ndarray | np.generic) for v in values.values()):
        return None
    lowering = _lowering(test.model)
    data = [i for i in lowering.fixes_shape if i not in lowering.at_run_time]
    try:
        converted = _converted(test.model, values, lowering.fixes_shape)
        if not converted.graph.steps:
            converted = _converted(test.model, values, data, optimize=0)
    except ConvertError:
        return None
    kernels = frozenset(step.kernel for step in converted.graph.steps)
    inputs = None
    if not any(t.is_object for t in converted.graph.inputs + converted.graph.outputs):
        inputs = [element_bytes(values[t.name]) for t in converted.graph.inputs]
    return Case(test.name, converted.data, kernels, inputs)


def _converted(model, values, fixes, **options):
    """Convert a model; the inputs with the numbers `fixes` become constants."""
    node = model.graph.node[0]
    fixed = {node.input[i] for i in fixes if i < len(node.input)}
    bind = {n: np.asarray(v) for n, v in values.items() if n in fixed}
    shapes = {n: v.shape for n, v in values.items() if n not in fixed}
    return convert(model, Options(shapes=shapes, bind=bind, strip=True, **options))
