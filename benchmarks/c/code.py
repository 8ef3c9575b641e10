"""Translate a model to C: calls of the functions in benchmarks/c/kernels.h.

The source is the graph after the rewrites of level 1, at which layers are still whole operators,
as a code generator for C sees them.
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

from .operators import EMITTERS, Node

_TYPES = {"float32": "float", "int8": "int8_t", "uint8": "uint8_t", "int32": "int32_t"}
_SHORT = {"float32": "f32", "int8": "s8", "uint8": "u8"}


@dataclass
class Source:
    """C source of a model.

    Attributes:
        text: of model.h.
        sample: random data for the only input.
    """

    text: str
    sample: np.ndarray


@dataclass
class _Value:
    """A tensor. `c` is its name in C, `data` the value of a constant."""

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
            raise ConvertError(f"{self.dtype} cannot be translated to C here")
        return _SHORT[str(self.dtype)]


@dataclass
class Code:
    """Declarations and calls collected for model.h."""

    values: dict[str, _Value] = field(default_factory=dict)
    arrays: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    buffers: list[str] = field(default_factory=list)
    same: tuple[str, ...] = ()  # kinds of products to compute in the way mpconnxr does

    def constant(self, data: np.ndarray, dtype: str) -> str:
        """Declare a constant array and return its name."""
        name = f"c{len(self.arrays)}"
        data = np.asarray(data, dtype).reshape(-1)
        numbers = _numbers(data).replace("-2147483648", "INT32_MIN")
        self.arrays.append(f"static const {_TYPES[dtype]} {name}[{data.size}] = {{{numbers}}};")
        return name

    def buffer(self, dtype: str, n: int) -> str:
        """Declare an array of n zeros that calls may write to, and return its name."""
        name = f"b{len(self.buffers)}"
        self.buffers.append(f"static {_TYPES[dtype]} {name}[{n}];")
        return name

    def call(self, name: str, *args) -> None:
        """Append a call to run()."""
        words = [_float(a) if isinstance(a, float) else str(a) for a in args]
        self.calls.append(f"    {name}({', '.join(words)});")


def generate(path: Path, seed: int = 0, same: tuple[str, ...] = ()) -> Source:
    """Translate a model with one input and one output to C.

    Args:
        path: the model.
        seed: of the random sample.
        same: kinds of products, "int8" and "float", to compute in the way mpconnxr does.

    Raises:
        ConvertError: if an operator cannot be translated.
    """
    model = lowered(path)
    code = Code(same=same)
    declare(code, model.graph)
    for node in model.graph.node:
        emit = EMITTERS.get(node.op_type)
        if emit is None:
            raise ConvertError(f"{node.op_type} cannot be translated to C here")
        emit(code, Node(code, node))
    [output] = model.graph.output
    [known] = [i for i in model.graph.input if code.values[i.name].data is None]
    x, y = code.values[known.name], code.values[output.name]
    sample = random(x, seed)
    return Source(text_of(code, x, y, sample, '#include "same.h"\n'), sample)


def lowered(path: Path) -> onnx.ModelProto:
    """Load a model and simplify it, with layers as whole operators. Raises ConvertError."""
    model = load.load(path)
    dims.fix(model, {}, {}, {})
    return pipeline.rewrite_model(simplify(model), 1)[0]


def text_of(code: Code, x, y, data: np.ndarray, header: str, types: dict | None = None) -> str:
    """Return the text of model.h.

    Args:
        code: the declarations and calls.
        x: the input, a value with `c`, `n` and `dtype`.
        y: the output.
        data: sample data for the input.
        header: lines of #include and of declarations.
        types: {dtype: dtype that stands for it in C}, if they differ.
    """
    names = _TYPES | {name: _TYPES[other] for name, other in (types or {}).items()}
    kind = names[str(x.dtype)]
    code.arrays.append(f"static const {kind} given[{x.n}] = {{{_numbers(data)}}};")
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
    """Return random data for this input."""
    rng = np.random.default_rng(seed)
    if x.dtype == np.float32:
        return rng.standard_normal(x.shape).astype(np.float32)
    limits = np.iinfo(x.dtype)
    return rng.integers(limits.min, limits.max + 1, x.shape, x.dtype)


def _numbers(x):
    written = _float if x.dtype == np.float32 else str
    return ", ".join(written(v) for v in x.ravel().tolist())


def _float(x):
    """Return a C literal, exact for a float32, such as "1.0f"."""
    return f"{float(np.float32(x))!r}f"


def declare(code: Code, graph: onnx.GraphProto, kind: type = _Value) -> None:
    """Add the graph's tensors to `code` as objects of class `kind`."""
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
