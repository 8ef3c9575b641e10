"""Open a model to run: a .bin as it is, an .onnx converted for the shapes of the samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import onnx
from onnx import helper

from tools import foreign
from tools.converter import load, own
from tools.converter.context import Context
from tools.converter.convert import Options, convert
from tools.converter.reference.tolerance import RELATIVE, relative_of
from tools.converter.shape_fixing import shape_fixing_inputs
from tools.errors import ConvertError, UsageError
from tools.format import layout, reader
from tools.format.dtypes import dtype_name
from tools.format.objects import INT64, STRING, STRING_KEYS, dtype_of, is_map, is_object
from tools.harness import input_bytes

Notify = Callable[[str], None]


@dataclass(frozen=True)
class Spec:
    """An input or output of a model.

    Attributes:
        number: number of the dtype, see tools.format.objects.
        dtype: numpy's dtype, object for strings and maps.
        shape: dimensions; one of any size is its name.
    """

    name: str
    number: int
    dtype: np.dtype
    shape: tuple[int | str, ...]

    def __str__(self):
        about = dtype_name(self.number) if is_object(self.number) else self.dtype
        return f"{self.name} {about} [{', '.join(str(d) for d in self.shape)}]"


@dataclass
class Ready:
    """A converted model.

    Attributes:
        data: the model file.
        fed: indices of a sample's arrays that are inputs (others became constants).
        outputs: outputs without `inner`.
        arena_bytes: size of the arena.
        states: values that are kept from run to run.
        inner: values of Options.inner, which follow the outputs.
        nodes: name of the ONNX node of each step, for files that do not have it.
        values: names of the values that each step computes.
        casts: {index of an array: dtype that the converted model takes instead of the .onnx's}.
        relative: see tools.converter.reference.tolerance.relative_of.
    """

    data: bytes
    fed: list[int]
    outputs: list[Spec]
    arena_bytes: int
    states: Sequence[Spec] = ()
    inner: Sequence[Spec] = ()
    nodes: Sequence[str] = ()
    values: Sequence[Sequence[str]] = ()
    casts: Mapping[int, np.dtype] = field(default_factory=dict)
    relative: float = RELATIVE


def open_model(path: Path, options: Options, notify: Notify) -> OnnxModel | BinModel:
    """Open a model, .bin or .onnx by the file's first bytes.

    Raises:
        ConvertError: if it is not a model, or options do not apply to it.
    """
    with path.open("rb") as f:
        is_bin = f.read(len(layout.MAGIC)) == layout.MAGIC or path.suffix == ".bin"
    if not is_bin:
        return OnnxModel(path, options, notify)
    if replace(options, ops=None, float64=Options.float64) != Options():
        what = (
            "--layers and --trace --compare need the .onnx"
            if options.inner
            else "options after -- have no effect"
        )
        raise UsageError(f"{path} is converted already: {what}")
    return BinModel(path)


class BinModel:
    """A model that is converted already.

    Attributes:
        inputs: specs in the graph's order.
        has_vector: the file has a test vector.
    """

    def __init__(self, path: Path):
        data = path.read_bytes()
        foreign.check_bin(path, data)
        stored = reader.read(data)
        if stored.kind != layout.KIND_MODEL:
            raise ConvertError(f"{path} has tensors, not a model")

        def specs(tensors):
            return [
                Spec(t.name, t.dtype, t.np_dtype, tuple("?" if d < 0 else d for d in t.shape))
                for t in tensors
            ]

        self.inputs = specs(stored.tensors[i] for i in stored.inputs)
        self.has_vector = stored.chunk(layout.CHUNK_GOLDEN) is not None
        outputs = specs(stored.tensors[i] for i in stored.outputs)
        states = specs(t for t in stored.tensors if t.storage == layout.STORAGE_STATE)
        fed = list(range(len(self.inputs)))
        self._ready = Ready(data, fed, outputs, stored.arena_nbytes, states)

    def ready(self, arrays: Sequence[np.ndarray]) -> Ready:
        """Return the model, which is the same for all inputs."""
        return self._ready


class OnnxModel:
    """A model that is converted for each set of shapes, and of values that fix a shape."""

    def __init__(self, path: Path, options: Options, notify: Notify):
        self._path = path
        self._options = options
        self._notify = notify
        operators = own.operators(options.ops, options.allow_domains)
        model = load.load(path, operators)
        fixing = set(shape_fixing_inputs(model, context=Context(operators)))
        bound_names = options.bind.keys() | options.state.keys()
        self.inputs = [spec_of(i) for i in model.graph.input if i.name not in bound_names]
        self._bound = [i for i, spec in enumerate(self.inputs) if spec.name in fixing]
        self._converted: dict[tuple, Ready] = {}

    def ready(self, arrays: Sequence[np.ndarray]) -> Ready:
        """Return the model converted for these inputs; raise ConvertError if that fails."""
        key = tuple(
            (self._fixed(i, x), input_bytes(x) if i in self._bound else b"")
            for i, x in enumerate(arrays)
        )
        if key not in self._converted:
            self._converted[key] = self._convert(arrays)
        return self._converted[key]

    def _is_open(self, d):
        return d in self._options.bounds and d not in self._options.dims

    def _fixed(self, i, x):
        """Return a sample's shape, with None for dimensions that may differ from run to run."""
        declared = self.inputs[i].shape
        if len(declared) != np.ndim(x):
            return np.shape(x)
        return tuple(
            None if self._is_open(d) else n for d, n in zip(declared, np.shape(x), strict=True)
        )

    def _convert(self, arrays):
        bind, shapes = dict(self._options.bind), dict(self._options.shapes)
        dims = dict(self._options.dims)
        for i, (spec, x) in enumerate(zip(self.inputs, arrays, strict=True)):
            if i in self._bound:
                bind[spec.name] = x
                text = np.array2string(x.ravel(), threshold=8)
                self._notify(f"{spec.name} bound to the sample's {text}")
            elif any(map(self._is_open, spec.shape)):
                sizes = zip(spec.shape, x.shape, strict=True)
                named = {d: n for d, n in sizes if isinstance(d, str) and not self._is_open(d)}
                dims |= {d: n for d, n in named.items() if d not in dims}
            elif spec.name not in shapes and not is_map(spec.number):
                shapes[spec.name] = x.shape
                if x.shape != spec.shape:
                    self._notify(f"{spec} taken as {list(x.shape)} from the sample")
        options = replace(self._options, bind=bind, shapes=shapes, dims=dims, strip=True)
        try:
            converted = convert(self._path, options)
        except (ConvertError, OSError):
            raise
        except Exception as e:  # a bug of the converter is reported without a traceback
            text = " ".join(str(e).split())
            raise ConvertError(f"the converter failed: {type(e).__name__}: {text}") from e
        fed = [i for i in range(len(arrays)) if i not in self._bound]
        outputs, states = (
            [Spec(t.name, t.dtype, t.np_dtype, t.shape) for t in tensors]
            for tensors in (converted.graph.outputs, converted.graph.states)
        )
        inner = [spec for spec in outputs if spec.name in options.inner]
        outputs = [spec for spec in outputs if spec.name not in options.inner]
        nodes = [step.node for step in converted.graph.steps]
        values = [[t.name for t in step.outputs] for step in converted.graph.steps]
        taken = {t.name: t.np_dtype for t in converted.graph.inputs}
        casts = {
            i: taken[spec.name]
            for i, spec in enumerate(self.inputs)
            if taken.get(spec.name, spec.dtype) != spec.dtype and not is_map(spec.number)
        }
        nbytes = converted.plan.arena_bytes
        relative = relative_of(converted.graph, options.float)
        return Ready(
            converted.data, fed, outputs, nbytes, states, inner, nodes, values, casts, relative
        )


def spec_of(info: onnx.ValueInfoProto) -> Spec:
    """Return the Spec of a graph's input; raise ConvertError if it cannot be fed."""
    t = info.type.tensor_type
    as_map = dtype_of(info.type)
    if as_map is not None:
        return Spec(info.name, as_map, np.dtype(object), ())
    if not info.type.HasField("tensor_type"):
        raise ConvertError(f"input {info.name} is not a tensor")
    try:
        dtype = helper.tensor_dtype_to_np_dtype(t.elem_type)
    except KeyError:
        raise ConvertError(f"input {info.name} has no dtype") from None
    if not t.HasField("shape"):
        return Spec(info.name, t.elem_type, dtype, ("...",))
    dims = (d.dim_value if d.dim_value > 0 else d.dim_param or "?" for d in t.shape.dim)
    return Spec(info.name, t.elem_type, dtype, tuple(dims))


def checked(
    arrays: Sequence[np.ndarray], inputs: Sequence[Spec], kind: str = "input"
) -> list[np.ndarray]:
    """Return arrays in the dtypes and layout that the inputs need.

    Args:
        arrays: the arrays of a sample.
        inputs: specs to check against.
        kind: what the specs describe, for messages.

    Raises:
        UsageError: if they do not fit.
    """
    if len(arrays) != len(inputs):
        expected = "; ".join(str(spec) for spec in inputs) or "none"
        todo = "" if arrays else ": give X.npy for each, or --random 1 for random numbers"
        needed = f"{len(arrays)} {kind}s given, {len(inputs)} needed: {expected}"
        raise UsageError(needed + todo)
    return [_checked(x, spec, kind) for x, spec in zip(arrays, inputs, strict=True)]


def _checked(x, spec, kind):
    if isinstance(x, dict) or is_map(spec.number):
        return _checked_map(x, spec)
    if x.dtype.kind == "U" and spec.number == STRING:
        x = x.astype(object)
    if x.dtype.kind == "V" and x.dtype.itemsize == spec.dtype.itemsize:
        x = x.view(spec.dtype)  # .npy stores dtypes of ml_dtypes so
    if x.dtype.newbyteorder("=") != spec.dtype:
        raise UsageError(f"{kind} {spec} is given {x.dtype}: convert it with .astype()")
    if spec.shape != ("...",):
        same = len(x.shape) == len(spec.shape) and all(
            isinstance(want, str) or want == size
            for want, size in zip(spec.shape, x.shape, strict=True)
        )
        if not same:
            raise UsageError(f"{kind} {spec} is given shape {list(x.shape)}")
    return x.astype(spec.dtype, order="C", copy=False)


def _checked_map(x, spec):
    """Return a map from JSON, where keys are text and floats may be written as integers."""
    if not isinstance(x, dict) or not is_map(spec.number):
        raise UsageError(f"input {spec} is given {type(x).__name__}: a map is an object in .json")
    key_of = str if spec.number & STRING_KEYS else int
    value_of = {STRING: str, INT64: int}.get(spec.number & 15, float)
    try:
        return {key_of(key): value_of(value) for key, value in x.items()}
    except (TypeError, ValueError):
        raise UsageError(f"input {spec} is given a key or value that does not fit") from None
