"""docs/format.md against the converter's bytes and against what the device refuses."""

import hashlib
import json
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

from tests.host.device import small
from tools.converter import layout, tensorfile
from tools.converter.convert import Options, convert
from tools.micropython import UNIX_TARGETS

PAGE = (small.ROOT / "docs" / "format.md").read_text()
HEADER_NBYTES = 96
DATA, NAMES, GOLDEN, SOURCE, NODES = range(5)


class Parsed:
    """A file by the letter of docs/format.md, with code of its own."""

    def __init__(self, data):
        self.data = data
        head = struct.unpack_from("<8s2H3I32s8I", data)
        self.magic, self.version, self.kind, self.features, self.nbytes, self.tables = head[:6]
        self.digest, self.arena, counts = head[6], head[7], head[8:]
        n_chunks, n_tensors, n_dims, n_inputs, n_outputs, names_nbytes, self.n_graph = counts
        self.at = HEADER_NBYTES
        self.chunks = [self.take("<3I32s") for _ in range(n_chunks)]
        self.spans = [self.take("<2I") for _ in range(n_tensors)]
        self.records = [self.take("<4B") for _ in range(n_tensors)]
        self.dims = self.take(f"<{n_dims}i")
        self.inputs, self.outputs = self.take(f"<{n_inputs}I"), self.take(f"<{n_outputs}I")
        self.kernels = self.take(f"<{names_nbytes}s")[0]
        self.graph_at = self.at
        self.graph = self.take(f"<{self.n_graph}i")

    def take(self, code):
        values = struct.unpack_from(code, self.data, self.at)
        self.at += struct.calcsize(code)
        return values

    def chunk(self, kind):
        return next((self.data[at : at + n] for k, at, n, _ in self.chunks if k == kind), None)

    def steps(self):
        """[(kernel, inputs, outputs, scratch, params)]."""
        names, words, steps = self.kernels.rstrip(b"\0").split(b"\0"), list(self.graph), []
        while words:
            kernel, *counts, n_bodies = words[:6]
            del words[:6]
            assert n_bodies == 0
            groups = []
            for n in counts:
                groups.append(words[:n])
                del words[:n]
            steps.append((names[kernel].decode(), *groups))
        return steps


@pytest.fixture(scope="module")
def mixed():
    return convert(small.mixed())


def test_header_and_digests(mixed):
    data = mixed.data
    file = Parsed(data)
    assert (file.magic, file.version, file.kind, file.features) == (b"MPCONNXR", 1, 0, 0)
    assert file.nbytes == len(data) and file.tables % 16 == 0 and 0 <= file.tables - file.at < 16
    assert file.arena == mixed.plan.arena_bytes
    assert hashlib.sha256(data[:24] + data[56 : file.tables]).digest() == file.digest
    end = file.tables
    for _, offset, nbytes, digest in file.chunks:
        assert offset == end + -end % 16
        assert hashlib.sha256(data[offset : offset + nbytes]).digest() == digest
        end = offset + nbytes
    assert end == len(data)


def test_tensors_and_steps(mixed):
    graph, file = mixed.graph, Parsed(mixed.data)
    tensors, dims = graph.tensors(), list(file.dims)
    for t, (offset, nbytes), (dtype, rank, storage, flags) in zip(
        tensors, file.spans, file.records, strict=True
    ):
        assert (dtype, nbytes, flags) == (t.dtype, t.nbytes, 0)
        assert tuple(dims[:rank]) == t.shape and offset % t.itemsize == 0
        del dims[:rank]
        if t.data is None:
            assert storage == 0 and offset + nbytes <= file.arena
        else:
            assert storage == 1 and mixed.data[offset : offset + nbytes] == t.data.tobytes()
            assert offset % 16 == 0
    assert not dims
    assert [tensors[i] for i in file.inputs + file.outputs] == graph.inputs + graph.outputs
    for step, (kernel, *groups, params) in zip(graph.steps, file.steps(), strict=True):
        assert (kernel, params) == (step.kernel, step.params)
        named = [[tensors[i] for i in group] for group in groups]
        assert named == [step.inputs, step.outputs, step.scratch]


def test_names_and_golden_vectors(mixed):
    graph, file = mixed.graph, Parsed(mixed.data)
    names, nodes = file.chunk(NAMES).split(b"\0"), file.chunk(NODES).split(b"\0")
    assert names == [b"x", b"y", b""] and len(nodes) == len(graph.steps) + 1
    golden = file.chunk(GOLDEN)
    x = np.frombuffer(golden, np.float32, 60, 16)
    y = np.frombuffer(golden, np.float32, 3, 16 + 240)
    assert golden[:16] == b"\1" + bytes(15) and len(golden) == 16 + 240 + 16
    want = small.expected(small.mixed(), x.reshape(1, 2, 5, 6))[0]
    np.testing.assert_array_equal(y, want.ravel())


