"""Random graphs of recurrent networks: unrolled by an exporter, or in a Scan."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

from .builder import Builder
from .dense import weights


class Network:
    """One recurrent layer: its cell, how its gates are computed, and where its steps come from."""

    def __init__(self, b: Builder):
        self.b = b
        self.rows, self.n_steps = b.choice(1, 1, 2, 3), b.choice(3, 4, 5, 2)
        self.k, self.h = b.integer(1, 4), b.integer(2, 4)
        self.kind = b.choice("lstm", "lstm", "gru", "gru", "rnn")
        n = {"lstm": 4, "gru": 3, "rnn": 1}[self.kind] * self.h
        self.w, self.r = b.randn(self.k, n), b.randn(self.h, n)
        self.bias, self.second = b.randn(n), b.randn(n)
        self.form = b.choice("matmul", "gemm", "joined", "turned")
        self.order = b.order(4)
        self.function = b.choice("Tanh", "Relu")
        self.gate = b.choice("Sigmoid", "Sigmoid", "HardSigmoid")
        self.linear_before_reset, self.is_torch = b.chance(0.6), b.chance(0.5)
        self.is_turned = b.chance(0.3)
        self.other = b.choice(*[0] * 8, 1)

    def steps(self, x: str, axis: int, length: int) -> list[str]:
        """Return (rows, k) of each position of an axis of x."""
        b, kind = self.b, self.b.choice("split", "gather", "kept", "slice")
        if kind == "split":
            return [b.squeeze(p, axis) for p in b.split(x, axis, [1] * length)]
        if kind == "gather":
            return [b.gather(x, axis, t) for t in range(length)]
        if kind == "kept":
            return [
                b.squeeze(b.gather(x, axis, t - length * (t > 1), True), axis)
                for t in range(length)
            ]
        results = [b.slice(x, axis, t, t + 1) for t in range(length)]
        return [b.reshape(piece, self.rows, self.k) for piece in results]

    def product(self, x: str, h: str, add: float = 0.0):
        """Return x @ W + h @ R + bias + add in the network's own form."""
        b, bias = self.b, self.bias + np.float32(add)
        if self.form == "joined":
            w = np.concatenate([self.w, self.r])
            return b.op("Gemm", b.op("Concat", x, h, axis=b.axis(1, 2)), w, bias)
        if self.form == "gemm":
            return b.op("Add", b.op("Gemm", x, self.w, bias), b.op("Gemm", h, self.r, self.second))
        if self.form == "turned":
            both = b.op("Gemm", x, self.w.T.copy(), bias, transB=1)
            return b.op("Add", both, b.op("Gemm", h, self.r.T.copy(), transB=1))
        both = b.op("Add", b.op("MatMul", x, self.w), b.op("MatMul", h, self.r))
        return b.op("Add", both, bias)

    def cut(self, z: str, n: int) -> list[str]:
        b = self.b
        if b.chance(0.3):
            return [b.slice(z, 1, i * self.h, (i + 1) * self.h) for i in range(n)]
        return b.split(z, 1, [self.h] * n)

    def cell(self, x: str, h: str, c: str, add: float = 0.0) -> tuple[str, str]:
        return getattr(self, f"_{self.kind}")(x, h, c, add)

    def _sigmoid(self, x):
        return self.b.op(self.gate, x)

    def _rnn(self, x, h, c, add):
        return self.b.op(self.function, self.product(x, h, add)), c

    def _lstm(self, x, h, c, add):
        b = self.b
        pieces = self.cut(self.product(x, h, add), 4)
        i, f, o, g = (pieces[k] for k in self.order)
        if b.chance(0.3):
            f = b.op("Add", f, np.float32([1]))
            f = b.op("Add", f, np.float32([-1]))
        i, f, o = self._sigmoid(i), self._sigmoid(f), self._sigmoid(o)
        c = b.op("Add", b.op("Mul", f, c), b.op("Mul", i, b.op("Tanh", g)))
        return b.op("Mul", o, b.op("Tanh", c)), c

    def _gru(self, x, h, c, add):
        b, n = self.b, self.h
        ix, hx = (
            b.op("Gemm", x, self.w, self.bias + np.float32(add)),
            b.op("Gemm", h, self.r, self.second),
        )
        zr_x, n_x = b.split(ix, 1, [2 * n, n])
        zr_h, n_h = b.split(hx, 1, [2 * n, n])
        z, reset = b.split(self._sigmoid(b.op("Add", zr_x, zr_h)), 1, [n, n])
        if self.linear_before_reset:
            new = b.op("Tanh", b.op("Add", n_x, b.op("Mul", n_h, reset)))
        else:
            part = b.op("MatMul", b.op("Mul", reset, h), self.r[:, 2 * n :].copy())
            new = b.op("Tanh", b.op("Add", n_x, part))
        if self.is_turned:
            h, new = new, h
        if self.is_torch:
            return b.op("Add", b.op("Mul", b.op("Sub", h, new), z), new), c
        rest = b.op("Mul", b.op("Sub", np.float32([1]), z), new)
        return b.op("Add", b.op("Mul", z, h), rest), c

    def state(self) -> str:
        b = self.b
        shape = b.choice([self.rows, self.h], [self.rows, self.h], [1, self.h])
        zeros = np.zeros(shape, np.float32)
        return b.choice(b.constant(zeros), b.constant(zeros), b.input([self.rows, self.h]))


