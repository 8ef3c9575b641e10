"""Models with inputs, and their files by options that must not change outputs."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import onnx

from mpconnxr.tensor import code_of, is_object
from tests.fuzz import seeds
from tests.host.converter.random_models import random_model
from tests.host.converter.random_operators import FLOATS
from tests.host.converter.rewrites.random_graphs import families
from tests.host.random_layers import KINDS, layer
from tools.converter.convert import Converted, Options, convert
from tools.converter.errors import ConvertError
from tools.converter.ir import walk
from tools.format.layout import element_bytes
from tools.format.reader import read

# A band of rows has an exponent of its own there (docs/memory.md), and so has a group of channels
# in a window (docs/weights.md).
_BY_BLOCKS = ("block_conv", "conv_max_pool")


@dataclass
class Subject:
    """A model in several files.

    Attributes:
        files: by option set, "" for the default options.
        raw: the bytes of its inputs.
    """

    name: str
    files: dict[str, bytes]
    raw: bytes
    kernels: frozenset[str]


def of_model(name: str, model: onnx.ModelProto, inputs: list[np.ndarray]) -> Subject:
    """Return a model with its files by options that must not change outputs."""
    converted = convert(model, Options(strip=True))
    files = {"": converted.data}
    for mode, options in _options(converted):
        try:
            files[mode] = convert(model, options).data
        except ConvertError:
            continue  # that arena or window is too small
    kernels = frozenset(step.kernel for step in walk(converted.graph.steps))
    raw = b"".join(element_bytes(x) for x in inputs)
    return Subject(name, files, raw, kernels)


def _options(converted: Converted) -> Iterator[tuple[str, Options]]:
    steps = list(walk(converted.graph.steps))
    by_blocks = [step for step in steps if step.kernel in _BY_BLOCKS]
    yield "named", Options()
    yield "keep", Options(strip=True, keep_inputs=True)
    weights = [sum(t.nbytes for t in s.inputs if t.data is not None) for s in steps]
    if any(weights) and all(step["g"] == 1 for step in by_blocks):
        yield "window", Options(strip=True, window=max(max(weights) * 2 // 3, 16))
    if not by_blocks:
        yield "arena", Options(strip=True, arena=converted.plan.arena_bytes * 3 // 4)


def _of_layer(kind: str, seed: int) -> Subject:
    return of_model(f"layer-{kind}{seed}", *layer(kind, seed))


def _of_floats(seed: int) -> Subject:
    model, builder = random_model(seed, FLOATS)
    return of_model(f"floats{seed}", model, list(builder.values().values()))


def _of_family(name: str, seed: int) -> Subject:
    """Return the first graph from seed 100 * seed on."""
    [(_, builder, model)] = families.graphs(families.ALL[name], 1, 100 * seed)
    return of_model(f"{name}{seed}", model, list(builder.inputs.values()))


# Random models, from a seed: of floats, QDQ, QOperator, recurrent, with attention.
RANDOM: dict[str, Callable[[int], Subject]] = {
    "floats": _of_floats,
    **{f"layer-{kind}": partial(_of_layer, kind) for kind in KINDS},
    **{name: partial(_of_family, name) for name in families.ALL},
}


def _sample(dtype: int, nelem: int, nbytes: int, draw: np.random.Generator) -> bytes:
    """Return random elements of an input: integers from 0 to 2, most of which are good indices."""
    code = code_of(dtype)
    if code in "fd":
        return draw.standard_normal(nelem).astype(code).tobytes()
    values = [int(v) for v in draw.integers(0, 3, nelem)]
    if nbytes != struct.calcsize(code) * nelem:
        raise ValueError("packed elements")
    return struct.pack(f"<{nelem}{code}", *values)


def of_file(name: str, data: bytes, draw: np.random.Generator) -> Subject | None:
    """Return a model file with random inputs; None if its inputs are strings or have any shape."""
    stored = read(data)
    inputs = [stored.tensors[i] for i in stored.inputs]
    is_open = any(min(t.shape, default=0) < 0 for t in inputs)
    if is_open or any(is_object(t.dtype) for t in stored.tensors):
        return None
    raw = [_sample(t.dtype, int(np.prod(t.shape)), t.nbytes, draw) for t in inputs]
    return Subject(name, {"": data}, b"".join(raw), frozenset(n.kernel for n in stored.nodes))


def layers(n: int, seed: int = 1) -> Iterator[Subject]:
    """Yield up to n files of each kernel that its tests have made, with random inputs."""
    draw, seen = np.random.default_rng(seed), set()
    for some in seeds.collection().values():
        for results in some[:n]:
            if results.name not in seen and (subject := of_file(results.name, results.data, draw)):
                seen.add(results.name)
                yield subject