def test_source(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(small.mixed().SerializeToString())
    about = json.loads(Parsed(convert(path).data).chunk(SOURCE))
    assert about == {
        "producer": "small",
        "graph": "small",
        "ir_version": 8,
        "opset": {"ai.onnx": 17},
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    assert "sha256" not in json.loads(Parsed(convert(small.mixed()).data).chunk(SOURCE))


def test_strip_leaves_the_data_alone(mixed):
    stripped = Parsed(convert(small.mixed(), Options(strip=True)).data)
    assert {kind for kind, *_ in stripped.chunks} == {DATA}
    assert {kind for kind, *_ in Parsed(mixed.data).chunks} >= {DATA, NAMES, SOURCE}


def test_tensor_files():
    arrays = {"a": small.floats(2, 3), "b": np.arange(5)}
    file = Parsed(tensorfile.tensor_file(arrays))
    assert (file.kind, file.arena, file.inputs, file.outputs, file.steps()) == (
        1,
        0,
        (),
        (0, 1),
        [],
    )
    assert [r[:3] for r in file.records] == [(1, 2, 1), (7, 1, 1)] and file.dims == (2, 3, 5)
    assert file.chunk(NAMES) == b"a\0b\0"
    for (offset, nbytes), array in zip(file.spans, arrays.values(), strict=True):
        assert file.data[offset : offset + nbytes] == array.tobytes()


def test_the_page_shows_what_its_commands_make(tmp_path):
    program = re.search(r"```python\n(.*?)```", PAGE, re.S).group(1)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    tiny, binary = tmp_path / "tiny.onnx", tmp_path / "tiny.bin"
    command = [sys.executable, "-m", "tools.converter", tiny, binary, "--strip"]
    subprocess.run(command, cwd=small.ROOT, check=True, capture_output=True)
    lines = re.findall(r"^[0-9a-f]{8}: ((?:[0-9a-f]+ )+) ", PAGE, re.M)
    assert bytes.fromhex("".join(lines)) == binary.read_bytes()


def with_words(data, *changes):
    """The file with i32s replaced at (offset, value), under a right digest of its tables."""
    data = bytearray(data)
    for offset, value in changes:
        struct.pack_into("<i", data, offset, value)
    tables = data[: struct.unpack_from("<I", data, 20)[0]]
    data[24:56] = hashlib.sha256(tables[:24] + tables[56:]).digest()
    return bytes(data)


def broken_files():
    """{the refusal: a file that breaks one rule of the page}, from a model of one Relu."""
    relu = small.relu()
    relu.graph.output.append(small.value("w", (2,)))
    relu.graph.initializer.append(small.numpy_helper.from_array(small.floats(2), "w"))
    good = small.binary(relu)
    chunk, spans = HEADER_NBYTES, HEADER_NBYTES + 44
    records, dims, inputs = spans + 3 * 8, spans + 3 * 12, spans + 3 * 12 + 5 * 4
    graph = Parsed(good).graph_at
    # tensors: 0 is x (2, 3), 1 is y (2, 3), 2 is the constant w (2,)
    behind = len(good) + 16
    gap = good[:-8] + bytes(16) + good[-8:]
    return {
        "shorter than a header": good[:95],
        "it does not start with MPCONNXR": b"m" + good[1:],
        f"{len(good)} bytes long, should be {len(good) + 4}": with_words(
            good, (16, len(good) + 4)
        ),
        "tables reach beyond the file": with_words(good, (20, 8)),
        "it holds tensors, no model": with_words(good, (8, 1 | 1 << 16)),
        "a count is negative": with_words(good, (56, -8)),
        "tables do not fill their space": with_words(good, (84, 100)),
        "a chunk lies outside the file or not behind the one before": with_words(
            gap, (16, behind), (chunk + 4, len(good) - 8 + 16)
        ),
        "bytes after the last chunk": with_words(good + bytes(16), (16, behind)),
        "damaged (digest of the data)": good[:-1] + bytes([good[-1] ^ 1]),
        "tensor 0: rank": with_words(good, (records, 1 | 33 << 8)),
        "tensor 0: negative dimension": with_words(good, (dims, -2), (dims + 4, -3)),
        "tensor 0: size or alignment": with_words(good, (spans, 2)),
        "tensor 1: size or alignment": with_words(good, (spans + 12, 20)),
        "tensor 1 lies outside the arena": with_words(good, (56, 40)),
        "tensor 0: storage class": with_words(good, (records, 1 | 2 << 8 | 2 << 16)),
        "tensor 2 lies outside the data": with_words(good, (spans + 16, 0)),
        "dims without a tensor": with_words(good, (records + 8, 1 | 1 << 16), (spans + 20, 4)),
        "tensor id 3": with_words(good, (inputs, 3)),
        "tensor id -1": with_words(good, (inputs, -1)),
        "kernel index 1": with_words(good, (graph, 1)),
        "graph ends inside a node": with_words(good, (graph + 16, 1)),
        "graph ends inside a body": with_words(good, (graph + 20, 1)),
        "an input is a constant": with_words(good, (inputs, 2)),
        "step 0 relu writes to a constant": with_words(good, (graph + 28, 2)),
        "step 0 relu: sizes differ": with_words(good, (graph + 24, 2)),
        "step 0 relu: has (2, 0, 0, 0) inputs": with_words(good, (graph + 4, 2), (graph + 8, 0)),
        "tensor 0: dtype 8 or flags 0": with_words(good, (records, 8 | 2 << 8)),
        "tensor 0: dtype 1 or flags 1": with_words(good, (records, 1 | 2 << 8 | 1 << 24)),
    }


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
    done = convert(small.relu(), Options(strip=True))
    data = layout.model_bytes(done.graph, done.plan.arena_bytes, [(77, b"of a later version")])
    script = "import mpconnxr\nprint(mpconnxr.load('m.bin').run([-1, 2, 3, 4, 5, 6])[0].data[0])"
    assert small.run(target, script, {"m.bin": data}) == "0.0\n"
