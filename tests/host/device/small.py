"""Small models for the tests of the device's core, and how these tests run a script."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host.device.binfile import File
from tools import package
from tools.converter.convert import Options, convert
from tools.converter.reference import golden
from tools.micropython import TargetTimeout

ROOT = Path(__file__).parents[3]
SCRIPTS = ROOT / "tests" / "device"


def run(target, script, files=None, args=(), timeout=300, **options) -> str:
    """What a script printed that has the package and these files beside it; it must end well."""
    files = {"mpconnxr": package.folder(), **(files or {})}
    done = target.run(script, files=files, args=args, timeout=timeout, **options)
    assert done.returncode == 0 and not done.stderr, done.stdout[-2000:] + done.stderr
    return done.stdout


def lines(target, script, **files):
    """What a script printed, by lines; each keyword is a file NAME.bin."""
    files = {f"{name}.bin": data for name, data in files.items()}
    return run(target, script, files).splitlines()


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, opset=17, **constants) -> onnx.ModelProto:
    """nodes: (operator, inputs, outputs, attributes); constants: arrays by name."""
    protos = [helper.make_node(op, i.split(), o.split(), **attrs) for op, i, o, attrs in nodes]
    initializers = [numpy_helper.from_array(v, name) for name, v in constants.items()]
    graph = helper.make_graph(protos, "small", inputs, outputs, initializers)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, producer_name="small"
    )


def floats(*shape, seed=1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def relu(shape=(2, 3), dtype=TensorProto.FLOAT) -> onnx.ModelProto:
    nodes = [("Relu", "x", "y", {})]
    return model(nodes, [value("x", shape, dtype)], [value("y", shape, dtype)])


def mixed() -> onnx.ModelProto:
    """Conv, Relu, MaxPool, Transpose, Gemm: a step of each kind that has a loop of its own."""
    nodes = [
        ("Conv", "x w b", "c", {"pads": [1, 1, 1, 1], "group": 2}),
        ("Relu", "c", "r", {}),
        ("MaxPool", "r", "p", {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("Transpose", "p", "t", {"perm": [0, 3, 1, 2]}),
        ("Reshape", "t flat", "f", {}),
        ("Gemm", "f m n", "y", {}),
    ]
    return model(
        nodes,
        [value("x", (1, 2, 5, 6))],
        [value("y", (1, 3))],
        w=floats(4, 1, 3, 3),
        b=floats(4),
        flat=np.array([1, -1], np.int64),
        m=floats(24, 3),
        n=floats(3),
    )


def binary(proto: onnx.ModelProto, **options) -> bytes:
    """The model file, without names and golden vector by default."""
    options.setdefault("strip", True)
    return convert(proto, Options(**options)).data


@dataclass
class Damage:
    """What tests/device/hostile.py found. slowest: milliseconds of one load and run."""

    ok: bool
    refused: int
    ran: int
    slowest: int
    output: str

    def __str__(self):
        return self.output


def damage(target, data: bytes, mode: str, amount: str, timeout: float = 300, source="memory"):
    """Runs hostile.py on a file: a Damage. A hang or crash is reported with its place.

    source: "memory", or "file" to have weights streamed.
    """
    if mode in ("words", "several"):
        data = File(data).wide()
    files = {"mpconnxr": package.folder(), "model.bin": data}
    script = SCRIPTS / "hostile.py"
    try:
        done = target.run(script, files=files, args=(mode, amount, source), timeout=timeout)
    except TargetTimeout as error:
        return Damage(False, 0, 0, 0, "hangs at " + error.stdout[-100:])
    lines = done.stdout.splitlines()
    if done.returncode or not lines[-1].startswith("refused"):
        bad = [line for line in lines if line.startswith("BAD")]
        return Damage(False, 0, 0, 0, "; ".join(bad[:5] + lines[-2:]) + done.stderr[-500:])
    _, refused, _, ran, _, slowest, _ = lines[-1].split()
    return Damage(True, int(refused), int(ran), int(slowest), done.stdout[-200:])


def moving() -> onnx.ModelProto:
    """Relu, MaxPool, Transpose, Slice, Concat: all of it without float arithmetic."""
    nodes = [
        ("Relu", "x", "r", {}),
        ("MaxPool", "r", "p", {"kernel_shape": [2, 2], "strides": [1, 2]}),
        ("Transpose", "p", "t", {"perm": [0, 2, 3, 1]}),
        ("Slice", "t starts ends axes steps", "s", {}),
        ("Concat", "s t", "y", {"axis": 1}),
    ]
    ints = {"starts": [3, 0], "ends": [0, 3], "axes": [1, 2], "steps": [-2, 1]}
    constants = {name: np.array(v, np.int64) for name, v in ints.items()}
    inputs, outputs = [value("x", (1, 3, 5, 6))], [value("y", (1, 6, 3, 3))]
    return model(nodes, inputs, outputs, **constants)


def expected(proto: onnx.ModelProto, *inputs: np.ndarray) -> list[np.ndarray]:
    """Outputs as onnxruntime computes them, graph optimizations off."""
    found = golden.reference(proto, inputs)
    if found is None:
        pytest.skip("onnxruntime is not installed")
    return found
