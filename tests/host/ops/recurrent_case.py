"""Draw nodes of LSTM, GRU and RNN with all their options; compute onnxruntime's outputs."""

from functools import cache

import numpy as np
from onnx import helper

from tests.host.device import small
from tools.converter.convert import convert
from tools.converter.reference import golden
from tools.harness import Job

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
FUNCTIONS = {"LSTM": 3, "GRU": 2, "RNN": 1}
OUTPUTS = ["Y", "Y_h", "Y_c"]
INPUTS = ["X", "W", "R", "B", "lens", "h0", "c0", "P"]
CASES_AN_OPERATOR = 60

# How many values each function takes from activation_alpha and activation_beta.
ACTIVATIONS = {
    "Relu": (0, 0),
    "Tanh": (0, 0),
    "Sigmoid": (0, 0),
    "Affine": (1, 1),
    "LeakyRelu": (1, 0),
    "ThresholdedRelu": (1, 0),
    "ScaledTanh": (1, 1),
    "HardSigmoid": (1, 1),
    "Elu": (1, 0),
    "Softsign": (0, 0),
    "Softplus": (0, 0),
}


def batch_first(values, layout):
    """Return inputs or outputs with the batch as the outermost dimension, or back."""
    swapped = {"X", "h0", "c0", "Y_h", "Y_c"} if layout else set()
    out = {k: np.swapaxes(v, 0, 1) if k in swapped else v for k, v in values.items()}
    if layout and "Y" in values:
        out["Y"] = values["Y"].transpose(2, 0, 1, 3)
    return {k: np.ascontiguousarray(v) for k, v in out.items()}


def model_of(op, values, constant, outputs, opset, attributes):
    """Return a model of one recurrent node.

    Args:
        op: the operator.
        values: arrays by name of the input.
        constant: names of inputs that are initializers.
        outputs: names of the outputs, "" for an omitted one.
        opset: version of ai.onnx.
        attributes: attributes of the node.
    """
    names = [n if n in values else "" for n in INPUTS[: 8 if op == "LSTM" else 6]]
    node = helper.make_node(op, names, outputs, **attributes)
    infos = [small.value(n, v.shape, v.dtype) for n, v in values.items() if n not in constant]
    outs = [small.value(n, [None] * (4 if n == "Y" else 3)) for n in outputs if n]
    return small.model([node], infos, outs, opset, **{n: values[n] for n in constant})


def by_onnxruntime(op, values, outputs, opset, attributes):
    """Return onnxruntime's outputs by name, in layout 0, the only one that it has.

    Args:
        op: the operator.
        values: arrays by name of the input.
        outputs: names of the outputs.
        opset: version of ai.onnx.
        attributes: attributes of the node.
    """
    model = model_of(op, values, [], outputs, opset, attributes)
    return dict(zip(outputs, golden.reference(model, list(values.values())), strict=True))


class Case:
    """A random choice of options, with the expected outputs."""

    def __init__(self, op, seed):
        self.op = op
        self.rng = np.random.default_rng([seed, GATES[op]])
        self.seed = seed
        self.opset = int(self.pick(7, 14, 22))
        self.attributes = {"direction": self.pick("forward", "reverse", "bidirectional")}
        self.directions = 2 if self.attributes["direction"] == "bidirectional" else 1
        self.values = self.make_values()
        self.constant = [n for n in self.values if n != "X" and self.pick(True, True, False)]
        self.outputs = [n if self.pick(True, True, False) else "" for n in OUTPUTS]
        self.outputs = self.outputs[: 3 if op == "LSTM" else 2]
        if not any(self.outputs):
            self.outputs[0] = "Y"
        self.choose_attributes()

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def floats(self, *shape):
        return self.rng.normal(0, 0.5, shape).astype(np.float32)

    def make_values(self):
        seq, batch = int(self.pick(1, 4, 6)), int(self.pick(1, 3))
        width, hidden = int(self.pick(1, 3, 40)), int(self.pick(1, 2, 5))
        d, rows = self.directions, GATES[self.op] * hidden
        self.attributes["hidden_size"] = hidden
        values = {"X": self.floats(seq, batch, width)}
        values |= {"W": self.floats(d, rows, width), "R": self.floats(d, rows, hidden)}
        maybe = {"B": self.floats(d, 2 * rows), "h0": self.floats(d, batch, hidden)}
        maybe["lens"] = self.rng.integers(0, seq + 1, batch).astype(np.int32)
        if self.op == "LSTM":
            maybe |= {"c0": self.floats(d, batch, hidden), "P": self.floats(d, 3 * hidden)}
        return values | {n: v for n, v in maybe.items() if self.pick(True, False)}

    def choose_attributes(self):
        if self.pick(True, False):
            self.attributes["clip"] = float(self.pick(0.25, 1.0))
        if self.op == "LSTM" and self.pick(True, False):
            self.attributes["input_forget"] = 1
        if self.op == "GRU" and self.pick(True, False):
            self.attributes["linear_before_reset"] = 1
        if self.pick(True, False):
            count = FUNCTIONS[self.op] * self.directions
            names = [self.pick(*ACTIVATIONS) for _ in range(count)]
            self.attributes["activations"] = names
            for i, key in enumerate(("activation_alpha", "activation_beta")):
                n = sum(ACTIVATIONS[name][i] for name in names)
                if n:
                    self.attributes[key] = [float(v) for v in self.rng.uniform(0.1, 0.9, n)]

    def run(self):
        """Set job and expected (by name); odd seeds from opset 14 on put the batch first."""
        layout = int(self.opset >= 14 and self.seed % 2)
        every = OUTPUTS[: len(self.outputs)]
        expected = by_onnxruntime(self.op, self.values, every, self.opset, self.attributes)
        self.largest = max(np.abs(v).max() for v in expected.values())
        expected = {n: v for n, v in expected.items() if n in self.outputs}
        self.expected = batch_first(expected, layout)
        values = batch_first(self.values, layout)
        attributes = {**self.attributes, **({"layout": 1} if layout else {})}
        model = model_of(self.op, values, self.constant, self.outputs, self.opset, attributes)
        converted = convert(model)
        inputs = [values[t.name].tobytes() for t in converted.graph.inputs]
        self.job = Job(converted.data, [inputs])
        return self

    def __str__(self):
        about = [self.op, f"opset {self.opset}", {n: v.shape for n, v in self.values.items()}]
        return f"{about} constant {self.constant} -> {self.outputs} {self.attributes}"


@cache
def cases(op):
    return [Case(op, seed).run() for seed in range(CASES_AN_OPERATOR)]


def error_of(case, name, got):
    """Return the largest error of an output, relative to the largest of all outputs."""
    expected = case.expected[name]
    got = np.frombuffer(bytes(got), np.float32).reshape(expected.shape)
    return np.abs(got - expected).max() / max(case.largest, 1e-30)
