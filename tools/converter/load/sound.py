"""Refuse models that no version of ONNX allows, or whose values are too large for any board.

This runs before anything is computed: a file of a kilobyte can demand gigabytes, by functions that
call functions that call functions.
"""

from __future__ import annotations

import itertools
import math

import onnx
from onnx import AttributeProto, TensorProto, defs, helper, shape_inference

from tools import limits

from ..errors import ConvertError, Finding, Problem, UnsupportedModel
from ..ir import Graph, walk
from ..protos import bodies_of, free_inputs, name_of, nodes_of, operator_of
from ..shapes import extent, extent_forms, misjudged

_SECONDS = 10.0
_MOST_NODES = 200_000  # of a model with its functions inlined
MOST_DEPTH = 8  # of nested bodies; mpconnxr/build/graph.py has the same limit
_MOST_NBYTES = 1 << 30  # of a value: small ints of a 32-bit MicroPython end there
_MOST_COMPUTED = 32 << 20  # bytes of a value that a run computes: all that any board has
_SMALLER = "export the model for smaller inputs, or give a smaller --shape or --dim"
# Operators that compute large values from small constants.
_GROWING = (
    "ConstantOfShape",
    "Expand",
    "Range",
    "Tile",
    "EyeLike",
    "RandomNormal",
    "RandomUniform",
)
_MOST_LISTED = 1 << 20  # elements of a list of integers: inference keeps what it may know of each
_LISTED = (TensorProto.INT32, TensorProto.INT64)

# Attributes that must be 0 or 1: runtimes read other numbers differently.
_FLAG_NAMES = """
    align_corners allowzero antialias ceil_mode center_point_box count_include_pad
    exclude_outside exclusive fmod input_forget inverse is_causal keepdims largest layout
    linear_before_reset noop_with_empty_axes onesided periodic reverse saturate select_last_index
    sorted storage_order training_mode transA transB upper
"""
_FLAGS = frozenset(_FLAG_NAMES.split())


def check(model: onnx.ModelProto) -> None:
    """Check opsets, dtypes, attributes, functions and sizes of a model.

    Raises:
        ConvertError: if ONNX cannot allow them.
    """
    _check_ir_version(model)
    _check_opsets(model)
    _check_dtypes(model.graph)
    _check_depth(model)
    _check_attributes(model)
    _check_functions(model)
    check_sizes(model)


def _check_ir_version(model):
    if model.ir_version > onnx.IR_VERSION:
        raise ConvertError(
            f"the model has IR version {model.ir_version}, and the installed onnx reads up to "
            f"{onnx.IR_VERSION}: pip install -U onnx, or set model.ir_version = "
            f"{onnx.IR_VERSION} in Python and save it with onnx.save"
        )


def _check_opsets(model):
    newest = {name: most for name, (_, most) in defs.C.schema_version_map().items()}
    versions: dict[str, int] = {}
    for o in model.opset_import:
        domain = "" if o.domain == "ai.onnx" else o.domain
        shown = domain or "ai.onnx"
        if versions.setdefault(domain, o.version) != o.version:
            raise ConvertError(f"the model imports two opsets of {shown}: export it again")
        if not 1 <= o.version <= newest.get(domain, o.version):
            most = newest.get(domain)
            known = f": 1 to {most} are known, export it for one of them" if most else ""
            raise ConvertError(f"unknown opset {o.version} of {shown}{known}")


def _check_dtypes(graph):
    for info in [*graph.input, *graph.output, *graph.value_info]:
        number = info.type.tensor_type.elem_type
        if number not in TensorProto.DataType.values():
            raise ConvertError(f"{info.name} has dtype {number}, which ONNX does not have")


def _check_attributes(model):
    for node in itertools.chain(*map(nodes_of, (model.graph, *model.functions))):
        for attribute in node.attribute if node.domain in ("", "ai.onnx") else ():
            if attribute.type == AttributeProto.INT and not attribute.ref_attr_name:
                _check_number(node, attribute.name, attribute.i)


