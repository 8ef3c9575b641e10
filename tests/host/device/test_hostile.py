"""A damaged model file is refused, or runs to its end without touching what is not its own.

tests/device/hostile.py does the damage, in one MicroPython process a mode.
"""

import struct

import pytest

from tests.host.device import small
from tests.host.device.binfile import patched, signed
from tools.converter import layout
from tools.converter.convert import Options, convert
from tools.micropython import UNIX_TARGETS

SLOWEST = 10_000  # milliseconds that a damaged file may take

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)


@pytest.fixture(scope="module")
def mixed():
    """A file with weights, names and a graph of five kernels."""
    done = convert(small.mixed(), Options(optimize=0))
    steps = {step.kernel for step in done.graph.steps}
    assert {"block_conv", "block_gemm", "max_pool", "move", "relu"} <= steps
    names = [t.name for t in done.graph.inputs + done.graph.outputs]
    extra = [(layout.CHUNK_NAMES, layout.names_chunk(names))]
    return layout.model_bytes(done.graph, done.plan.arena_bytes, extra)


def tables_nbytes(data: bytes) -> int:
    return struct.unpack_from("<I", data, 20)[0]


@every_target
@pytest.mark.parametrize("mode", ["digests", "truncated"])
def test_damage_with_digests(target, mixed, mode):
    report = small.damage(target, mixed, mode, "7")
    # Two attempts at each byte of the tables, besides those at the data.
    assert report.ok and report.refused > 2 * tables_nbytes(mixed), report


@every_target
@pytest.mark.parametrize(("mode", "amount"), [("bits", "1"), ("words", "1"), ("several", "3000")])
def test_damage_without_digests(target, mixed, mode, amount):
    report = small.damage(target, mixed, mode, amount)
    assert report.ok, report
    # Both ends are reached: checks refuse, and what they let pass really runs.
    assert report.refused > 500 and report.ran > 200 and report.slowest < SLOWEST, report


def refusal(target, data):
    """Class and text of the error with which load() refuses a file, digests checked."""
    script = """
import mpconnxr
try:
    mpconnxr.load("model.bin")
except mpconnxr.MpconnxrError as e:
    print(type(e).__name__, e)
"""
    return small.run(target, script, files={"model.bin": data}).strip()


def test_a_newer_version_is_named(target, mixed):
    text = refusal(target, patched(mixed, "<H", 8, 3))
    assert text == "UnsupportedError file format 3, this package reads 2: convert it again"


@pytest.mark.parametrize("bit", range(4, 32))
def test_an_unknown_feature_is_refused(target, mixed, bit):
    text = refusal(target, patched(mixed, "<I", 12, 1 << bit))
    assert text.startswith("UnsupportedError needs features") and "newer mpconnxr" in text


def test_doubles_are_needed_where_the_file_says_so(ready_target, mixed):
    data = patched(mixed, "<I", 12, layout.FEATURE_FLOAT64)
    assert refusal(ready_target("unix"), data) == ""
    text = refusal(ready_target("unix32"), data)
    assert text == "UnsupportedError needs float64, which this firmware does not have"


def test_a_kernel_that_is_not_installed_is_named(target, mixed):
    text = refusal(target, signed(mixed.replace(b"relu\0", b"rel2\0")))
    assert text.startswith("UnsupportedError no kernel rel2")


@pytest.mark.parametrize("name", [b"REL1", b"re.u", b"re/u", b"re u"])
def test_kernel_names_cannot_leave_their_package(target, mixed, name):
    text = refusal(target, signed(mixed.replace(b"relu\0", name + b"\0")))
    assert text == "ModelError not a valid model file: kernel name"


def test_a_module_that_is_no_kernel_is_refused(target):
    done = convert(small.relu())
    done.graph.steps[0].kernel = "loops_dot"
    text = refusal(target, layout.model_bytes(done.graph, done.plan.arena_bytes))
    assert text == "UnsupportedError loops_dot is not a kernel"


def test_another_file_is_no_model(target):
    assert refusal(target, b"\x08\x08\x12\x07pytorch" * 20).startswith("ModelError")
