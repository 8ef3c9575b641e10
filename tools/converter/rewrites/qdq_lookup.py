"""Element-wise operators on one tensor of bytes become a table of 256 entries.

1. What follows from one tensor of bytes element by element (DQ -> Sigmoid -> Q; Q and DQ that
   change the scale; x * sigmoid(x); a quantized activation) is `mpconnxr:Lookup(x, table)`. The
   table is computed by the operators themselves, so it is exact.
2. A table that changes nothing goes away: Q after DQ with the same scale, or a Relu behind a Q
   that saturates there.
3. Where the result stays float, it becomes integers and a DQ if that is exact (DQ -> Relu), else a
   table of floats.

`Lookup` is an operator of this project, defined in the model as a function of ONNX's operators:
table[x], negative x from the table's end.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..protos import copied
from ..reference.golden import reference
from .qdq_functions import OWN, call
from .qdq_graph import Graph
from .qdq_terms import BYTES, MS, is_dq

_ENTRIES = 256
# In order of the bits of a byte, so that it is the index: 0 .. 127, -128 .. -1 of int8.
_ALL = np.arange(_ENTRIES, dtype=np.uint8)

_ONNX = """Abs Acos Acosh Add Asin Asinh Atan Atanh Cast Ceil Celu Clip Cos Cosh Div Elu Erf Exp
    Floor Gelu HardSigmoid HardSwish Identity LeakyRelu Log Max Min Mish Mul Neg PRelu Pow
    Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Swish Tan
    Tanh ThresholdedRelu QuantizeLinear DequantizeLinear"""
_MS = """BiasGelu FastGelu Gelu QuickGelu QLinearLeakyRelu QLinearSigmoid QuantizeLinear
    DequantizeLinear"""
_BY_DOMAIN = {
    "": frozenset(_ONNX.split()),
    "ai.onnx": frozenset(_ONNX.split()),
    MS: frozenset(_MS.split()),
    OWN: frozenset(["Lookup"]),
}


def lookup(graph: Graph) -> bool:
    """Applies the rules where they apply; True if one did."""
    roots = _roots(graph)
    ends = [name for name in roots if _is_end(graph, name, roots)]
    ends = dict.fromkeys(_before_dq(graph, name, roots) for name in ends)
    changed = [_tabulate(graph, name, roots) for name in ends if name in roots]
    return any(changed)


def _roots(graph):
    """{value: the tensor of bytes that it follows from, element by element}."""
    roots: dict[str, str] = {}
    for node in graph.nodes:
        if node.op_type not in _BY_DOMAIN.get(node.domain, ()) or len(node.output) != 1:
            continue
        found = {_root(graph, name, roots, node) for name in node.input if name}
        found.discard("")
        if len(found) == 1 and None not in found:
            root = found.pop()
            shape = graph.shape(root)
            if shape is not None and graph.shape(node.output[0]) == shape:
                roots[node.output[0]] = root
    return roots


def _root(graph, name, roots, node):
    """The bytes behind an input, "" for a constant that is the same for all, None for neither."""
    value = graph.array(name)
    if value is not None:
        is_table = node.domain == OWN and name == node.input[1]
        return "" if value.size == 1 or is_table else None
    if name in roots:
        return roots[name]
    return name if graph.dtype(name) in BYTES else None


def _is_end(graph, name, roots):
    """True if something reads the value that is not such a function itself."""
    readers = graph.consumers(name)
    return graph.is_kept(name) or any(n.output[0] not in roots for n in readers)


def _before_dq(graph, name, roots):
    """Where a DQ comes last, it stays: what counts are the integers before it."""
    node = graph.producer(name)
    return node.input[0] if is_dq(node) else name


def _chain(graph, name, root):
    """The nodes from the root to a value, in order."""
    wanted, chain = {name}, []
    for node in reversed(graph.nodes):
        if node.output and node.output[0] in wanted and node.output[0] != root:
            chain.append(node)
            wanted.update(node.input)
    return chain[::-1]


def _tabulate(graph, name, roots):
    """Puts a table in the place of what computes a value; False where that gains nothing."""
    root, node = roots[name], graph.producer(name)
    chain = _chain(graph, name, root)
    if _is_settled(chain):
        return False
    table = _table(graph, chain, root, name)
    if table is None or not (table.dtype.itemsize == 1 or table.dtype == np.float32):
        return False
    if table.dtype == np.float32:
        integers = _as_integers(graph, chain, table)
        if integers is not None:
            _put_integers(graph, node, root, *integers)
            return True
    if table.dtype == helper.tensor_dtype_to_np_dtype(graph.dtype(root)) and np.array_equal(
        table, _ALL.view(table.dtype)
    ):
        return _pass_on(graph, node, root)
    graph.replace(node, [look_up(graph, root, table, name)])
    return True


def _is_settled(chain):
    """True for a table, and for a Cast."""
    return len(chain) == 1 and (chain[0].domain == OWN or chain[0].op_type in ("Cast", "Identity"))


def _pass_on(graph, node, root):
    """One value in the place of two, under the name that the model had."""
    name = node.output[0]
    if root in graph.invented and graph.producer(root) is not None:
        graph.replace(node, [])
        graph.rename_output(root, name)
        return True
    graph.redirect(name, root)
    if graph.is_kept(name):
        copy = helper.make_node("Identity", [root], [name], name=node.name)
        graph.replace(node, [copy])
    return True


def look_up(graph: Graph, x: str, table: np.ndarray, out: str) -> onnx.NodeProto:
    """The node that gives table[x]."""
    weights = graph.constant(table, out)
    return call(graph, "Lookup", [x, weights], out, graph.new_name(out))


def _table(graph, chain, root, name):
    """What the chain gives for each byte, in order of their bits; None if nothing computes it."""
    x = helper.make_tensor_value_info(root, graph.dtype(root), [_ENTRIES])
    y = onnx.ValueInfoProto(name=name)
    y.type.tensor_type.elem_type = graph.dtype(name)
    constants = {i: graph.array(i) for n in chain for i in n.input if graph.array(i) is not None}
    # A constant of shape [1, 1] would give the result another rank.
    shaped = [
        numpy_helper.from_array(v.reshape(()) if v.size == 1 else v, i)
        for i, v in constants.items()
    ]
    body = helper.make_graph(chain, "table", [x], [y], shaped)
    model = helper.make_model(
        body,
        opset_imports=graph.model.opset_import,
        functions=graph.model.functions,
        ir_version=graph.model.ir_version,
    )
    values = _ALL.view(helper.tensor_dtype_to_np_dtype(graph.dtype(root)))
    found = reference(model, [values])
    return None if found is None else found[0].reshape(-1)


def _as_integers(graph, chain, table):
    """(integers, the DQ that makes these floats of them), if the chain's own DQ does."""
    first = next((node for node in chain if is_dq(node)), None)
    if first is None:
        return None
    q = graph.dequantized(first.output[0])
    if q is None or not q.is_bytes:
        return None
    limits = np.iinfo(q.zero.dtype)
    with np.errstate(all="ignore"):
        level = np.rint(table / q.scale.reshape(())) + float(q.zero.reshape(()))
        integers = np.nan_to_num(np.clip(level, limits.min, limits.max)).astype(q.zero.dtype)
    wide = integers.astype(np.float32) - q.zero.reshape(()).astype(np.float32)
    exact = np.array_equal(wide * q.scale.reshape(()), table)
    return (integers, first) if exact else None


def _put_integers(graph, node, root, integers, dq):
    name = node.output[0]
    dtype = helper.np_dtype_to_tensor_dtype(integers.dtype)
    value = graph.new_value(name, dtype, like=name)
    back = copied(dq)
    back.input[0], back.output[0], back.name = value, name, graph.new_name(name)
    graph.replace(node, [look_up(graph, root, integers, value), back])
