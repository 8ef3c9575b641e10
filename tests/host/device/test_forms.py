"""Each family of loops uses the right form, and all its forms give the same bits."""

import struct

import ml_dtypes
import numpy as np
import pytest

from mpconnxr.forms import order as ORDER
from tests.host.device import cases, small
from tools import package, store
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
viper_targets = pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)

LOOPS = store.loops()
RANDOM_MODELS = 40
HEAP = 64 << 20  # bytes: some of ONNX's cases are large
SHOW = "from mpconnxr import forms\nprint(forms.available({0!r}), forms.get({0!r}, {1!r}).NAME)"
# families that these models run, at least
MODELS_USE = {"conv", "gather", "move", "pool"}
MODELS_USE |= {"relu", "select", "trees", "unpack"}
COMMON = "COMMON = True\nNAME = 'common'\nimport micropython\n@micropython.viper\ndef f(): pass\n"


def common_families():
    return {
        family
        for family in LOOPS.families()
        if "viper" in {*LOOPS.forms_of(family)} - {*LOOPS.modules(family)}
    }


def family(**forms):
    """Return the package, as files, with the family `t` in these forms as its only loops."""
    places = {form: "" if form == "plain" else f"{form}/" for form in forms}
    return {
        **{f"mpconnxr/{p.name}": p for p in package.folder().glob("*.py")},
        **{f"mpconnxr/loops/{places[f]}t.py": text.encode() for f, text in forms.items()},
    }


def show(target, form=None, **forms):
    completed = target.run(SHOW.format("t", form), files=family(**forms))
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.strip()


@every_target
@pytest.mark.parametrize("name", sorted(common_families()))
def test_families_written_once_have_both_forms(target, name):
    """They do so whatever tuned forms there are."""
    script = f"from mpconnxr import forms\nprint(*forms.available({name!r}))"
    expected = ["viper", "plain"] if target.viper else ["plain"]
    assert small.run(target, script).split()[-len(expected) :] == expected


@every_target
def test_a_common_source_serves_both_forms(target):
    best = "['viper', 'plain']" if target.viper else "['plain']"
    assert show(target, plain=COMMON) == f"{best} common"
    assert show(target, "plain", plain=COMMON) == f"{best} common"


@every_target
def test_tuned_forms_are_preferred_if_the_machine_runs_them(target):
    modules = {
        "plain": "NAME = 'plain'",
        "viper": "NAME = 'viper'\n@micropython.viper\ndef f(): pass\n",
        # Compiles anywhere, and so must be refused by architecture.
        "thumb": "NAME = 'thumb'",
        "armv7m": "NAME = 'armv7m'",
    }
    best = "['viper', 'plain'] viper" if target.viper else "['plain'] plain"
    assert show(target, **modules) == best
    assert show(target, "plain", **modules).endswith(" plain")


@pytest.mark.parametrize(
    ("number", "best"),
    [(2, "viper"), (4, "thumb"), (5, "armv7m"), (6, "armv7m"), (8, "armv7em"), (10, "viper")]
    + [(11, "rv32")],
)
def test_the_architecture_selects_the_form(target, number, best):
    names = ("viper", "thumb", "armv7m", "armv7em", "rv32")
    modules = {name: f"NAME = {name!r}" for name in names}
    script = f"from mpconnxr import forms\nforms.arch = lambda: {number}\n"
    script += "print(forms.available('t')[0], forms.get('t').NAME)"
    completed = target.run(script, files=family(plain="NAME = 'plain'", **modules))
    assert (completed.stdout, completed.stderr) == (f"{best} {best}\n", "")


@every_target
def test_a_loop_for_later_is_imported_when_it_is_called(target):
    script = """
import sys
from mpconnxr import forms
add = forms.later("t", "add")
print(add is forms.later("t", "add"), "mpconnxr.loops.t" in sys.modules)
print(add(2, 3), "mpconnxr.loops.t" in sys.modules)
"""
    completed = target.run(script, files=family(plain="def add(p, w):\n    return p + w\n"))
    assert (completed.stdout, completed.stderr) == ("True False\n5 True\n", "")


@every_target
def test_an_absent_family_is_named(target):
    script = """
from mpconnxr import UnsupportedError, forms
for name, form in (("none", None), ("relu", "thumb")):
    try:
        forms.get(name, form)
    except UnsupportedError as e:
        print(e)
"""
    absent, no_thumb = small.run(target, script).splitlines()
    assert absent == f"none has no {' or '.join(ORDER)} form here"
    assert no_thumb == "relu has no thumb form here"


