"""Language models that decode one token a run, and an encoder, as PyTorch's exporter writes them.

Caches of keys and values are the state of the language models.

    python -m tests.host.exporters.language_models FOLDER

writes them as ONNX files, with random weights and the sizes of llama2.c's stories260K (260,000
weights, opset 24), so that `mpconnxr bench` can count their instructions:

    mpconnxr bench --no-c --strip --target T $(cat FOLDER/stories.states) \\
        --bind position=FOLDER/position.npy FOLDER/stories.onnx

Each run takes a token and its position, and returns the scores of the next one. `states` names the
outputs that are inputs of the next run, as `--state` takes them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclass(frozen=True)
class Sizes:
    """Sizes and layout of a model.

    Attributes:
        room: tokens that the cache holds.
        is_split: caches are (1, heads, room, head) in place of (1, room, heads * head).
        weights: "float32", "int8" (a scale a column) or "int4" (a scale for each `block` weights
            of a column), as DequantizeLinear takes them.
    """

    dim: int = 64
    layers: int = 5
    heads: int = 8
    groups: int = 4
    hidden: int = 172
    words: int = 512
    room: int = 512
    is_split: bool = False
    weights: str = "float32"
    block: int = 16
    seed: int = 0

    @property
    def head(self) -> int:
        return self.dim // self.heads


MODELS = {
    "stories": Sizes(),
    "stories_split": Sizes(is_split=True),
    "stories_int8": Sizes(weights="int8"),
    "stories_int4": Sizes(weights="int4"),
}
TINY = {"dim": 16, "layers": 2, "heads": 4, "groups": 2, "hidden": 12, "words": 20, "room": 8}


POSITION = 100  # of the token that is counted
ENCODER = Sizes(layers=2, heads=4, groups=4, hidden=128, room=32)


def states(sizes: Sizes) -> dict[str, str]:
    """Return inputs by name, with the outputs that they are in the next run."""
    return {
        f"{kind}{i}": f"{kind}{i}_next" for i in range(sizes.layers) for kind in ("keys", "values")
    }


def build(sizes: Sizes) -> onnx.ModelProto:
    """Return the model: token int64 (1, 1), position int64 (1), caches -> scores, caches."""
    return _Builder(sizes).model()


def build_encoder(sizes: Sizes) -> onnx.ModelProto:
    """Return the encoder, whose input and output have the shape (1, room, dim)."""
    return _Encoder(sizes).model()


class _Builder:
    def __init__(self, sizes: Sizes):
        self.s = sizes
        self.random = np.random.default_rng(sizes.seed)
        self.nodes, self.constants = [], []

    def model(self):
        s = self.s
        self.const("one", np.ones(1, np.int64))
        self.add("Add", "position one", "length")
        self.const("axis", np.zeros(1, np.int64))
        self.add("Unsqueeze", "position axis", "places")
        turns = np.arange(s.room)[:, None] / 10000 ** (np.arange(0, s.head, 2) / s.head)
        self.const("cos", np.cos(turns).astype(np.float32))
        self.const("sin", np.sin(turns).astype(np.float32))
        self.const("embedding", self.normal(s.words, s.dim))
        self.add("Gather", "embedding token", "x")
        x = "x"
        for i in range(s.layers):
            x = self.attention(x, i)
            x = self.feed_forward(x, i)
        x = self.norm(x, "last_norm")
        self.product(x, "classifier", s.dim, s.words, "scores")
        return self.finished()

    def finished(self):
        s = self.s
        shape = [1, s.room, s.groups * s.head]
        if s.is_split:
            shape = [1, s.groups, s.room, s.head]
        value, names = helper.make_tensor_value_info, states(s)
        inputs = [value("token", TensorProto.INT64, [1, 1])]
        inputs.append(value("position", TensorProto.INT64, [1]))
        inputs += [value(name, TensorProto.FLOAT, shape) for name in names]
        outputs = [value("scores", TensorProto.FLOAT, [1, 1, s.words])]
        outputs += [value(name, TensorProto.FLOAT, shape) for name in names.values()]
        graph = helper.make_graph(self.nodes, "language", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 24)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=11)
        onnx.checker.check_model(model, full_check=True)
        return model

    def attention(self, x, i):
        s = self.s
        h = self.norm(x, f"norm{i}")
        q, k, v = (
            self.product(h, f"{name}{i}", s.dim, n * s.head)
            for name, n in (("query", s.heads), ("key", s.groups), ("value", s.groups))
        )
        if s.is_split:
            q, k, v = (self.split(y, n) for y, n in ((q, s.heads), (k, s.groups), (v, s.groups)))
        q, k = (
            self.add(
                *("RotaryEmbedding", f"{y} cos sin places", f"{y}_turned"),
                **({} if s.is_split else {"num_heads": n}),
            )
            for y, n in ((q, s.heads), (k, s.groups))
        )
        keys, values = (
            self.add("TensorScatter", f"{kind}{i} {y} position", f"{kind}{i}_next")
            for kind, y in (("keys", k), ("values", v))
        )
        heads = {} if s.is_split else {"q_num_heads": s.heads, "kv_num_heads": s.groups}
        y = self.add("Attention", f"{q} {keys} {values}    length", f"seen{i}", **heads)
        if s.is_split:
            y = self.add("Transpose", y, f"joined{i}", perm=[0, 2, 1, 3])
            y = self.reshaped(y, (0, 0, -1))
        y = self.product(y, f"out{i}", s.dim, s.dim)
        return self.add("Add", f"{x} {y}", f"attended{i}")

    def split(self, x, n):
        x = self.reshaped(x, (0, 0, n, self.s.head))
        return self.add("Transpose", x, f"{x}_split", perm=[0, 2, 1, 3])

    def reshaped(self, x, shape):
        self.const(f"{x}_shape", np.array(shape, np.int64))
        return self.add("Reshape", f"{x} {x}_shape", f"{x}_reshaped")

    def feed_forward(self, x, i):
        s = self.s
        h = self.norm(x, f"norm{i}_2")
        gate = self.product(h, f"gate{i}", s.dim, s.hidden)
        gate = self.add("Swish", gate, f"swish{i}")
        up = self.product(h, f"up{i}", s.dim, s.hidden)
        both = self.add("Mul", f"{gate} {up}", f"gated{i}")
        down = self.product(both, f"down{i}", s.hidden, s.dim)
        return self.add("Add", f"{x} {down}", f"fed{i}")

    def norm(self, x, name):
        scale = 1 + 0.1 * self.random.standard_normal(self.s.dim)
        self.const(name, scale.astype(np.float32))
        return self.add("RMSNormalization", f"{x} {name}", f"{name}_of", epsilon=1e-5)

    def product(self, x, name, k, n, out=None):
        w = self.normal(k, n) / np.float32(np.sqrt(k))
        kind = self.s.weights
        if kind == "float32":
            self.const(name, w)
        else:
            self.quantized(name, w, 7 if kind == "int4" else 127)
        return self.add("MatMul", f"{x} {name}", out or f"{name}_of")

    def quantized(self, name, w, most):
        """Add weights as integers -most .. most, and the DequantizeLinear that restores them.

        Scales are per column, or for 4 bits per block of rows and column.

        Args:
            name: name of the restored weights.
            w: float32 (rows, columns).
            most: 7 for int4, 127 for int8.
        """
        parts, axis = w[None], {"axis": 1}
        if most == 7 and len(w) % self.s.block == 0:
            parts, axis = w.reshape(-1, self.s.block, w.shape[1]), {"axis": 0}
            axis["block_size"] = self.s.block
        scales = np.abs(parts).max(1) / np.float32(most)
        levels = np.round(parts / scales[:, None]).reshape(w.shape).astype(np.int8)
        self.const(f"{name}_scale", scales if "block_size" in axis else scales[0])
        dtype = TensorProto.INT4 if most == 7 else TensorProto.INT8
        t = helper.make_tensor(f"{name}_levels", dtype, w.shape, levels.ravel().tolist())
        self.constants.append(t)
        self.add("DequantizeLinear", f"{name}_levels {name}_scale", name, **axis)

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def const(self, name, array):
        if all(t.name != name for t in self.constants):
            self.constants.append(numpy_helper.from_array(np.asarray(array), name))

    def add(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs.split(" "), [output], **attributes))
        return output


class _Encoder(_Builder):
    def model(self):
        s, x = self.s, "x"
        for i in range(s.layers):
            y = self.dense(self.attended(x, i), f"out{i}", s.dim, s.dim)
            x = self.centred(self.add("Add", f"{x} {y}", f"sum{i}"), f"norm{i}")
            y = self.gelu(self.dense(x, f"up{i}", s.dim, s.hidden))
            y = self.dense(y, f"down{i}", s.hidden, s.dim)
            x = self.centred(self.add("Add", f"{x} {y}", f"sum{i}_2"), f"norm{i}_2")
        value = helper.make_tensor_value_info
        sides = [[value(name, TensorProto.FLOAT, [1, s.room, s.dim])] for name in ("x", x)]
        graph = helper.make_graph(self.nodes, "encoder", *sides, self.constants)
        opsets = [helper.make_opsetid("", 18)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)

    def attended(self, x, i):
        s = self.s
        self.const("root", np.float32(s.head**-0.25))
        q, k, v = (self.dense(x, f"{name}{i}", s.dim, s.dim) for name in ("q", "k", "v"))
        q, k, v = (self.reshaped(y, (1, s.room, s.heads, s.head)) for y in (q, k, v))
        q, v = (self.add("Transpose", y, f"{y}_turned", perm=[0, 2, 1, 3]) for y in (q, v))
        k = self.add("Transpose", k, f"{k}_turned", perm=[0, 2, 3, 1])
        q, k = (self.add("Mul", f"{y} root", f"{y}_scaled") for y in (q, k))
        y = self.add("MatMul", f"{q} {k}", f"scores{i}")
        y = self.add("Softmax", y, f"shares{i}", axis=-1)
        y = self.add("MatMul", f"{y} {v}", f"seen{i}")
        y = self.add("Transpose", y, f"joined{i}", perm=[0, 2, 1, 3])
        return self.reshaped(y, (1, s.room, s.dim))

    def dense(self, x, name, k, n):
        y = self.product(x, name, k, n)
        self.const(f"{name}_bias", 0.1 * self.normal(n))
        return self.add("Add", f"{y} {name}_bias", f"{y}_sum")

    def centred(self, x, name):
        self.const(f"{name}_scale", 1 + 0.1 * self.normal(self.s.dim))
        self.const(f"{name}_bias", 0.1 * self.normal(self.s.dim))
        return self.add("LayerNormalization", f"{x} {name}_scale {name}_bias", name)

    def gelu(self, x):
        for name, number in (("root2", 2**0.5), ("one", 1.0), ("half", 0.5)):
            self.const(name, np.float32(number))
        y = self.add("Erf", self.add("Div", f"{x} root2", f"{x}_part"), f"{x}_erf")
        y = self.add("Mul", f"{x} {self.add('Add', f'{y} one', f'{y}_more')}", f"{y}_twice")
        return self.add("Mul", f"{y} half", f"{x}_gelu")


def main(argv: list[str] | None = None) -> int:
    [folder] = map(Path, sys.argv[1:] if argv is None else argv)
    folder.mkdir(parents=True, exist_ok=True)
    for name, sizes in MODELS.items():
        (folder / f"{name}.onnx").write_bytes(build(sizes).SerializeToString())
        pairs = states(sizes).items()
        options = "".join(f"--state {output}={name} " for name, output in pairs)
        (folder / f"{name}.states").write_text(options)
    (folder / "encoder.onnx").write_bytes(build_encoder(ENCODER).SerializeToString())
    np.save(folder / "position.npy", np.array([POSITION]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
