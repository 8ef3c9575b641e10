"""docs/format.md agrees with the converter's bytes and the device's refusals."""

import hashlib
import json
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

from tests.host.device import small
from tests.host.device.binfile import GOLDEN, NAMES, NODES, SOURCE, STREAMED, File, patched, signed
from tools.converter.convert import Options, convert
from tools.converter.file import tensorfile, writer
from tools.micropython import UNIX_TARGETS

PAGE = (small.ROOT / "docs" / "format.md").read_text()


@pytest.fixture(scope="module")
def mixed():
    return convert(small.mixed())


def test_header_and_digests_are_as_the_page_says(mixed):
    data = mixed.data
    file = File(data)
    assert (file.magic, file.version, file.kind, file.features) == (b"MPCONNXR", 10, 0, 0)
    assert file.nbytes == len(data) and file.tables % 16 == 0 and 0 <= file.tables - file.end < 16
    assert set(data[file.end : file.tables]) <= {0}
    assert file.arena == mixed.plan.arena_bytes
    assert hashlib.sha256(data[:24] + data[56 : file.tables]).digest() == file.digest
    end = file.tables
    for _, offset, nbytes, digest, _ in file.chunks:
        assert offset == end + -end % 16
        assert hashlib.sha256(data[offset : offset + nbytes]).digest() == digest
        end = offset + nbytes
    assert end == len(data)


def test_tensors_and_steps_are_as_the_page_says(mixed):
    graph, file = mixed.graph, File(mixed.data)
    tensors = graph.tensors()
    for t, (_, dtype, storage, flags, dims, offset, size) in zip(
        tensors, file.tensors, strict=True
    ):
        assert (dtype, dims, flags, size) == (t.dtype, t.shape, 0, None)
        assert offset % t.itemsize == 0
        if t.data is None:
            assert storage == 0 and offset + t.nbytes <= file.arena
        else:
            data = mixed.data[file.tables + offset :][: t.nbytes]
            assert storage == 1 and data == t.data.tobytes()
            assert offset % max(4, t.itemsize) == 0
    assert [tensors[i] for i in file.inputs + file.outputs] == graph.inputs + graph.outputs
    for step, (kernel, *groups, params, reads) in zip(graph.steps, file.steps(), strict=True):
        assert (kernel, params) == (step.kernel, step.params)
        assert reads == graph.reads.get(step, [])
        named = [[tensors[i] for i in group] for group in groups]
        assert named == [step.inputs, step.outputs, step.scratch]


def test_names_and_golden_vectors_are_as_the_page_says(mixed):
    graph, file = mixed.graph, File(mixed.data)
    names, nodes = file.chunk(NAMES).split(b"\0"), file.chunk(NODES).split(b"\0")
    assert names == [b"x", b"y", b""] and len(nodes) == len(graph.steps) + 1
    golden = file.chunk(GOLDEN)
    x = np.frombuffer(golden, np.float32, 60, 16)
    y = np.frombuffer(golden, np.float32, 3, 16 + 240)
    n, bound = struct.unpack("<If8x", golden[:16])
    assert n == 1 and bound == pytest.approx(1e-4 * np.abs(y).max())
    assert len(golden) == 16 + 240 + 16
    want = small.expected(small.mixed(), x.reshape(1, 2, 5, 6))[0]
    np.testing.assert_array_equal(y, want.ravel())


