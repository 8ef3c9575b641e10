"""load(prefer=...), Model.kernels() and `inspect --kernels` follow docs/api.md."""

import re

import pytest
from onnx import TensorProto, helper

from tests.host.device import cases, small
from tools import package
from tools.converter import __main__ as converter
from tools.deploy.modules import Package
from tools.format.reader import read
from tools.micropython import UNIX_TARGETS

PACKAGE = package.folder()

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
RUN = """
import mpconnxr
for prefer in ((), ("plain",), ("viper",), "plain", ("none", "thumb", "plain")):
    m = mpconnxr.load("m.bin", prefer=prefer)
    for i in range(m.inputs[0].nelem):
        m.inputs[0].data[i] = (i * 37 % 64 - 32) / 8
    m.run()
    print(bytes(m.outputs[0].view("B")).hex())
    print(m.kernels())
"""


def listed(form, **families):
    return str([(str(i), k, {f: form}) for i, (k, f) in enumerate(families.items())])


@every_target
def test_a_preferred_form_gives_the_same_bits_and_is_listed(target):
    nodes = [("Relu", "x", "r", {}), ("MaxPool", "r", "y", {"kernel_shape": [2, 2]})]
    proto = small.model(nodes, [small.value("x", (1, 2, 5, 6))], [small.value("y", (1, 2, 4, 5))])
    printed = small.lines(target, RUN, m=small.binary(proto))
    best = "viper" if target.viper else "plain"
    steps = {"relu": "relu", "max_pool": "pool"}
    assert len(set(printed[::2])) == 1
    expected = [listed(form, **steps) for form in (best, "plain", best, "plain", "plain")]
    assert printed[1::2] == expected


@every_target
def test_a_preference_ends_with_the_load(target, relu):
    script = """
import mpconnxr
from mpconnxr import forms
usual, get = forms.order, forms.get
mpconnxr.load("m.bin", prefer=("plain",)).kernels()
print(forms.order is usual, forms.get is get, mpconnxr.load("m.bin").kernels()[0][2])
try:
    mpconnxr.load(memoryview(b"?"), prefer=("plain",))
except mpconnxr.ModelError:
    print(forms.order is usual)
"""
    form = "viper" if target.viper else "plain"
    assert small.lines(target, script, m=relu) == [f"True True {{'relu': '{form}'}}", "True"]


@every_target
def test_steps_with_open_shapes_are_listed(target):
    """They select their loops during the run: a preference still applies."""
    nodes = [
        ("NonZero", "x", "n", {}),
        ("Cast", "n", "f", {"to": TensorProto.FLOAT}),
        ("Relu", "f", "y", {}),
    ]
    data = small.binary(small.model(nodes, [small.value("x", (4,))], [small.value("y", (1, "n"))]))
    script = """
import mpconnxr
from mpconnxr import forms
m = mpconnxr.load("m.bin", prefer=("plain",))
print(list(m.run([1, 0, 0, 2])[0].data), m.kernels()[-1])
print([form[0] for name, form in forms._loaded if name == "relu"])
"""
    taken, first = small.lines(target, script, m=data)
    assert taken == "[0.0, 3.0] ('2', 'relu', {})"
    assert first == "['plain']"


def branching():
    """Return an If with a Relu in one body and a Softmax in the other."""

    def body(op):
        out = helper.make_tensor_value_info(op, TensorProto.FLOAT, (1, 3))
        return helper.make_graph([helper.make_node(op, ["x"], [op])], op, [], [out])

    branches = {"then_branch": body("Relu"), "else_branch": body("Softmax")}
    inputs = [small.value("c", (), TensorProto.BOOL), small.value("x", (1, 3))]
    return small.model([("If", "c", "y", branches)], inputs, [small.value("y", (1, 3))])


@every_target
def test_steps_of_bodies_are_listed(target):
    script = """
import mpconnxr
for step, kernel, forms in mpconnxr.load("m.bin").kernels():
    print(step, kernel, sorted(forms))
"""
    data = small.binary(branching())
    printed = small.lines(target, script, m=data)
    assert [line.split()[1] for line in printed] == [n.kernel for n in read(data).nodes]
    assert [line.split()[0].count("/") for line in printed] == [n.depth for n in read(data).nodes]
    assert any(line.endswith("relu ['relu']") for line in printed)


def test_listing_leaves_the_arena_as_it_is(target):
    """The smallest file of every kernel is listed."""
    script = """
import mpconnxr
for i in range(int(open("n").read())):
    m = mpconnxr.load(f"{i}.bin")
    before = bytes(m._arena)
    m.kernels()
    if bytes(m._arena) != before:
        print("changed by one of", [k for _, k, _ in m.kernels()])
"""
    result = cases.smallest(1)
    files = {f"{i}.bin": data for i, [data] in enumerate(result.values())}
    assert small.run(target, script, files | {"n": str(len(files)).encode()}) == ""


def test_inspect_lists_kernels_with_their_forms(tmp_path, capsys):
    path = tmp_path / "m.bin"
    path.write_bytes(small.binary(small.mixed(), optimize=1))
    assert converter.main(["inspect", "--kernels", str(path)]) == 0
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    forms = ["thumb,", "rv32,", "xtensawin,", "viper,", "plain"]
    assert ["block_conv", "1", "averages:", "armv7m,", *forms] in printed
    assert ["block:", *forms] in printed
    assert ["max_pool", "1", "maxima:", *forms] in printed
    assert ["block_rows:", "armv7m,", *forms] in printed


@pytest.mark.slow
def test_inspect_knows_every_family_and_form():
    package = Package()
    kernels = [p.stem for p in (PACKAGE / "ops").glob("[a-z]*.py")]
    results = {}
    for kernel in kernels:
        results |= package.forms_for(kernel)
    assert results["qdot"] == ["armv7em", "armv7m", "thumb", "rv32", "xtensawin", "viper", "plain"]
    assert results["relu"] == ["armv7m", "thumb", "rv32", "xtensawin", "viper", "plain"]
    assert results["block_pieces"] == ["viper", "plain"]
    files = [*(PACKAGE / "loops").rglob("*.py")]
    core = {"unpack", "image", "loading", "audio", "cepstra", "program", "table"}
    # what a form imports is a part of it
    imports = [re.findall(r"^from \.+(\w+) import", p.read_text(), re.M) for p in files]
    parts = {stem for stems in imports for stem in stems}
    assert {p.stem for p in files} - parts == {*results, *core} - parts
