"""Small models for the tests of the device's core, and functions that run a script with them."""

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
    """Return the output of a script, which must succeed.

    Args:
        target: the target.
        script: its source.
        files: files for its folder, besides mpconnxr.
        args: its arguments.
        timeout: seconds.
        **options: as for Target.run.
    """
    files = {"mpconnxr": package.folder(), **(files or {})}
    completed = target.run(script, files=files, args=args, timeout=timeout, **options)
    assert completed.returncode == 0 and not completed.stderr, (
        completed.stdout[-2000:] + completed.stderr
    )
    return completed.stdout


def lines(target, script, **files):
    """Return the lines that a script printed; keywords are the contents of NAME.bin."""
    files = {f"{name}.bin": data for name, data in files.items()}
    return run(target, script, files).splitlines()


def value(name, shape, dtype=TensorProto.FLOAT):
    """Return the description of an input or output; the dtype is of onnx or numpy."""
    if not isinstance(dtype, int):
        dtype = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, opset=17, **constants) -> onnx.ModelProto:
    """Return a model.

    Args:
        nodes: protos, or (operator, inputs, outputs, attributes).
        inputs: the graph's inputs.
        outputs: the graph's outputs.
        opset: version of ai.onnx.
        **constants: arrays by name.
    """
    protos = [n if isinstance(n, onnx.NodeProto) else _node(*n) for n in nodes]
    initializers = [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()]
    graph = helper.make_graph(protos, "small", inputs, outputs, initializers)
    domains = sorted({n.domain for n in protos if n.domain})
    versions = [("", opset), *((d, 3 if d == "ai.onnx.ml" else 1) for d in domains)]
    opsets = [helper.make_opsetid(*version) for version in versions]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="small")


def _node(op, inputs, outputs, attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def floats(*shape, seed=1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def relu(shape=(2, 3), dtype=TensorProto.FLOAT) -> onnx.ModelProto:
    nodes = [("Relu", "x", "y", {})]
    return model(nodes, [value("x", shape, dtype)], [value("y", shape, dtype)])


def mixed() -> onnx.ModelProto:
    """Return Conv, Relu, MaxPool, Transpose and Gemm, whose kernels use different loops."""
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
    """Return the model file, without names and golden vector by default."""
    options.setdefault("strip", True)
    return convert(proto, Options(**options)).data


@dataclass
class Damage:
    """The result of tests/device/hostile.py.

    Attributes:
        slowest: milliseconds of one load and run.
    """

    ok: bool
    refused: int
    ran: int
    slowest: int
    output: str

    def __str__(self):
        return self.output


def damage(target, data: bytes, mode: str, amount: str, timeout: float = 300, source="memory"):
    """Damage a file in all ways of a mode, by hostile.py; report a hang or crash with its place.

    Args:
        target: the target.
        data: the file.
        mode: mode of hostile.py.
        amount: its STRIDE.
        timeout: seconds.
        source: "memory", or "file" to stream weights.
    """
    if mode in ("words", "several"):
        data = File(data).wide()
    files = {"mpconnxr": package.folder(), "model.bin": data}
    script = SCRIPTS / "hostile.py"
    try:
        completed = target.run(script, files=files, args=(mode, amount, source), timeout=timeout)
    except TargetTimeout as error:
        return Damage(False, 0, 0, 0, "hangs at " + error.stdout[-100:])
    lines = completed.stdout.splitlines()
    if completed.returncode or not lines[-1].startswith("refused"):
        bad = [line for line in lines if line.startswith("BAD")]
        return Damage(False, 0, 0, 0, "; ".join(bad[:5] + lines[-2:]) + completed.stderr[-500:])
    _, refused, _, ran, _, slowest, _ = lines[-1].split()
    return Damage(True, int(refused), int(ran), int(slowest), completed.stdout[-200:])


def moving() -> onnx.ModelProto:
    """Return Relu, MaxPool, Transpose, Slice, Concat: no float arithmetic."""
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
    """Return the outputs as onnxruntime computes them, graph optimizations off."""
    result = golden.reference(proto, inputs)
    if result is None:
        pytest.skip("onnxruntime is not installed")
    return result
