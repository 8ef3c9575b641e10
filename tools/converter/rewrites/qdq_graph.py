"""A graph with what the rewrites of quantized regions ask of it, and how they change it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import onnx
from onnx import defs, helper

from ..aside import array_of, digest_of, tensor_of
from ..protos import copied, name_of, opset_of, set_all
from ..shapes.types import shape_of
from .qdq_terms import (
    FLOAT,
    INTEGERS,
    Scaled,
    attribute,
    dequantize,
    is_dq,
    is_q,
)


class Graph:
    """nodes: in order. Changes are written to the model by finish().

    invented: names that the model did not have, added to by new_name; floats: names of nodes that
    no rewrite makes integers of.
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        invented: set[str] | None = None,
        floats: Collection[str] = (),
    ):
        self.model = model
        self._names_of_floats = floats
        self.invented = set() if invented is None else invented
        self.nodes = list(model.graph.node)
        self.opset = opset_of(model, "")
        self._constants = {t.name: t for t in model.graph.initializer}
        self._arrays: dict[str, np.ndarray] = {}
        self._made: dict[tuple, str] = {}
        self._producer: dict[str, onnx.NodeProto] = {}
        self._consumers: dict[str, list[onnx.NodeProto]] = defaultdict(list)
        for node in self.nodes:
            self._link(node)
        self._node_names = {node.name for node in self.nodes}
        self._kept = {o.name for o in model.graph.output} | set(_captured(model.graph))
        infos = [*model.graph.input, *model.graph.value_info, *model.graph.output]
        self._types = {v.name: v.type.tensor_type for v in infos}

    def _link(self, node):
        for name in node.output:
            self._producer[name] = node
        for name in filter(None, node.input):
            self._consumers[name].append(node)

    def producer(self, name: str) -> onnx.NodeProto | None:
        return self._producer.get(name)

    def consumers(self, name: str) -> list[onnx.NodeProto]:
        """Nodes that read a value; one that reads it twice appears twice."""
        return self._consumers[name]

    def is_kept(self, name: str) -> bool:
        """True for what the graph gives out, or a subgraph reads."""
        return name in self._kept

    def is_used_once(self, name: str) -> bool:
        return len(self._consumers[name]) == 1 and name not in self._kept

    def stays_float(self, node: onnx.NodeProto) -> bool:
        """Return True for a node that no rewrite makes integers of."""
        return name_of(node) in self._names_of_floats

    def shape(self, name: str) -> list[int] | None:
        """Return the dims, Extents where a run decides them; None if one is not known."""
        if name in self._constants:
            return list(self._constants[name].dims)
        t = self._types.get(name)
        return None if t is None else shape_of(t)

    def dtype(self, name: str) -> int:
        """ONNX number; 0 if unknown."""
        if name in self._constants:
            return self._constants[name].data_type
        return self._types[name].elem_type if name in self._types else 0

    def array(self, name: str) -> np.ndarray | None:
        """Contents of a constant; None for all else."""
        if name not in self._constants:
            return None
        if name not in self._arrays:
            self._arrays[name] = array_of(self._constants[name])
        return self._arrays[name]

    def floats(self, name: str) -> np.ndarray | None:
        """Contents of a float constant, also of one that is given as DQ of integers."""
        found = self.array(name)
        if found is not None:
            return found if found.dtype == np.float32 else None
        q = self.dequantized(name)
        values = None if q is None else self.array(q.values)
        return None if values is None else dequantize(values, q)

    def constant(self, data: np.ndarray, hint: str) -> str:
        """Name of an initializer with these contents, the same one for the same contents."""
        data = np.asarray(data, order="C")
        key = (data.dtype.str, str(data.dtype), data.shape, digest_of(data))
        if key not in self._made:
            name = self.new_name(hint)
            proto = tensor_of(data, name)
            self._constants[name] = proto
            self.model.graph.initializer.append(proto)
            self._made[key] = name
        return self._made[key]

    def set_constant(self, node: onnx.NodeProto, data: np.ndarray) -> None:
        """Lets an initializer take the place of a node, under the name of its output."""
        proto = tensor_of(data, node.output[0])
        self.replace(node, [])
        self._constants[proto.name] = proto
        self.model.graph.initializer.append(proto)

    def new_name(self, hint: str) -> str:
        """Of a value or a node: no other has it, nor had it before."""
        taken = (self._producer, self._constants, self._types, self._node_names, self.invented)
        number = 1
        while any(f"{hint}/{number}" in names for names in taken):
            number += 1
        self.invented.add(f"{hint}/{number}")
        return f"{hint}/{number}"

    def new_value(self, hint: str, dtype: int, like: str) -> str:
        """Name of a new value with the shape of another one, or of unknown shape ("")."""
        name = self.new_name(hint)
        t = onnx.TypeProto.Tensor()
        if like in self._types:
            t.CopyFrom(self._types[like])
        t.elem_type = dtype
        self._types[name] = t
        return name

    def dequantized(self, name: str) -> Scaled | None:
        """What a value was before its DQ, if that has a constant scale in float32."""
        node = self.producer(name)
        if not is_dq(node) or attribute(node, "block_size", 0):
            return None
        return self._scaled(node, node.input[0], self.dtype(node.input[0]))

    def quantizer(self, name: str) -> onnx.NodeProto | None:
        """The Q that is all that reads a value, if its scale is one constant in float32."""
        if not self.is_used_once(name) or not is_q(self.consumers(name)[0]):
            return None
        node = self.consumers(name)[0]
        q = self.quantized(node)
        return node if node.input[0] == name and q is not None and q.scale.size == 1 else None

    def quantized(self, node: onnx.NodeProto) -> Scaled | None:
        """What a Q gives, if its scale is constant and float32."""
        if attribute(node, "block_size", 0) or attribute(node, "precision", FLOAT) != FLOAT:
            return None
        return self._scaled(node, node.output[0], self.dtype(node.output[0]))

    def _scaled(self, node, values, dtype):
        scale = self.array(node.input[1])
        if scale is None or scale.dtype != np.float32 or dtype not in INTEGERS:
            return None
        if not (scale > 0).all():  # else the order of the integers is not that of the floats
            return None
        zero = np.zeros(scale.shape, helper.tensor_dtype_to_np_dtype(dtype))
        if len(node.input) > 2 and node.input[2]:
            zero = self.array(node.input[2])
            if zero is None:
                return None
        return Scaled(values, dtype, scale, zero, attribute(node, "axis", 1))

    def parameters(self, q: Scaled, hint: str) -> list[str]:
        """Names of scale and zero point, as scalars where there is one."""
        shape = () if q.scale.size == 1 else (-1,)
        return [self.constant(v.reshape(shape), hint) for v in (q.scale, q.zero)]

    def operand(self, q: Scaled, hint: str) -> list[str]:
        """Names of integers, their scale and zero point."""
        return [q.values, *self.parameters(q, hint)]

    def takes(self, op: str, dtype: int, i: int = 0) -> bool:
        """True if the i-th input of ONNX's operator may have a dtype at the model's opset."""
        try:
            kind = defs.get_schema(op, self.opset, "").inputs[i].types
        except defs.SchemaError:
            return False
        return f"tensor({onnx.TensorProto.DataType.Name(dtype).lower()})" in kind

    def replace(self, old: onnx.NodeProto, new: Iterable[onnx.NodeProto]) -> None:
        """Puts nodes in the place of one; what only that one read stays until finish()."""
        at = next(i for i, node in enumerate(self.nodes) if node is old)
        new = list(new)
        for name in filter(None, old.input):
            readers = self._consumers[name]
            del readers[next(i for i, node in enumerate(readers) if node is old)]
        for name in old.output:
            self._producer.pop(name, None)
        self.nodes[at : at + 1] = new
        for node in new:
            self._import(node.domain)
            self._link(node)

    def fuse(
        self, node: onnx.NodeProto, quantize: onnx.NodeProto, new: Iterable[onnx.NodeProto]
    ) -> None:
        """Puts nodes in the place of a node and of the Q that alone reads its result."""
        self.replace(quantize, new)
        self.replace(node, [])

    def rename(self, node: onnx.NodeProto, old: str, new: str) -> None:
        """Lets a node read another value instead."""
        for i, name in enumerate(node.input):
            if name == old:
                node.input[i] = new
                self._consumers[old].remove(node)
                self._consumers[new].append(node)

    def redirect(self, old: str, new: str) -> None:
        """Lets all nodes read another value instead."""
        for reader in self.consumers(old).copy():
            self.rename(reader, old, new)

    def rename_output(self, old: str, new: str) -> None:
        """Gives a value that a node computes another name, everywhere."""
        node = self._producer.pop(old)
        node.output[list(node.output).index(old)] = new
        self._producer[new] = node
        self.redirect(old, new)

    def _import(self, domain):
        if domain and not any(o.domain == domain for o in self.model.opset_import):
            self.model.opset_import.append(helper.make_opsetid(domain, 1))

    def drop_unused(self) -> bool:
        """Takes out nodes that nobody reads; True if there were any."""
        before = len(self.nodes)
        for node in reversed(self.nodes.copy()):
            if not any(self.is_kept(name) or self.consumers(name) for name in node.output):
                self.replace(node, [])
        return len(self.nodes) < before

    def message(self) -> onnx.ModelProto:
        """Return the model as it is now, with the types that are known."""
        model = copied(self.model)
        set_all(model.graph.node, self.nodes)
        made = [name for node in self.nodes for name in node.output if name in self._types]
        outputs = {o.name for o in model.graph.output}
        infos = [onnx.ValueInfoProto(name=name) for name in made if name not in outputs]
        for info in infos:
            info.type.tensor_type.CopyFrom(self._types[info.name])
        set_all(model.graph.value_info, infos)
        return model

    def finish(self) -> None:
        """Writes the nodes to the model, without constants that nobody reads."""
        self.drop_unused()
        graph = self.model.graph
        nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in self.nodes]
        del graph.node[:], graph.value_info[:]
        graph.node.extend(nodes)
        unread = [
            t for t in graph.initializer if not (self._consumers[t.name] or self.is_kept(t.name))
        ]
        for t in unread:
            graph.initializer.remove(t)


def _captured(graph: onnx.GraphProto) -> Iterable[str]:
    """Names that subgraphs read."""
    bodies: Sequence = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    for body in bodies:
        for node in body.node:
            yield from node.input
        yield from (o.name for o in body.output)
        yield from _captured(body)
