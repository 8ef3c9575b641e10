"""A damaged model file is refused, or runs to its end without touching what is not its own.

tests/device/hostile.py does the damage, in one MicroPython process a mode.
"""

import shutil
import struct

import pytest
from onnx import helper

from tests.host.device import small
from tests.host.device.binfile import File, patched, signed
from tools import package
from tools.converter.convert import Options, convert
from tools.converter.file import writer
from tools.format import layout
from tools.micropython import UNIX_TARGETS

SLOWEST = 10_000  # milliseconds that a damaged file may take

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)


def made(**options):
    """Return a file with weights, names and a graph of five kernels."""
    converted = convert(small.mixed(), Options(optimize=0, **options))
    steps = {step.kernel for step in converted.graph.steps}
    assert {"block_conv", "block_gemm", "max_pool", "move", "relu"} <= steps
    names = [t.name for t in converted.graph.inputs + converted.graph.outputs]
    extra = [(layout.CHUNK_NAMES, layout.names_chunk(names))]
    return writer.model_bytes(converted.graph, converted.plan.arena_bytes, extra)


@pytest.fixture(scope="module")
def mixed():
    return made()


def tables_nbytes(data: bytes) -> int:
    return struct.unpack_from("<I", data, 20)[0]


@every_target
@pytest.mark.parametrize("mode", ["digests", "truncated"])
def test_damage_is_refused_with_digests(target, mixed, mode):
    report = small.damage(target, mixed, mode, "7")
    # Two attempts at each byte of the tables, besides those at the data.
    assert report.ok and report.refused > 2 * tables_nbytes(mixed), report


@pytest.mark.slow
@every_target
@pytest.mark.parametrize(("mode", "amount"), [("bits", "1"), ("words", "1"), ("several", "3000")])
def test_damage_without_digests_does_no_harm(target, mixed, mode, amount):
    report = small.damage(target, mixed, mode, amount)
    assert report.ok, report
    # Both ends are reached: checks refuse, and what they let pass really runs.
    assert report.refused > 500 and report.ran > 200 and report.slowest < SLOWEST, report


@pytest.mark.slow
@pytest.mark.parametrize("target", ["unix32"], indirect=True)
def test_damaged_short_mantissas_do_no_harm(target):
    report = small.damage(target, made(float="fast16"), "words", "1")
    assert report.ok, report
    assert report.refused > 500 and report.ran > 200 and report.slowest < SLOWEST, report


def refusal(target, data):
    """Return class and text of the error with which load() refuses a file, digests checked."""
    script = """
import mpconnxr
try:
    mpconnxr.load("model.bin")
except mpconnxr.MpconnxrError as e:
    print(type(e).__name__, e)
"""
    return small.run(target, script, files={"model.bin": data}).strip()


@pytest.mark.parametrize("version", [layout.VERSION - 1, layout.VERSION + 1])
def test_another_version_is_named(target, mixed, version):
    text = refusal(target, patched(mixed, "<H", 8, version))
    message = f"file format {version}, this package reads {layout.VERSION}: convert it again"
    assert text == f"UnsupportedError {message}"


@pytest.mark.parametrize("bit", range(5, 32))
def test_an_unknown_feature_is_refused(target, mixed, bit):
    text = refusal(target, patched(mixed, "<I", 12, 1 << bit))
    assert text.startswith("UnsupportedError needs features") and "newer mpconnxr" in text


def test_a_file_that_requires_doubles_is_refused_without_them(ready_target, mixed):
    data = patched(mixed, "<I", 12, layout.FEATURE_FLOAT64)
    assert refusal(ready_target("unix"), data) == ""
    text = refusal(ready_target("unix32"), data)
    assert text == "UnsupportedError needs float64, which this firmware does not have"


def test_a_missing_kernel_is_named(target, mixed):
    text = refusal(target, signed(mixed.replace(b"relu\0", b"rel2\0")))
    assert text.startswith("UnsupportedError no kernel rel2")


