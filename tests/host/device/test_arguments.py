"""The device's public calls withstand every wrong argument: see tests/device/arguments.py."""

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tests.host.device.test_golden_objects import classifier
from tests.host.program import programs
from tools.converter.convert import Options, convert
from tools.converter.file import tensorfile, writer
from tools.converter.file.interface import image_from
from tools.micropython import UNIX_TARGETS
from tools.micropython.source import source_tree

SCRIPT = small.SCRIPTS / "arguments.py"


def dequantized():
    nodes = [("DequantizeLinear", "image s z", "y", {})]
    image = small.value("image", (1, 1, 8, 8), TensorProto.UINT8)
    constants = {"s": np.float32(0.5), "z": np.array(3, np.uint8)}
    return small.model(nodes, [image], [small.value("y", (1, 1, 8, 8))], **constants)


def several():
    nodes = [("Concat", "a b", "y", {"axis": 0}), ("Relu", "s", "r", {})]
    inputs = [small.value("a", (2,)), small.value("b", (1,)), small.value("s", ())]
    return small.model(nodes, inputs, [small.value("y", (3,)), small.value("r", ())])


def positive(shape, dtype=TensorProto.FLOAT):
    ends = [small.value("image", shape, dtype)], [small.value("y", shape, dtype)]
    return small.model([("Relu", "image", "y", {})], *ends)


def weighted():
    ends = [small.value("image", (1, 60))], [small.value("y", (1, 60))]
    return small.model([("Gemm", "image w", "y", {})], *ends, w=small.floats(60, 60))


def lowered():
    nodes = [("StringNormalizer", "image", "y", {"case_change_action": "LOWER"})]
    ends = [small.value(name, (2,), TensorProto.STRING) for name in ("image", "y")]
    return small.model(nodes, ends[:1], ends[1:])


def mapped():
    """Return a classifier of two rows whose only output is a list of maps."""
    model = classifier()
    del model.graph.output[0]
    return model


def without_outputs():
    converted = convert(positive((2, 3)))
    converted.graph.outputs = []
    return writer.model_bytes(converted.graph, converted.plan.arena_bytes)


@pytest.fixture(scope="module")
def models():
    """Return model files by name."""
    picture = Options(images={"image": image_from("gray,chw,scale=255")})
    return {
        "relu.bin": convert(positive((2, 3))).data,
        "image.bin": convert(dequantized(), picture).data,
        "three.bin": convert(several()).data,
        "streamed.bin": convert(weighted()).data,
        "open.bin": convert(positive(("n", 3)), Options(bounds={"n": 5})).data,
        "strings.bin": convert(lowered()).data,
        "maps.bin": convert(mapped()).data,
        "none.bin": without_outputs(),
    }


@pytest.mark.slow
@pytest.mark.parametrize("mode", ("kernels", "program"))
@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_wrong_arguments_raise_typed_errors(target, mode, models):
    files = {**models, "tensors.bin": tensorfile.tensor_file({"t": small.floats(2, 3)})}
    names = ("relu.bin", "image.bin", "three.bin", "streamed.bin") if mode == "program" else ()
    files["asyncio"] = source_tree() / "extmod" / "asyncio"
    bundles = [programs.made(models[n], target, n == "streamed.bin") for n in names]
    files["mpconnxr"] = programs.package(bundles)
    completed = target.run(SCRIPT, files=files, args=[mode], timeout=900)
    *bad, last = (completed.stdout + completed.stderr).splitlines()
    assert not bad and last.startswith("calls "), "\n".join([*bad[-200:], last])