def _whole(b, network, results):
    """Return the last result of a network, a sum of two, or all of them as one tensor."""
    kind = b.choice("last", "last", "stacked", "joined", "some")
    if kind == "last":
        return results[-1]
    if kind == "some":
        return b.op("Add", b.choice(*results), b.choice(*results))
    order = results if b.chance(0.8) else results[::-1]
    axis = b.choice(0, 1, 2)
    if kind == "stacked":
        pieces = [b.unsqueeze(y, axis) for y in order]
        return b.op("Concat", *pieces, axis=b.axis(axis, 3))
    axis = b.choice(0, 1)
    return b.op("Concat", *order, axis=b.axis(axis, 2))


def unrolled(b: Builder) -> None:
    network = Network(b)
    n, axis = network.n_steps, b.choice(0, 1)
    shape = [n, network.rows, network.k] if axis == 0 else [network.rows, n, network.k]
    x = b.source(shape)
    steps = network.steps(x, axis, n)
    order = b.choice(list(range(n)), list(range(n)), list(range(n))[::-1], b.order(n))
    h, c = network.state(), network.state()
    results, odd = [], b.integer(0, n - 1)
    for i, t in enumerate(order):
        h, c = network.cell(steps[t], h, c, 0.5 * network.other * (i == odd))
        results.append(h)
    if network.kind == "lstm" and b.chance(0.3):
        b.op("Tanh", c)
    if b.chance(0.2):
        results = [results[i] for i in range(n)]
        b.op("Neg", results[b.integer(0, n - 1)])
    y = _whole(b, network, results)
    if b.chance(0.3) and len(b.shape(y)) == 2:
        y = b.op("Gemm", y, weights(b, b.shape(y)[1], 2))
    b.behind(y)


def alone(b: Builder) -> None:
    """Add a cell whose input is no step of a sequence; its states may feed the next cell."""
    network = Network(b)
    x, h, c = b.source([network.rows, network.k]), network.state(), network.state()
    for _ in range(b.integer(1, 2)):
        h, c = network.cell(x, h, c)
    if b.chance(0.5):
        b.op(b.choice("Neg", "Tanh"), c)
    b.behind(h)