def _check_number(node, name, number):
    """Refuse a value of an integer attribute that ONNX does not allow."""
    where = f"{operator_of(node)} {name_of(node)}"
    is_dtype = name in ("to", "dtype")
    if is_dtype and (number == 0 or number not in TensorProto.DataType.values()):
        raise ConvertError(f"{where} makes dtype {number}, which ONNX does not have")
    if name in _FLAGS and number not in (0, 1):
        raise ConvertError(f"{where}: attribute {name} is {number}, it can be 0 or 1")
    if name == "batch_dims" and number < 0:
        raise ConvertError(f"{where}: attribute batch_dims is {number}, it must be 0 or more")
    if name == "p" and number < 1:
        raise ConvertError(f"{where}: attribute p is {number}, norms are of 1 or more")


def _check_depth(model):
    for graph in (model.graph, *model.functions):
        if _depth(graph.node) > MOST_DEPTH:
            advice = "boards run no deeper ones"
            raise ConvertError(f"more than {MOST_DEPTH} bodies lie in each other: {advice}")


def _depth(nodes):
    """Return how deep bodies are nested in these nodes; 0 if no node has a body."""
    return max((1 + _depth(body.node) for node in nodes for body in bodies_of(node)), default=0)


def _check_functions(model):
    """Refuse functions that share a name, call themselves, or make too many nodes when inlined.

    The nodes are counted without inlining.

    Raises:
        ConvertError: if the model has such functions.
    """
    functions = {(f.domain, f.name, f.overload): f for f in model.functions}
    if len(functions) != len(model.functions):
        raise ConvertError("two functions of the model have one name")
    counts: dict[tuple, int | None] = {}  # None while it is being counted

    def count(nodes):
        inside = sum(count(body.node) for node in nodes for body in bodies_of(node))
        return sum(map(count_of, nodes)) + inside

    def count_of(node):
        key = (node.domain, node.op_type, node.overload)
        if key not in functions:
            return 1
        if counts.get(key, 0) is None:
            raise ConvertError(f"function {key[1]} of {key[0]} calls itself")
        if key not in counts:
            counts[key] = None
            counts[key] = count(functions[key].node)
        return counts[key]

    n = count(model.graph.node)
    if n > _MOST_NODES:
        text = f"its functions make {n:,} nodes of it, {_MOST_NODES:,} are the most"
        raise ConvertError(f"the model is too large: {text}")


def check_growth(model: onnx.ModelProto) -> str:
    """Check the sizes of values before inference follows the contents of values.

    Returns:
        The rule of ONNX that the model breaks, or "": some operators refuse shapes that only a run
        knows, so lowering decides.

    Raises:
        ConvertError: if a value is too large for any board.
    """
    limits.at("looking at the sizes of values", most=_SECONDS)
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    misjudged.hide(bare)
    for info in bare.graph.output:
        if info.type.HasField("tensor_type"):  # reading it would set it
            info.type.tensor_type.ClearField("shape")
    doubt = ""
    try:
        inferred = shape_inference.infer_shapes(bare, check_type=True, strict_mode=True)
    except Exception as e:  # onnx raises several kinds
        doubt = "" if _is_right_later(bare) else " ".join(str(e).split())
        try:
            inferred = shape_inference.infer_shapes(bare)
        except Exception:  # inference reports what is wrong
            return doubt
    check_sizes(inferred)
    return doubt


def _is_right_later(model):
    """Return True if a later opset allows the model, such as 16-bit quantized values."""
    later = onnx.ModelProto()
    later.CopyFrom(model)
    for o in later.opset_import:
        if o.domain in ("", "ai.onnx"):
            o.version = defs.onnx_opset_version()
    try:
        shape_inference.infer_shapes(later, check_type=True, strict_mode=True)
    except Exception:  # as above
        return False
    return True


def check_sizes(model: onnx.ModelProto) -> None:
    """Refuse values that no board can address, by their declared shapes.

    Raises:
        UnsupportedModel: with the node of each such value.
    """
    makers = {name: node for node in model.graph.node for name in node.output}
    graph = model.graph
    findings = []
    for info in [*graph.input, *graph.value_info, *graph.output]:
        size = _nbytes(info.type)
        if size > _most(info.type):
            findings.append(_finding(info.name, size, makers.get(info.name), _advice(graph)))
    _refuse(findings)


