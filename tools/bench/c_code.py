"""A model as C, from the graph that the converter lowers: calls of benchmarks/c/kernels.h.

Level 1 of the rewrites, at which layers are whole operators: what a code generator for C sees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tools.converter import load, pipeline
from tools.converter.shapes import dims
from tools.converter.simplify import simplify
from tools.errors import ConvertError

from .c_operators import EMITTERS, Node

_TYPES = {"float32": "float", "int8": "int8_t", "uint8": "uint8_t", "int32": "int32_t"}
_SHORT = {"float32": "f32", "int8": "s8", "uint8": "u8"}


@dataclass
class Source:
    """text: of model.h; sample: of the only input, random."""

    text: str
    sample: np.ndarray


@dataclass
class _Value:
    """c: its name in C; data: of a constant."""

    c: str
    shape: tuple[int, ...]
    dtype: np.dtype
    data: np.ndarray | None = None

    @property
    def n(self) -> int:
        return math.prod(self.shape)

    @property
    def short(self) -> str:
        if str(self.dtype) not in _SHORT:
            raise ConvertError(f"{self.dtype} has no form in C here")
        return _SHORT[str(self.dtype)]


@dataclass
class Code:
    """What model.h is made of."""

    values: dict[str, _Value] = field(default_factory=dict)
    arrays: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    buffers: list[str] = field(default_factory=list)
    same: tuple[str, ...] = ()  # kinds of products that are computed as mpconnxr does

    def constant(self, data: np.ndarray, dtype: str) -> str:
        """The name of a constant array with these contents."""
        name = f"c{len(self.arrays)}"
        data = np.asarray(data, dtype).reshape(-1)
        numbers = _numbers(data).replace("-2147483648", "INT32_MIN")
        self.arrays.append(f"static const {_TYPES[dtype]} {name}[{data.size}] = {{{numbers}}};")
        return name

    def buffer(self, dtype: str, n: int) -> str:
        """The name of an array of so many zeros, which calls may write to."""
        name = f"b{len(self.buffers)}"
        self.buffers.append(f"static {_TYPES[dtype]} {name}[{n}];")
        return name

    def call(self, name: str, *args) -> None:
        """Adds a call to run()."""
        words = [_float(a) if isinstance(a, float) else str(a) for a in args]
        self.calls.append(f"    {name}({', '.join(words)});")


def generate(path: Path, seed: int = 0, same: tuple[str, ...] = ()) -> Source:
    """model.h for a model with one input and one output. Raises ConvertError.

    same: "int8", "float": the kinds of products that are computed as mpconnxr does.
    """
    model = lowered(path)
    code = Code(same=same)
    declare(code, model.graph)
    for node in model.graph.node:
        emit = EMITTERS.get(node.op_type)
        if emit is None:
            raise ConvertError(f"{node.op_type} has no form in C here")
        emit(code, Node(code, node))
    [output] = model.graph.output
    [given] = [i for i in model.graph.input if code.values[i.name].data is None]
    x, y = code.values[given.name], code.values[output.name]
    sample = random(x, seed)
    return Source(text_of(code, x, y, sample, '#include "same.h"\n'), sample)


def lowered(path: Path) -> onnx.ModelProto:
    """The model, its layers whole operators. Raises ConvertError."""
    model = load.load(path)
    dims.fix(model, {}, {}, {})
    return pipeline.rewrite_model(simplify(model), 1)[0]


def text_of(code: Code, x, y, given: np.ndarray, header: str, types: dict | None = None) -> str:
    """model.h, with run(). x, y: input and output; types: what others are called in C."""
    names = _TYPES | {name: _TYPES[other] for name, other in (types or {}).items()}
    kind = names[str(x.dtype)]
    code.arrays.append(f"static const {kind} given[{x.n}] = {{{_numbers(given)}}};")
    return _TEXT.format(x=x, y=y, header=header, **_parts(code, names))


_TEXT = """#include <string.h>
#include "kernels.h"
{header}
{arrays}
{buffers}
#define OUTPUT {y.c}
#define OUTPUT_NBYTES sizeof {y.c}

__attribute__((noinline)) static void run(void) {{
    memcpy({x.c}, given, sizeof given);
{calls}
}}
"""


def _parts(code, types):
    names = {v.c: v for v in code.values.values() if v.data is None}
    buffers = [f"static {types[str(v.dtype)]} {v.c}[{v.n}];" for v in names.values()]
    buffers += code.buffers
    return {
        "arrays": "\n".join(code.arrays),
        "buffers": "\n".join(buffers),
        "calls": "\n".join(code.calls),
    }


def random(x, seed: int) -> np.ndarray:
    """A sample for this input."""
    rng = np.random.default_rng(seed)
    if x.dtype == np.float32:
        return rng.standard_normal(x.shape).astype(np.float32)
    limits = np.iinfo(x.dtype)
    return rng.integers(limits.min, limits.max + 1, x.shape, x.dtype)


def _numbers(x):
    written = _float if x.dtype == np.float32 else str
    return ", ".join(written(v) for v in x.ravel().tolist())


def _float(x):
    """'1.0f', exact for a float32."""
    return f"{float(np.float32(x))!r}f"


def declare(code: Code, graph: onnx.GraphProto, kind: type = _Value) -> None:
    """The graph's values as `kind`."""
    for t in graph.initializer:
        data = numpy_helper.to_array(t)
        code.values[t.name] = kind("", data.shape, data.dtype, data)
    infos = [*graph.input, *graph.value_info, *graph.output]
    for info in infos:
        if info.name not in code.values:
            t = info.type.tensor_type
            shape = tuple(d.dim_value for d in t.shape.dim)
            dtype = helper.tensor_dtype_to_np_dtype(t.elem_type)
            code.values[info.name] = kind(f"v{len(code.values)}", shape, dtype)