def last_steps(b: Builder) -> None:
    """Add a recurrent operator of whose steps only some are read, after moves of axes."""
    op, t = b.choice("LSTM", "GRU", "RNN"), b.integer(1, 4)
    rows, k, n = b.choice(1, 1, 2), b.integer(1, 3), b.integer(1, 3)
    direction = b.choice("forward", "reverse", "bidirectional", "bidirectional")
    d, gates = 1 + (direction == "bidirectional"), {"LSTM": 4, "GRU": 3, "RNN": 1}[op] * n
    inputs = [b.source([t, rows, k]), b.randn(d, gates, k), b.randn(d, gates, n)]
    inputs += [b.randn(d, 2 * gates), "", b.randn(d, rows, n)]
    y, state = b.op(op, *inputs, n=2, direction=direction, hidden_size=n)
    if b.chance(0.15):
        b.op("Neg", b.choice(y, state))
    if b.chance(0.4):
        axis = b.choice(0, 1)
        places = [b.choice(0, -1) for _ in range(b.integer(1, 2))]
        y = b.transpose(y, [0, 2, 1, 3]) if axis else b.reshape(y, t, rows * d, n)
        b.behind(b.op("Concat", *[b.gather(y, 0, i) for i in places], axis=axis))
        return
    y = b.transpose(y, [2, 0, 1, 3])
    if rows == 1 or d == 1:
        y = b.reshape(y, rows, t, d * n)
    b.behind(b.gather(y, 1, b.choice(0, t - 1, t - 1, -1), b.chance(0.3)))


def scans(b: Builder) -> None:
    """Add a Scan of a recurrent cell; another Builder makes the body."""
    network = Network(b)
    t, rows = b.integer(1, 4), network.rows
    inner = Builder(0, (b.opset,))
    inner.rng, network.b = b.rng, inner
    x, h, c = (inner.input([rows, k]) for k in (network.k, network.h, network.h))
    out_h, out_c = network.cell(x, h, c)
    states = [(h, out_h)]
    if network.kind == "lstm":
        states.insert(b.choice(0, 1), (c, out_c))
    if b.chance(0.3):
        states.insert(b.integer(0, len(states)), _count(inner))
    results = [out_h] * b.choice(1, 1, 1, 2)
    if b.chance(0.15):
        results.append(inner.op("Neg", out_h))
    outside = [
        b.input(inner.shape(before))
        if b.chance(0.6)
        else b.constant(np.zeros(inner.shape(before), np.float32))
        for before, _ in states
    ]
    direction = b.choice(0, 0, 1)
    directions = {
        "scan_input_directions": [direction],
        "scan_output_directions": [direction if b.chance(0.9) else 1 - direction] * len(results),
    }
    axis = b.choice(0, 0, 0, 0, 1)
    attributes = directions if direction or b.chance(0.3) else {}
    sequence = b.source([t, rows, network.k] if not axis else [rows, t, network.k])
    attributes |= {"scan_input_axes": [axis]} if axis or b.chance(0.3) else {}
    afters = [after for _, after in states] + results
    copies = [
        helper.make_node("Identity", [name], [f"{name}/{i}"]) for i, name in enumerate(afters)
    ]
    infos = [_named(inner.types[name], f"{name}/{i}") for i, name in enumerate(afters)]
    arguments = [_named(inner.types[name], name) for name in [s for s, _ in states] + [x]]
    body = helper.make_graph(
        [*inner.nodes, *copies], "body", arguments, infos, list(inner.constants.values())
    )
    outputs = [f"scan_{i}" for i in range(len(afters))]
    node = helper.make_node(
        "Scan", [*outside, sequence], outputs, "Scan", body=body, num_scan_inputs=1, **attributes
    )
    for i, (name, after) in enumerate(zip(outputs, afters, strict=True)):
        shape = inner.shape(after)
        shape = shape if i < len(states) else [t, *shape]
        b.types[name] = helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    b.nodes.append(node)
    read = [name for name in outputs if b.chance(0.7)] or outputs[-1:]
    b.unread |= {*outputs} - {*read}
    for name in read:
        b.behind(name, 1)


def _count(inner):
    before = inner.input([])
    return before, inner.op("Add", before, np.float32(1))


def _named(info, name):
    copy = onnx.ValueInfoProto()
    copy.CopyFrom(info)
    copy.name = name
    return copy