@every_target
def test_a_form_that_fails_leaves_nothing_behind(target):
    unknown = "NAME = 'viper'\n@micropython.none\ndef f(): 0"
    modules = {"plain": "NAME = 'plain'", "viper": unknown}
    script = "from mpconnxr import forms\nimport sys\nprint(forms.get('t').NAME)\n"
    script += "print('mpconnxr.loops.viper.t' in sys.modules)"
    completed = target.run(script, files=family(**modules))
    assert (completed.stdout, completed.stderr) == ("plain\nFalse\n", "")


def packed(named):
    """Return cases.bin of forms_agree.py from [(name, model, inputs)]."""

    def number(n):
        return struct.pack("<I", n)

    packed = bytearray()
    for name, data, inputs in named:
        for piece in (name.encode(), data):
            packed += number(len(piece)) + piece
        packed += number(len(inputs)) + b"".join(number(len(x)) + x for x in inputs)
    return bytes(packed)


def agreeing(target, named):
    """Return the used families; every case must give the same bits in all forms."""
    script = small.SCRIPTS / "forms_agree.py"
    files = {"cases.bin": packed(named)}
    *differences, families = small.run(target, script, files, heap=HEAP).splitlines()
    assert not differences
    return set(families.split())


def random_model(rng):
    """Return Conv, Relu or Clip, MaxPool, Transpose with random shapes, attributes and values."""
    c, m, h, w = (int(v) for v in rng.integers([1, 1, 5, 5], [4, 4, 9, 9]))
    conv = {"pads": rng.integers(0, 3, 4).tolist(), "strides": [1, c]}
    conv["dilations"] = rng.integers(1, 3, 2).tolist()
    pool = {"kernel_shape": [2, 1], "pads": [1, 0, 0, 0]}
    pool["strides"] = rng.integers(1, 3, 2).tolist()
    nodes = [
        ("Conv", "x w b", "c", conv),
        ("Relu", "c", "r", {}) if m > 1 else ("Clip", "c low", "r", {}),
        ("MaxPool", "r", "p", pool),
        ("Transpose", "p", "y", {"perm": rng.permutation(4).tolist()}),
    ]
    proto = small.model(
        nodes,
        [small.value("x", (2, c, h, w))],
        [small.value("y", [None] * 4)],
        w=rng.standard_normal((m, c, *rng.integers(1, 4, 2))).astype(np.float32),
        b=rng.standard_normal(m).astype(np.float32),
        low=np.float32(rng.standard_normal()),
    )
    x = rng.standard_normal((2, c, h, w)).astype(np.float32)
    x.flat[:2] = rng.choice([np.inf, -np.inf, np.nan, -0.0, 1e-42], 2)
    return small.binary(proto), [x.tobytes()]


def packed_model():
    """Return a model with constants that load() unpacks; their bits do not fill whole bytes."""
    w = np.arange(35).reshape(7, 5).astype(ml_dtypes.int4)
    nodes = [("DequantizeLinear", "w scale", "d", {}), ("Add", "x d", "y", {})]
    values = [small.value(name, w.shape) for name in "xy"]
    proto = small.model(nodes, values[:1], values[1:], 25, w=w, scale=np.float32(0.3))
    return small.binary(proto, optimize=0), [small.floats(*w.shape).tobytes()]


def table_model():
    """Return a model of functions that become tables of bytes and of floats."""
    nodes = [("Tanh", "d", "t", {}), ("QuantizeLinear", "t scale", "y", {})]
    nodes = [("DequantizeLinear", "x scale", "d", {}), *nodes, ("Exp", "d", "z", {})]
    x, y, z = (small.value(n, [300], dtype) for n, dtype in (("x", 2), ("y", 2), ("z", 1)))
    proto = small.model(nodes, [x], [y, z], scale=np.float32(0.02))
    return small.binary(proto), [bytes(range(256)) + bytes(44)]


@viper_targets
@pytest.mark.slow
def test_all_forms_agree(target):
    """Models are ONNX's node tests and random ones; test_loop_forms covers single families."""
    rng = np.random.default_rng(2)
    named = [(c.name, c.data, c.inputs) for c in cases.all_cases() if c.inputs is not None]
    named += [(f"random {i}", *random_model(rng)) for i in range(RANDOM_MODELS)]
    named += [("packed", *packed_model()), ("tables", *table_model())]
    assert agreeing(target, named) >= MODELS_USE
