"""Tensors of a step share memory only where its kernel allows it.

Loops have no bounds checks. Some write positions into their scratch, so that an output over it
would become an address: `load` must refuse that, whatever a file says.
"""

from itertools import product

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.converter.rewrites import test_qdq_means, test_qdq_resize
from tests.host.device import cases, small
from tests.host.device.binfile import File
from tools.format.layout import STORAGE_ARENA
from tools.format.reader import read
from tools.micropython import UNIX_TARGETS

ROOM = 1 << 16  # bytes of arena that each file gets beside its own, to move tensors in
RUNTIME_DIMS = 2  # feature: steps are prepared when they run

LOAD = """
import mpconnxr
k = 0
while True:
    try:
        data = open("%d.bin" % k, "rb").read()
    except OSError:
        break
    try:
        mpconnxr.load(data)
        print(k, "loaded")
    except mpconnxr.MpconnxrError as e:
        print(k, type(e).__name__, e)
    k += 1
"""

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)


def moved(data: bytes, changes: dict[int, int]) -> bytes:
    """Return the file with tensors at other offsets of its arena."""
    file = File(data)
    sizes = [(0, file.arena + ROOM), (1, file.streamed + ROOM)]
    at = [(t[0] + 3 + len(t[4]), changes[i]) for i, t in enumerate(file.tensors) if i in changes]
    return file.changed(*sizes, *at)


def steps(data: bytes):
    """Yield each step's tensors in the arena: (inputs, outputs, scratch)."""
    stored = read(data)
    for node in stored.nodes:
        yield [
            [i for i in ids if stored.tensors[i].storage == STORAGE_ARENA]
            for ids in (node.inputs, node.outputs, node.scratch)
        ]


def pairs(data: bytes):
    """Yield {id of a tensor: an offset that no kernel allows}.

    Such are scratch over anything else, an output over another output, and an output behind the
    first bytes of an input, whose unread bytes it would overwrite.
    """
    tensors = read(data).tensors
    for inputs, outputs, scratch in steps(data):
        for a, b in product(scratch, inputs + outputs + scratch):
            if a != b and tensors[a].nbytes and tensors[b].nbytes:
                yield {a: tensors[b].offset}
        for a, b in product(outputs, inputs):
            if a != b and tensors[a].nbytes and tensors[b].nbytes > 8:
                yield {a: tensors[b].offset + 8}
        for a, b in product(outputs, outputs):
            if a < b and tensors[a].nbytes and tensors[b].nbytes:
                yield {a: tensors[b].offset}


def loaded(target, files):
    """Return what load said about each file."""
    named = {f"{k}.bin": data for k, data in enumerate(files)}
    return small.run(target, LOAD, named, heap=1 << 25).splitlines()


def overlapping(files):
    return [moved(data, places) for data in files for places in pairs(data)]


@pytest.mark.slow
@every_target
def test_forbidden_overlaps_of_every_kernel_are_refused(target):
    results = {data for files in cases.smallest(2).values() for data in files}
    files = overlapping(d for d in sorted(results) if not File(d).features & RUNTIME_DIMS)
    assert len(files) > 150
    doubles = "needs float64"
    not_refused = [s for s in loaded(target, files) if "overlap" not in s and doubles not in s]
    assert not not_refused


QUANTIZED = {
    "qmeans": test_qdq_means.CASES["2x2"][0],
    "qblend": test_qdq_resize.CASES["doubled"][0],
    "wide_means": test_qdq_means.pool((1, 4, 8, 8), [2, 2], [2, 2], 21, np.int16, 0)[0],
    "curve": small.model(
        [("Sigmoid", "x", "y", {})], [small.value("x", (1, 64))], [small.value("y", (1, 64))]
    ),
    "nonzero": small.model(
        [("NonZero", "x", "y", {})],
        [small.value("x", (4, 5))],
        [small.value("y", (2, "n"), TensorProto.INT64)],
    ),
}


@every_target
@pytest.mark.parametrize("kernel", QUANTIZED)
def test_an_output_over_positions_in_scratch_is_refused(target, kernel):
    data = small.binary(QUANTIZED[kernel])
    assert kernel in [k.decode() for k in File(data).kernels]
    files = overlapping([data])
    assert files
    assert [s for s in loaded(target, files) if "overlap" not in s] == []
