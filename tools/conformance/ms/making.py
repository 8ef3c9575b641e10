"""Declare random cases of com.microsoft, and compute their expected outputs by onnxruntime.

    @makes("Gelu", "QuickGelu")
    def gelus(draw):
        for shape in draw.shapes(24):
            yield Spec([draw.floats(shape)])

The random numbers depend only on the operator's name, so that every call makes the same cases.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tools.converter.reference.ort_session import OrtError, open_session

DOMAIN = "com.microsoft"
MAKERS: dict[str, Callable] = {}

_OPSETS, _IR = (21, 13, 17), 10  # of ai.onnx, in turn
# Dtypes that onnxruntime's Python API lacks, and those that a Cast in the model replaces them by.
_THROUGH = {
    np.dtype(ml_dtypes.bfloat16): TensorProto.FLOAT,
    np.dtype(ml_dtypes.int4): TensorProto.INT8,
    np.dtype(ml_dtypes.uint4): TensorProto.UINT8,
}
_TOLERANCES = {"float64": (1e-5, 1e-7), "float32": (1e-4, 1e-5), "float16": (2e-3, 1e-3)}
_COARSE = (2**-6, 1e-2)  # bfloat16


@dataclass
class Spec:
    """A node with inputs, of which a case is made.

    Attributes:
        inputs: arrays; None for an absent input.
        attributes: attributes of the node.
        fixed: indices of inputs that are constants.
        outputs: True for each output of the operator that the node has.
        dtypes: dtypes that onnxruntime does not infer, by index of the output.
        odd: bfloat16, int4 and uint4 outputs, by index.
        is_rounded: a few integers may be off by one, since they are rounded floats.
        rtol: relative tolerance; 0 for the dtype's (_TOLERANCES).
        atol: absolute tolerance; 0 for the dtype's.
        opset: version of ai.onnx.
        shared: {output: input} that onnxruntime requires to share memory, by index.
        domain: domain of the node.
        version: version of this domain.
    """

    inputs: list
    attributes: dict = field(default_factory=dict)
    fixed: Sequence[int] = ()
    outputs: Sequence[bool] = (True,)
    dtypes: dict = field(default_factory=dict)
    odd: dict = field(default_factory=dict)
    is_rounded: bool = False
    rtol: float = 0.0
    atol: float = 0.0
    opset: int | None = None
    shared: dict = field(default_factory=dict)
    domain: str = DOMAIN
    version: int = 1


@dataclass
class NodeCase:
    """A case: serialized model, inputs and expected outputs."""

    name: str
    operator: str
    model: bytes
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]
    rtol: float
    atol: float
    is_rounded: bool


def makes(*operators: str):
    """Declare the decorated generator function as the maker of operators' cases.

    It yields Specs, and is called as maker(draw), or as maker(draw, operator) if it makes several
    operators.
    """

    def declare(maker):
        for operator in operators:
            if operator in MAKERS:
                raise ValueError(f"two makers for {operator}")
            arguments = (operator,) if len(operators) > 1 else ()
            MAKERS[operator] = lambda draw, bound=arguments: maker(draw, *bound)
        return maker

    return declare


def specs_of(operator: str) -> Iterator[Spec]:
    """Yield the Specs of an operator."""
    return MAKERS[operator](Draw(zlib.crc32(operator.encode())))


def trimmed(inputs: list) -> list:
    """Remove absent inputs from the end of the list, and return it."""
    while inputs and inputs[-1] is None:
        inputs.pop()
    return inputs


class Draw:
    """Source of random numbers and choices."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def floats(self, shape: Sequence[int], dtype=np.float32, scale: float = 1.0) -> np.ndarray:
        """Draw from a normal distribution."""
        return np.asarray(scale * self.rng.standard_normal(shape)).astype(dtype)

    def ints(self, shape: Sequence[int], dtype=np.int64, low=None, high=None) -> np.ndarray:
        """Draw integers from low to high, both included.

        Args:
            shape: shape of the array.
            dtype: its dtype.
            low: the least integer; None for the dtype's.
            high: the greatest integer; None for the dtype's.
        """
        info = ml_dtypes.iinfo(dtype)
        low = int(info.min) if low is None else low
        high = int(info.max) if high is None else high
        return self.rng.integers(low, high, shape, np.int64, endpoint=True).astype(dtype)

    def scales(self, shape: Sequence[int], low=0.005, high=0.05, dtype=np.float32) -> np.ndarray:
        """Draw scales of quantized values from low to high."""
        return np.asarray(self.rng.uniform(low, high, shape)).astype(dtype)

    def size(self, low: int, high: int) -> int:
        """Draw one integer from low to high, both included."""
        return int(self.rng.integers(low, high, endpoint=True))

    def chance(self, p: float = 0.5) -> bool:
        """Return True with probability p."""
        return bool(self.rng.random() < p)

    def shape(self, low: int = 1, high: int = 4, most: int = 6) -> tuple[int, ...]:
        """Draw a shape of low to high dims of at most `most` elements each."""
        return tuple(self.size(1, most) for _ in range(self.size(low, high)))

    def each(self, n: int, **options: Sequence) -> Iterator[Choice]:
        """Yield n choices: for each name one of its options, all about equally often."""
        columns = {name: self._spread(values, n) for name, values in options.items()}
        for i in range(n):
            yield Choice({name: column[i] for name, column in columns.items()})

    def _spread(self, values, n):
        many = list(values) * -(-n // len(values))
        return [many[i] for i in self.rng.permutation(len(many))[:n]]


class Choice:
    """Chosen options as attributes."""

    def __init__(self, options: dict):
        self.__dict__.update(options)

    def attributes(self, *names: str) -> dict:
        """Return the options with these names that are not None, as attributes of a node."""
        return {n: self.__dict__[n] for n in names if self.__dict__[n] is not None}


def run(operator: str, number: int, one: Spec, compute: Callable | None = None) -> NodeCase | None:
    """Return the case with the outputs that onnxruntime computes; None if it refuses.

    Args:
        operator: its type.
        number: number of the case, for its name.
        one: the node.
        compute: replaces onnxruntime: takes a model and its feed, returns the outputs.
    """
    one.opset = one.opset or _OPSETS[number % len(_OPSETS)]
    fed = [i for i, x in enumerate(one.inputs) if x is not None and i not in one.fixed]
    values = [np.asarray(one.inputs[i]) for i in fed]
    expected = _computed(operator, one, fed, values, compute)
    if expected is None:
        return None
    model = _model(operator, one, fed)
    names = [name for name in model.graph.node[0].output if name]
    model.graph.output.extend(
        _info(name, y, [f"{name}_{k}" for k in range(y.ndim)])
        for name, y in zip(names, expected, strict=True)
    )
    rtol, atol = np.max([_tolerance(y) for y in expected], axis=0)
    return NodeCase(
        f"{operator}_{number:02}",
        f"{one.domain}::{operator}" if one.domain else operator,
        model.SerializeToString(),
        values,
        expected,
        one.rtol or float(rtol),
        one.atol or float(atol),
        one.is_rounded,
    )


def _tolerance(y):
    return _TOLERANCES.get(y.dtype.name, _COARSE if y.dtype.name == "bfloat16" else (0, 0))


def _model(operator, one, fed):
    """Return a model of the node, without graph outputs."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(one.inputs)]
    outputs = [f"y{i}" if is_there else "" for i, is_there in enumerate(one.outputs)]
    while not outputs[-1]:
        outputs.pop()
    node = helper.make_node(operator, names, outputs, domain=one.domain, **one.attributes)
    constants = [numpy_helper.from_array(np.asarray(one.inputs[i]), f"x{i}") for i in one.fixed]
    infos = [_info(f"x{i}", np.asarray(one.inputs[i])) for i in fed]
    graph = helper.make_graph([node], operator, infos, [], constants)
    versions = {"": one.opset, one.domain: one.version if one.domain else one.opset}
    opsets = [helper.make_opsetid(*pair) for pair in versions.items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=_IR)


def _info(name, value, shape=None):
    kind = _kind(value)
    return helper.make_tensor_value_info(name, kind, value.shape if shape is None else shape)


def _kind(value):
    if value.dtype.kind in "OU":
        return TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(value.dtype)


def _computed(operator, one, fed, values, compute):
    """Return the outputs that onnxruntime computes; None if it refuses the model.

    Args:
        operator: the operator.
        one: the Spec.
        fed: arrays of the model's inputs.
        values: contents of all inputs.
        compute: runs the model.
    """
    model = _model(operator, one, fed)
    graph = model.graph
    _make_unsupported_inputs_constant(graph, values)
    names = [name for name in graph.node[0].output if name]
    for name in names:
        info = graph.output.add(name=name)
        if (dtype := one.dtypes.get(int(name[1:]))) is not None:
            info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    known = {i.name for i in graph.input}
    feed = {f"x{i}": x for i, x in zip(fed, values, strict=True) if f"x{i}" in known}
    odd = {f"y{i}": dtype for i, dtype in one.odd.items()}
    for name, dtype in odd.items():
        _cast_output(graph, name, _THROUGH[np.dtype(dtype)])
    try:
        if compute:
            outputs = compute(model, feed)
        elif one.shared:
            outputs = _run_shared(model, feed, {f"y{y}": f"x{x}" for y, x in one.shared.items()})
        else:
            outputs = open_session(model).run(None, feed)
    except OrtError:
        return None
    return [y.astype(odd.get(name, y.dtype)) for name, y in zip(names, outputs, strict=True)]


def _run_shared(model, feed, shared):
    """Run the model in this process, the only one whose memory inputs and outputs can share."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    binding = session.io_binding()
    values = {name: ort.OrtValue.ortvalue_from_numpy(x.copy()) for name, x in feed.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for output in session.get_outputs():
        if output.name in shared:
            binding.bind_ortvalue_output(output.name, values[shared[output.name]])
        else:
            binding.bind_output(output.name)
    try:
        session.run_with_iobinding(binding)
    except Exception as e:  # onnxruntime raises various types
        raise OrtError(type(e).__name__, str(e)) from None
    return [value.numpy().copy() for value in binding.get_outputs()]


def _make_unsupported_inputs_constant(graph, values):
    infos = list(graph.input)
    del graph.input[:]
    for info, value in zip(infos, values, strict=True):
        if value.dtype in _THROUGH:
            graph.initializer.append(numpy_helper.from_array(value, info.name))
        else:
            graph.input.append(info)


def _cast_output(graph, name, kind):
    for node in graph.node:
        node.output[:] = [f"{o}_odd" if o == name else o for o in node.output]
    graph.node.append(helper.make_node("Cast", [f"{name}_odd"], [name], to=kind))