def check_memory(model: onnx.ModelProto) -> None:
    """Refuse inputs, and values computed from inputs, that exceed the memory of all boards.

    Constants, and values computed from constants alone, such as weights that DequantizeLinear
    outputs, are not checked: rewrites still fold these.

    Raises:
        UnsupportedModel: with the node of the first such value.
    """
    graph = model.graph
    types = {v.name: v.type for v in [*graph.input, *graph.value_info, *graph.output]}
    makers = {i.name: None for i in free_inputs(graph)}
    for node in graph.node:
        if node.op_type in _GROWING or any(name in makers for name in node.input):
            makers.update(dict.fromkeys(node.output, node))
    for name, node in makers.items():
        size = _nbytes(types[name]) if name in types else 0
        if size > _MOST_COMPUTED and not _is_open(types[name]):  # check_sizes looks at bounds
            raise UnsupportedModel([_finding(name, size, node, _advice(graph))])


def check_planned(graph: Graph, arena_nbytes: int = 0) -> None:
    """Refuse values and arenas that have more bytes than a board's words can count.

    Args:
        graph: the lowered graph; values and scratch count as large as the bounds allow.
        arena_nbytes: size of the arena, once it is planned.

    Raises:
        UnsupportedModel: with the nodes that need the memory.
    """
    names = [name for t in graph.inputs for d in t.shape for name, _ in extent.dims_in(d)]
    advice = _smaller_bounds(names) or _SMALLER
    findings = []
    for step in walk(graph.steps):
        tensors = [t for t in step.outputs + step.scratch if t.data is None and not t.is_object]
        size = max((t.planned_nbytes for t in tensors), default=0)
        if size > _MOST_NBYTES:
            operator, _, name = step.node.partition(" ")
            findings.append(Finding(operator, name, _too_large("a value", size, advice)))
    if not findings and arena_nbytes > _MOST_NBYTES:
        problem = _too_large("an arena", arena_nbytes, advice)
        findings.append(Finding("the model", "all that is alive at one time", problem))
    _refuse(findings)


def _refuse(findings):
    """Raise UnsupportedModel with one finding for each node, if there is any finding."""
    if findings:
        raise UnsupportedModel(list({(f.what, f.name): f for f in findings}.values()))


def _smaller_bounds(names):
    """Return advice to lower the bounds of these sizes; "" without sizes."""
    names = dict.fromkeys(map(extent.base_name, names))
    options = " or ".join(f"--bound {name}" for name in names)
    return f"a smaller {options} needs less" if options else ""


def _advice(graph):
    """Return advice to make values smaller: smaller bounds, or a batch of one."""
    kinds = [info.type for info in free_inputs(graph)]
    names = [name for kind in kinds for d in _extents(kind) for name, _ in extent.dims_in(d)]
    if advice := _smaller_bounds(names):
        return advice
    for info in free_inputs(graph):
        dims = [d.dim_value for d in info.type.tensor_type.shape.dim]
        if len(dims) > 1 and dims[0] > 1:
            shape = ",".join(map(str, [1, *dims[1:]]))
            return f"--shape {info.name}={shape} takes one sample at a time"
    return _SMALLER


def _finding(name, size, node, advice):
    what, where = ("input", name) if node is None else (operator_of(node), name_of(node))
    return Finding(what, where, _too_large("a value", size, advice))


def _too_large(what, nbytes, advice):
    return Problem(f"{what} of {nbytes:,} bytes is too large for any board", advice)


def _most(kind):
    tensor = kind.tensor_type
    is_list = tensor.elem_type in _LISTED and len(tensor.shape.dim) == 1 and not _is_open(kind)
    return _MOST_LISTED * 8 if is_list else _MOST_NBYTES


def _nbytes(kind):
    """Return the largest size of a tensor of this type in bytes; an unknown dim counts as 1."""
    dims = _extents(kind)
    try:
        itemsize = helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type).itemsize
    except KeyError:
        itemsize = 1
    sizes = [max(int(d), 1) if extent.is_open(d) or d else 0 for d in dims]
    return math.prod(sizes) * itemsize


def _is_open(kind):
    return any(map(extent.is_open, _extents(kind)))


def _extents(kind):
    """Return the known dims of a type, including those that only a run knows."""
    dims = kind.tensor_type.shape.dim
    extents = [
        d.dim_value if d.HasField("dim_value") else extent_forms.parsed(d.dim_param) for d in dims
    ]
    return [d for d in extents if d is not None]
