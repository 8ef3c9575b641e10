"""The host's readers: python -m tools.converter inspect for .bin files, and tensor files."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mpconnxr import tensorfile
from tests.host.device import small
from tools.converter.__main__ import main
from tools.converter.commands.inspect import print_file
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError
from tools.converter.file.tensorfile import tensor_file
from tools.format import layout
from tools.format.reader import read

W = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def converted():
    """Return a model of a Gemm and a Relu."""
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["h"], name="dense"),
        helper.make_node("Relu", ["h"], ["y"], name="act"),
    ]
    return convert(small.model(nodes, [small.value("x", [2, 3])], [small.value("y", [2, 4])], w=W))


def test_a_model_is_read_as_it_was_written(converted):
    stored = read(converted.data)
    assert stored.intact
    assert all(chunk.intact for chunk in stored.chunks)
    assert stored.arena_nbytes == converted.plan.arena_bytes
    (x,), (y,) = ([stored.tensors[i] for i in ids] for ids in (stored.inputs, stored.outputs))
    assert (x.name, x.shape, x.dtype, x.storage) == ("x", (2, 3), TensorProto.FLOAT, 0)
    assert (y.name, y.shape) == ("y", (2, 4))
    steps = converted.graph.steps
    assert [node.kernel for node in stored.nodes] == [step.kernel for step in steps]
    assert [node.params for node in stored.nodes] == [step.params for step in steps]
    assert [node.name for node in stored.nodes] == [step.node for step in steps]
    offsets = [stored.tensors[i].offset for node in stored.nodes for i in node.outputs]
    assert offsets == [t.offset for step in steps for t in step.outputs]


def test_a_damaged_chunk_is_reported(converted, tmp_path, capsys):
    data = bytearray(converted.data)
    chunk = next(c for c in read(converted.data).chunks if c.kind in (0, 7))
    data[chunk.offset] ^= 1
    assert [c.intact for c in read(bytes(data)).chunks].count(False) == 1
    path = tmp_path / "damaged.bin"
    path.write_bytes(data)
    print_file(path)
    assert "DAMAGED" in capsys.readouterr().out


def test_a_stripped_model_has_numbers_for_names():
    stored = read(convert(small.relu((2,)), Options(strip=True)).data)
    assert stored.tensors[stored.inputs[0]].name == "input_0"
    assert stored.tensors[stored.outputs[0]].name == "output_0"
    assert stored.nodes[0].name == "step 0"


def test_inspect_prints_everything(converted, tmp_path, capsys):
    path = tmp_path / "model.bin"
    path.write_bytes(converted.data)
    assert main(["inspect", str(path)]) == 0
    out = capsys.readouterr().out
    for part in (
        f"model, format {layout.VERSION}",
        "tables intact",
        "float32 [2, 3]",
        "Gemm dense",
    ):
        assert part in out
    assert "params batches=[1, 1] m=2 n=4 k=3 " in out and "limits=[" in out, out
    assert f"arena {converted.plan.arena_bytes:,} bytes" in out


def test_tensor_files_return_the_arrays():
    arrays = {
        "a": W,
        "scalar": np.array(-3, np.int64),
        "none": np.zeros((0, 2), np.uint8),
        "flags": np.array([True, False]),
        "half": np.array([0.5, np.inf], np.float16),
    }
    got = tensorfile.read(tensor_file(arrays))
    assert [(t.name, t.dtype, t.shape) for t in got] == [
        (name, str(array.dtype), array.shape) for name, array in arrays.items()
    ]
    for t, array in zip(got, arrays.values(), strict=True):
        assert bytes(t.view("B")) == array.tobytes()


def test_damaged_files_end_in_a_convert_error(converted, tmp_path, capsys):
    rng = np.random.default_rng(1)
    path = tmp_path / "damaged.bin"
    refused = 0
    for _ in range(500):
        data = bytearray(converted.data)
        for at in rng.integers(8, len(data), rng.integers(1, 4)):
            data[at] = rng.integers(256)
        path.write_bytes(data[: rng.integers(1, len(data) + 1)] if rng.random() < 0.1 else data)
        try:
            print_file(path)
        except ConvertError:
            refused += 1
    assert 0 < refused < 500
    assert main(["inspect", str(tmp_path / "none.bin")]) == 1
    path.write_bytes(onnx.ModelProto().SerializeToString())
    assert main(["inspect", str(path)]) == 1
