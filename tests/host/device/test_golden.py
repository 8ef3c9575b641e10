"""Golden vectors and tensor files on the device: docs/api.md."""

import numpy as np
import pytest

from tests.host.device import small
from tools.converter.convert import convert
from tools.converter.file import tensorfile, writer
from tools.converter.reference import golden
from tools.format import layout
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
RELU = "[1.0, 0.0, 3.0, 0.0, 5.0, 0.0]"
BOUNDS = [6.0, 5.5, 0.0, -1.0, float("nan"), float("inf")]
X = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)


@every_target
def test_golden_vectors_are_verified(target):
    data = small.binary(small.mixed(), strip=False)
    script = """
from mpconnxr import ModelError, golden
for source in ("m.bin", open("m.bin", "rb").read()):
    r = golden.verify(source)
    print(r.ok, r.vectors, r.max_error <= 1e-5 * r.largest, r.largest > 0.1, 0 < r.seconds < 10)
    print(0 < r.first_seconds < 10)
print(str(r)[:24])
for name in ("stripped.bin", "wrong.bin"):
    try:
        print(golden.verify(name).ok)
    except ModelError as e:
        print(e)
"""
    wrong = bytearray(data)
    wrong[-13] ^= 1  # in the output, which has 4 bytes of padding behind it
    stripped = small.binary(small.mixed())
    printed = small.lines(target, script, m=data, stripped=stripped, wrong=bytes(wrong))
    assert printed[:4] == ["True 1 True True True", "True"] * 2
    assert printed[4].startswith("ok: 1 vector(s), error ")
    assert printed[5] == "the file has no golden vector: it was stripped, or had no reference"
    assert printed[6] == "not a valid model file: damaged (digest of the data)"


@every_target
def test_wrong_results_are_found(target):
    proto = small.relu()
    converted = convert(proto)
    x = np.abs(X)
    files = {}
    for name, y in (("close", x * np.float32(1.00005)), ("far", x * np.float32(1.0002))):
        extra = [(layout.CHUNK_GOLDEN, golden.chunk([x], [y]))]
        files[name] = writer.model_bytes(converted.graph, converted.plan.arena_bytes, extra)
    chunks = {"nan": golden.chunk([x], [np.full_like(x, np.nan)])}
    chunks["short"] = golden.chunk([x], [x])[:-16]
    chunks |= {f"bound_{b}": golden.chunk([x], [x * 2], [b]) for b in BOUNDS}
    for name, chunk in chunks.items():
        extra = [(layout.CHUNK_GOLDEN, chunk)]
        files[name] = writer.model_bytes(converted.graph, converted.plan.arena_bytes, extra)
    script = """
from mpconnxr import ModelError, golden
for name in NAMES:
    try:
        r = golden.verify(name + ".bin")
        print(name, r.ok, "{:.4f}".format(r.max_error))
    except ModelError as e:
        print(name, e)
"""
    script = f"NAMES = {[*files]}\n{script}"
    assert small.lines(target, script, **files) == [
        "close True 0.0003",
        "far False 0.0012",
        "nan False inf",
        "short not a valid model file: golden vectors of another size",
        "bound_6.0 True 6.0000",
        "bound_5.5 False 6.0000",
        "bound_0.0 False 6.0000",
        *[f"bound_{b} not a valid model file: bounds of golden vectors" for b in BOUNDS[3:]],
    ]


@every_target
def test_tensor_files_are_read_and_written(target, relu):
    arrays = {"x": X, "i": np.array([-1, 1 << 40]), "h": np.array(7, np.uint8)}
    script = """
import mpconnxr
from mpconnxr import tensorfile
for source in ("t.bin", open("t.bin", "rb").read()):
    tensors = tensorfile.read(source)
    print([(t.name, t.dtype, t.shape, list(t.data)) for t in tensors])
print(list(mpconnxr.load("m.bin").run(tensors[0].data)[0].data))
data = bytearray(source)
data[-2] ^= 1
for read, wrong in ((tensorfile.read, "m.bin"), (mpconnxr.load, "t.bin"), (tensorfile.read, data)):
    try:
        read(wrong)
    except mpconnxr.ModelError as e:
        print(e)
"""
    tensors = (
        "[('x', 'float32', (2, 3), [1.0, -2.0, 3.0, -4.0, 5.0, -6.0]), "
        "('i', 'int64', (2,), [-1, 1099511627776]), ('h', 'uint8', (), [7])]"
    )
    assert small.lines(target, script, m=relu, t=tensorfile.tensor_file(arrays)) == [
        *[tensors] * 2,
        RELU,
        "not a valid model file: it has a model, not tensors",
        "not a valid model file: it has tensors, not a model",
        "not a valid model file: damaged (digest of the data)",
    ]