def test_the_source_chunk_is_as_the_page_says(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(small.mixed().SerializeToString())
    about = json.loads(File(convert(path).data).chunk(SOURCE))
    assert about == {
        "producer": "small",
        "graph": "small",
        "ir_version": 8,
        "opset": {"ai.onnx": 17},
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    assert "sha256" not in json.loads(File(convert(small.mixed()).data).chunk(SOURCE))


def test_strip_does_not_change_the_data(mixed):
    stripped = File(convert(small.mixed(), Options(strip=True)).data)
    assert {kind for kind, *_ in stripped.chunks} == {STREAMED}
    assert {kind for kind, *_ in File(mixed.data).chunks} >= {STREAMED, NAMES, SOURCE}


def test_tensor_files_are_as_the_page_says():
    arrays = {"a": small.floats(2, 3), "b": np.arange(5)}
    file = File(tensorfile.tensor_file(arrays))
    ends = (file.kind, file.arena, file.inputs, file.outputs, file.steps())
    assert ends == (1, 0, [], [0, 1], [])
    assert [t[1:5] for t in file.tensors] == [(1, 1, 0, (2, 3)), (7, 1, 0, (5,))]
    assert file.chunk(NAMES) == b"a\0b\0"
    for t, array in zip(file.tensors, arrays.values(), strict=True):
        assert file.data[file.tables + t[5] :].startswith(array.tobytes())


def test_the_page_shows_the_output_of_its_commands(tmp_path):
    program = re.search(r"```python\n(.*?)```", PAGE, re.S).group(1)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    tiny, binary = tmp_path / "tiny.onnx", tmp_path / "tiny.bin"
    command = [sys.executable, "-m", "tools.converter", tiny, binary, "--strip"]
    subprocess.run(command, cwd=small.ROOT, check=True, capture_output=True)
    lines = re.findall(r"^[0-9a-f]{8}: ((?:[0-9a-f]+ )+) ", PAGE, re.M)
    assert bytes.fromhex("".join(lines)) == binary.read_bytes()


def broken_files():
    """Return {refusal: a file that breaks one rule of the page}, from a model of one Relu."""
    relu = small.relu()
    relu.graph.output.append(small.value("w", (2,)))
    relu.graph.initializer.append(small.numpy_helper.from_array(small.floats(2), "w"))
    file = File(small.binary(relu))
    good, words, changed = file.data, file.words, file.changed
    # tensors: 0 is x (2, 3), 1 is y (2, 3), 2 is the constant w (2,); a number each:
    x, y, w = [t[0] for t in file.tensors]  # dtype, storage and flags, rank, dims, place
    node = file.graph_at  # kernel, 1 input, 1 output, 0, 0, 0, 0, tensors
    behind = file.chunks[0][2] + 16
    return {
        "shorter than a header": good[:63],
        "it does not start with MPCONNXR": b"m" + good[1:],
        f"{len(good)} bytes long, should be {len(good) + 4}": patched(
            good, "<I", 16, len(good) + 4
        ),
        "tables reach beyond the file": patched(good, "<I", 20, 8),
        "it has tensors, not a model": patched(good, "<H", 10, 1),
        "a size is negative": changed((0, -8)),
        "the streamed arena is smaller than the other": changed((1, 8)),
        "tables end too early": changed((node - 1, words[node - 1] + 20)),
        "tables end inside a number": _unending(changed((node - 1, words[node - 1] + 1))),
        "a number of more than 32 bits": changed((0, 1 << 31)),
        "tables do not fill their space": changed(words=[*words, 1]),
        "a kernel's name does not end": signed(good.replace(b"relu\0", b"reluu")),
        "a chunk lies outside the file": changed((3, behind)),
        "bytes after the last chunk": patched(good + bytes(16), "<I", 16, len(good) + 16),
        "damaged (digest of the data)": good[:-1] + bytes([good[-1] ^ 1]),
        "tensor 0: rank": changed(words=_without(words, x + 2, [33] + [1] * 33)),
        "tensor 0: negative dimension": changed((x + 3, -2), (x + 4, -3)),
        "tensor 0: alignment": changed((x + 5, 2)),
        "tensor 0 lies outside the arena": changed((0, 16)),
        "tensor 0: storage class": changed((x + 1, 2)),
        "tensor 2 lies outside the data": changed((w + 4, 16)),
        "tensor id 3": changed((file.inputs_at, 3)),
        "tensor id -1": changed((file.inputs_at, -1)),
        "kernel index 1": changed((node, 1)),
        "graph ends inside a node": changed((node - 1, words[node - 1] - 1), (node + 8, 0)),
        "an input is a constant": changed((file.inputs_at, 2)),
        "step 0 relu writes to a constant": changed((node + 8, 2)),
        "step 0 relu: sizes differ": changed((node + 7, 2)),
        "step 0 relu: has (2, 0, 0, 0) inputs": changed((node + 1, 2), (node + 2, 0)),
        "tensor 0: dtype 8 or flags 0": changed((x, 8)),
        "tensor 0: dtype 1 or flags 1": changed((x + 1, 4)),
    }


def _unending(data):
    """Return the file with the padding behind its tables turned into an endless number."""
    file = File(data)
    end = len(data[: file.tables].rstrip(b"\0"))
    return signed(data[:end] + bytes([128]) * (file.tables - end) + data[file.tables :])


def _without(words, at, others):
    """Return the words with those from `at` on replaced by as many others."""
    return [*words[:at], *others, *words[at + len(others) :]]


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_each_broken_rule_is_named(target):
    script = """
import mpconnxr
i = 0
while True:
    try:
        data = open(str(i), "rb").read()
    except OSError:
        break
    try:
        print(mpconnxr.load(data))
    except (mpconnxr.ModelError, mpconnxr.UnsupportedError) as e:
        print(e)
    i += 1
"""
    broken = broken_files()
    files = {str(i): data for i, data in enumerate(broken.values())}
    printed = small.run(target, script, files).splitlines()
    for text, line in zip(broken, printed, strict=True):
        assert text in line


def test_unknown_chunks_are_skipped(target):
    converted = convert(small.relu(), Options(strip=True))
    data = writer.model_bytes(
        converted.graph, converted.plan.arena_bytes, [(77, b"of a later version")]
    )
    script = "import mpconnxr\nprint(mpconnxr.load('m.bin').run([-1, 2, 3, 4, 5, 6])[0].data[0])"
    assert small.run(target, script, {"m.bin": data}) == "0.0\n"
