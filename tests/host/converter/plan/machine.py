"""A machine that runs a graph's steps on bytes; a plan must not change the result.

Its kernels mix the bytes that they read, in the order in which real kernels read and write:

    any     reads all inputs, fills the scratch, then writes all outputs
    items   reads element i of each input, then writes element i of the output
    move    copies one piece, as the device's kernel of that name
"""

from __future__ import annotations

import hashlib
import random

from tools.converter.ir import Graph, Step, Tensor, walk
from tools.converter.steps.overlap import element_leads

FLOAT, INT8, DOUBLE = 1, 3, 11


class Arena:
    """Memory that tensors share as the plan's offsets say."""

    def __init__(self, nbytes):
        self.bytes = bytearray(b"\xa5" * nbytes)

    def read(self, t, at=0, n=None):
        first = t.offset + at
        return bytes(self.bytes[first : first + (t.nbytes if n is None else n)])

    def write(self, t, at, data):
        self.bytes[t.offset + at : t.offset + at + len(data)] = data


class Apart:
    """A memory in which each root tensor has separate bytes."""

    def __init__(self):
        self.of = {}

    def read(self, t, at=0, n=None):
        memory = self.of.setdefault(t.root, bytearray(b"\xa5" * t.root.nbytes))
        return bytes(memory[t.start + at : t.start + at + (t.nbytes if n is None else n)])

    def write(self, t, at, data):
        self.read(t)
        self.of[t.root][t.start + at : t.start + at + len(data)] = data


def run(graph: Graph, memory) -> list[bytes]:
    """Run a graph's steps in a memory; return the outputs' bytes."""
    for i, t in enumerate(graph.inputs):
        memory.write(t, 0, mixed(t.nbytes, bytes([i])))
    for step in walk(graph.steps):
        _KERNELS[step.kernel](memory, step, step.outputs[0].name.encode())
    return [memory.read(t) for t in graph.outputs]


def mixed(nbytes: int, *parts: bytes) -> bytes:
    return hashlib.shake_128(b"|".join(parts)).digest(nbytes)


def _any(memory, step, seed):
    parts = [memory.read(t) for t in step.inputs]
    for t in step.scratch:
        memory.write(t, 0, b"\x5a" * t.nbytes)
    for k, t in enumerate(step.outputs):
        memory.write(t, 0, mixed(t.nbytes, seed, bytes([k]), *parts))


def _elements(memory, step, seed):
    out = step.outputs[0]
    for i in range(out.nelem):
        parts = [memory.read(t, i % t.nelem * t.itemsize, t.itemsize) for t in step.inputs]
        memory.write(out, i * out.itemsize, mixed(out.itemsize, seed, *parts))


def _move(memory, step, seed):
    unit, [count] = step["unit"], step["dims"]
    source, target = step["x_first"] * unit, step["out_first"] * unit
    [x], [out] = step.inputs, step.outputs
    memory.write(out, target, memory.read(x, source, count * unit))


_KERNELS = {"any": _any, "items": _elements, "move": _move}


def elementwise(out: Tensor, *inputs: Tensor) -> Step:
    return Step("items", list(inputs), [out], [], over=element_leads(out, inputs))


def move(x: Tensor, out: Tensor, n: int, source: int = 0, target: int = 0) -> Step:
    """Return a step that copies n elements from x[source:] to out[target:]."""
    return Step("move", [x], [out], [x.itemsize, 1, n, 1, 1, source, target])


def random_graph(seed: int, n_steps: int) -> Graph:
    rng = random.Random(seed)
    tensors = [_random_tensor(rng, "x"), _random_tensor(rng, "y")]
    inputs, steps = list(tensors), []
    for i in range(n_steps):
        chosen = rng.sample(tensors[-5:], min(len(tensors), rng.randint(1, 3)))
        out = _random_tensor(rng, f"t{i}")
        kind = rng.choice(["any", "any", "items", "items", "items", "concat", "slice"])
        if kind == "concat":
            parts = [t for t in chosen if t.dtype == chosen[0].dtype]
            out = Tensor(out.name, chosen[0].dtype, (sum(t.nelem for t in parts),))
            at = 0
            for t in parts:
                steps.append(move(t, out, t.nelem, 0, at))
                at += t.nelem
        elif kind == "slice":
            x = chosen[0]
            out = Tensor(out.name, x.dtype, (rng.randint(1, x.nelem),))
            steps.append(move(x, out, out.nelem, rng.randint(0, x.nelem - out.nelem)))
        elif kind == "items":
            out = Tensor(out.name, out.dtype, chosen[0].shape)
            steps.append(elementwise(out, *[t for t in chosen if t.nelem in (1, out.nelem)]))
        else:
            scratch = [_random_tensor(rng, f"s{i}")] if rng.random() < 0.3 else []
            steps.append(Step("any", chosen, [out], [], scratch))
        tensors.append(out)
        if rng.random() < 0.2:
            tensors.append(Tensor(f"v{i}", out.dtype, (1, *out.shape), alias=out))
    outputs = [tensors[-1]] + ([rng.choice(tensors[2:])] if len(tensors) > 2 else [])
    return Graph(inputs, outputs, steps)


def _random_tensor(rng, name):
    return Tensor(name, rng.choice([FLOAT, INT8, DOUBLE]), (rng.choice([1, 7, 16, 33]),))
