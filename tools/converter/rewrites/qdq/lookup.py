"""Replace element-wise operators on one tensor of bytes by a table of 256 entries.

1. Element-wise functions of one tensor of bytes (DQ -> Sigmoid -> Q; Q and DQ that
   change the scale; x * sigmoid(x); a quantized activation) become `mpconnxr:Lookup(x, table)`.
   The table is computed by the operators themselves, so it is exact.
2. A table that changes nothing is removed: Q after DQ with the same scale, or a Relu behind a Q
   that saturates at the same value.
3. If the result stays float, it becomes integers and a DQ if that is exact (DQ -> Relu), else a
   table of floats.

`Lookup` is an operator of this project, defined in the model as a function of ONNX's operators:
table[x], negative x from the table's end.
"""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
from onnx import helper, numpy_helper

from ...reference.golden import reference
from .. import _graph as g
from ._edit import Edit
from ._values import BYTES, array_of, dequantized, dtype_of, is_dq, is_kept, readers_of, shape_of
from .functions import call

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
    g.MS: frozenset(_MS.split()),
    g.OWN: frozenset(["Lookup"]),
}


def lookup(edit: Edit) -> bool:
    """Apply the rules where they fit; return True if one did anything."""
    roots = _roots(edit)
    ends = [value for value in roots if _is_end(value, roots)]
    ends = dict.fromkeys(_before_dq(value) for value in ends)
    changed = [_tabulate(edit, value, roots[value]) for value in ends if value in roots]
    return any(changed)


def _roots(edit):
    """Return by value the tensor of bytes that it follows from, element by element."""
    roots: dict[ir.Value, ir.Value] = {}
    for node in edit.graph:
        if node.op_type not in _BY_DOMAIN.get(node.domain, ()) or len(node.outputs) != 1:
            continue
        own = {_root(value, roots, node) for value in node.inputs if value is not None}
        own.discard("")
        if len(own) == 1 and None not in own:
            root = own.pop()
            shape = shape_of(root)
            if shape is not None and shape_of(node.outputs[0]) == shape:
                roots[node.outputs[0]] = root
    return roots


def _root(value, roots, node):
    """Return the bytes that an input is a function of, "" for one constant number, else None."""
    array = array_of(value)
    if array is not None:
        is_table = node.domain == g.OWN and value is node.inputs[1]
        return "" if array.size == 1 or is_table else None
    if value in roots:
        return roots[value]
    return value if dtype_of(value) in BYTES else None


def _is_end(value, roots):
    """Return True if a node reads the value that is no function of the same bytes."""
    return is_kept(value) or any(n.outputs[0] not in roots for n in readers_of(value))


def _before_dq(value):
    """Return the integers before a DQ that comes last, which stays."""
    node = value.producer()
    return node.inputs[0] if is_dq(node) else value


def _chain(edit, value, root):
    """Return the nodes from the root to a value, in order."""
    needed, chain = {value}, []
    for node in reversed(list(edit.graph)):
        if node.outputs and node.outputs[0] in needed and node.outputs[0] is not root:
            chain.append(node)
            needed.update(node.inputs)
    return chain[::-1]


def _tabulate(edit, value, root):
    """Replace the nodes that compute a value by a table; return False if that gains nothing."""
    node = value.producer()
    chain = _chain(edit, value, root)
    if _is_settled(chain):
        return False
    table = _table(edit, chain, root, value)
    if table is None or not (table.dtype.itemsize == 1 or table.dtype == np.float32):
        return False
    if table.dtype == np.float32:
        integers = _as_integers(chain, table)
        if integers is not None:
            _put_integers(edit, node, root, *integers)
            return True
    if table.dtype == helper.tensor_dtype_to_np_dtype(dtype_of(root)) and np.array_equal(
        table, _ALL.view(table.dtype)
    ):
        return _pass_on(edit, node, root)
    edit.replace(node, [look_up(edit, root, table, value.name)])
    return True


def _is_settled(chain):
    """Return True for a table, and for a Cast."""
    if len(chain) != 1:
        return False
    return chain[0].domain == g.OWN or chain[0].op_type in ("Cast", "Identity")


def _pass_on(edit, node, root):
    """Make one value of two, under the name that the model had."""
    value = node.outputs[0]
    if root.name in edit.invented and root.producer() is not None:
        edit.take_over(value, root)
        edit.remove(node)
        return True
    edit.redirect(value, root)
    if is_kept(value):
        edit.replace(node, [edit.node("Identity", [root], node.name or "")])
    return True


def look_up(
    edit: Edit, x: ir.Value, table: np.ndarray, hint: str, out: ir.Value | None = None
) -> ir.Node:
    """Return the node that computes table[x].

    Args:
        edit: the round.
        x: bytes.
        table: (256,), in order of the bytes' bits.
        hint: beginning of new names.
        out: the node's output; None for a node whose output will replace another node's.
    """
    weights = edit.constant(table, hint)
    return call(edit, "Lookup", [x, weights], edit.new_name(hint), out=out)


def _table(edit, chain, root, value):
    """Return the result of a chain of nodes for each byte, in order of bits; None if unknown.

    Args:
        edit: the round.
        chain: the nodes.
        root: the bytes.
        value: the last node's output.
    """
    x = helper.make_tensor_value_info(root.name, dtype_of(root), [_ENTRIES])
    y = onnx.ValueInfoProto(name=value.name)
    y.type.tensor_type.elem_type = dtype_of(value)
    inputs = {i.name: array_of(i) for node in chain for i in node.inputs if i is not None}
    # A constant of shape [1, 1] would give the result another rank.
    constants = [
        numpy_helper.from_array(v.reshape(()) if v.size == 1 else v, name)
        for name, v in inputs.items()
        if v is not None
    ]
    nodes = [ir.to_proto(node) for node in chain]
    body = helper.make_graph(nodes, "table", [x], [y], constants)
    opsets = edit.model.opset_imports.items()
    model = helper.make_model(
        body,
        opset_imports=[helper.make_opsetid(*opset) for opset in opsets],
        functions=[ir.to_proto(function) for function in edit.model.functions.values()],
        ir_version=edit.model.ir_version,
    )
    values = _ALL.view(helper.tensor_dtype_to_np_dtype(dtype_of(root)))
    results = reference(model, [values])
    return None if results is None else results[0].reshape(-1)


def _as_integers(chain, table):
    """Return (integers, the DQ that makes these floats of them), if the chain's own DQ does."""
    first = next((node for node in chain if is_dq(node)), None)
    if first is None:
        return None
    q = dequantized(first.outputs[0])
    if q is None or not q.is_bytes:
        return None
    limits = np.iinfo(q.zero.dtype)
    with np.errstate(all="ignore"):
        level = np.rint(table / q.scale.reshape(())) + float(q.zero.reshape(()))
        integers = np.nan_to_num(np.clip(level, limits.min, limits.max)).astype(q.zero.dtype)
    wide = integers.astype(np.float32) - q.zero.reshape(()).astype(np.float32)
    exact = np.array_equal(wide * q.scale.reshape(()), table)
    return (integers, first) if exact else None


def _put_integers(edit, node, root, integers, dq):
    out = node.outputs[0]
    dtype = helper.np_dtype_to_tensor_dtype(integers.dtype)
    value = edit.new_value(out.name, dtype, like=out)
    back = edit.copy(dq, [value, *dq.inputs[1:]], name=edit.new_name(out.name))
    edit.replace(node, [look_up(edit, root, integers, value.name, value), back])