@pytest.mark.parametrize("name", [b"REL1", b"re.u", b"re/u", b"re u"])
def test_kernel_names_cannot_leave_their_package(target, mixed, name):
    text = refusal(target, signed(mixed.replace(b"relu\0", name + b"\0")))
    assert text == "ModelError not a valid model file: kernel name"


KERNEL_FILES = {
    "odd_memory": "raise MemoryError\n",
    "odd_syntax": "def prepare(:\n",
    "odd_value": "raise ValueError('incompatible .mpy file')\n",
    "odd_import": "from ._absent import x\n",
    "odd_other": "1 / 0\n",
    "odd_empty": "",
    "_odd_helper": "print('imported')\n",
}


@every_target
def test_every_kernel_name_loads_or_raises_a_typed_error(target, tmp_path):
    """Names are those of all modules in mpconnxr/ops, and of kernels that cannot be imported."""
    copy = shutil.copytree(package.folder(), tmp_path / "mpconnxr")
    ops = copy / "ops"
    own = {path.stem: path.read_text() for path in ops.glob("*.py")}
    names = [*KERNEL_FILES, *sorted(n for n in own if "def prepare" not in own[n])]
    names += ["__init__", "_", "__", "0", "a" * 250, "a" * 300, "relu_", "os"]
    for name, text in KERNEL_FILES.items():
        (ops / f"{name}.py").write_text(text)
    script = f"""
import sys
import mpconnxr
from mpconnxr.build.loader import _kernel
for name in {names!r}:
    before = set(sys.modules)
    try:
        _kernel(name)
        print(name, "is taken for a kernel")
    except mpconnxr.UnsupportedError as e:
        print(type(e).__name__, str(e))
    except MemoryError:
        print("MemoryError of", name)
    if name.startswith("_") and set(sys.modules) != before:
        print(name, "was imported")
print(_kernel("relu").__name__)
"""
    lines = small.run(target, script, {"mpconnxr": copy}).splitlines()
    message, taken = lines[:-1], lines[-1]
    assert taken == "mpconnxr.ops.relu" and len(message) == len(names)
    assert message[0] == "MemoryError of odd_memory"  # which load makes an UnsupportedError
    for name, line in zip(names[1:], message[1:], strict=True):
        assert line.startswith(f"UnsupportedError no kernel {name} in this installation"), line


def test_a_module_without_a_kernel_is_refused(target):
    converted = convert(small.relu())
    converted.graph.steps[0].kernel = "_runs"
    text = refusal(target, writer.model_bytes(converted.graph, converted.plan.arena_bytes))
    assert text == "UnsupportedError no kernel _runs in this installation of mpconnxr"


def test_another_kind_of_file_is_refused(target):
    assert refusal(target, b"\x08\x08\x12\x07pytorch" * 20).startswith("ModelError")


def stump():
    """Return a tree of one comparison."""
    tree = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_featureids": [1, 0, 0],
        "nodes_values": [0.5, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "target_treeids": [0, 0],
        "target_nodeids": [1, 2],
        "target_ids": [0, 0],
        "target_weights": [1.0, 2.0],
        "n_targets": 1,
    }
    op, domain = "TreeEnsembleRegressor", "ai.onnx.ml"
    node = helper.make_node(op, ["x"], ["y"], domain=domain, **tree)
    return small.model([node], [small.value("x", (1, 2))], [small.value("y", (1, 1))])


@pytest.mark.parametrize("position", [1, 2])
def test_a_table_of_trees_in_the_arena_is_refused(target, position):
    """Its contents could change before the model runs."""
    file = File(small.binary(stump()))
    [(kernel, inputs, *_)] = file.steps()
    table = inputs[position]
    at, _, _, _, dims, _, _ = file.tensors[table]
    in_arena = file.changed((at + 1, 0), (at + 3 + len(dims), 0), (0, 1 << 16), (1, 1 << 16))
    unwritten = f"step 0 {kernel} reads tensor {table}, which nothing wrote"
    assert unwritten in refusal(target, in_arena)
