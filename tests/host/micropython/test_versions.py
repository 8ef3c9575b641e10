"""Targets of other versions of MicroPython: their names, their sources, all loops on them.

MPCONNXR_LONG=1: every pair of docs/targets.md, the loops 300 times, two models of the collection
on those that are processes of this computer, and ONNX's node tests on those of the unix port.
"""

import json
import os
import sys

import pytest

from tests.host import zoo
from tests.host.device.test_loop_forms import digests
from tools.check.loops import expected, families
from tools.conformance.__main__ import main as conformance
from tools.conformance.suite import PASSED
from tools.micropython import TargetError, get_target, is_target, target_name
from tools.micropython.recipe import Recipe
from tools.micropython.unix import TARGETS as UNIX
from tools.micropython.unix import UnixTarget
from tools.micropython.versions import split
from tools.run.__main__ import main as run

LONG = os.environ.get("MPCONNXR_LONG") == "1"
# 1.26 and 1.27 have a bug in their Thumb emitter.
OFTEN = (
    *("unix32@1.26.1", "mps2-an385@1.26.1"),
    *("unix32@1.27.0", "mps2-an385@1.27.0", "unix32@1.29.0", "webassembly@1.28.0"),
)
MATRIX = {
    "1.25.0": ("webassembly",),
    "1.26.0": ("webassembly",),
    "1.26.1": (
        *("unix", "unix32", "unix-plain", "mps2-an385", "mps2-an385-v6m", "mps2-an386"),
        *("mps2-an505", "virt-rv32", "sim-de212"),
    ),
    "1.27.0": (
        *("unix", "unix32", "mps2-an385", "mps2-an385-v6m", "mps2-an505", "virt-rv32"),
        "webassembly",
    ),
    "1.28.0": ("webassembly",),
    "1.29.0": ("unix", "unix32", "unix-plain", "mps2-an385"),
}
EVERY = [f"{name}@{version}" for version, names in MATRIX.items() for name in names]
UNIX_PORT = [name for name in EVERY if name.startswith("unix")]
WEBASSEMBLY = [name for name in EVERY if name.startswith("webassembly")]
MODELS = ("mnist_8", "mlperf_kws_dscnn_int8")


@pytest.fixture
def versioned(request, ready_target):
    """Return a target of another version."""
    return ready_target(request.param)


def test_targets_are_named_with_versions():
    assert split("unix32") == ("unix32", "")
    assert split("unix32@1.26.1") == ("unix32", "1.26.1")
    assert split("unix32@1.29") == ("unix32", "1.29.0")
    assert get_target("unix32@1.25.0") is get_target("unix32")
    assert get_target("unix32@1.26").name == "unix32@1.26.0"
    assert target_name("mps2-an385@1.26.1") == "mps2-an385@1.26.1"
    assert is_target("unix@1.26.1") and not is_target("/dev/ttyACM0")


@pytest.mark.parametrize("name", ["unix32@", "unix32@2.0", "unix32@1.26.1.1", "nothing@1.26.1"])
def test_names_of_unknown_versions_are_refused(name):
    with pytest.raises(TargetError, match="unknown"):
        get_target(name)


@pytest.mark.parametrize(
    "name", ["unix@1.23", "virt-rv32@1.29", "sim-de212@1.27", "webassembly@1.24", "cpython@1.25"]
)
def test_targets_without_a_build_are_refused(name):
    with pytest.raises(TargetError, match="is not built from MicroPython 1."):
        get_target(name)


@pytest.mark.parametrize("version", ["1.25.0", "1.26.0", "1.27.0", "1.28.0", "1.29.0"])
def test_npm_installs_the_requested_version(version, ready_target):
    target = ready_target(f"webassembly@{version}")
    completed = target.run("import sys\nprint('.'.join(map(str, sys.implementation.version[:3])))")
    assert completed.stdout.strip() == version
    assert target.name == ("webassembly" if version == "1.29.0" else f"webassembly@{version}")


def test_each_version_has_its_own_path():
    paths = {get_target(f"unix{at}").recipe.path("unix") for at in ("", "@1.26.1", "@1.29")}
    assert len(paths) == 3


def test_a_target_proves_the_size_of_its_words(tmp_path, monkeypatch):
    """A target built with other words is refused, and not kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    unix = UNIX[0]
    executable = unix.build()
    product = tmp_path / "made" / "micropython"

    class Copied(Recipe):
        def path(self, name):
            return product

        def build(self, name):
            product.parent.mkdir(exist_ok=True)
            product.write_bytes(executable.read_bytes())
            product.chmod(0o755)
            return product

    wrong = UnixTarget(
        "wrong", "", Copied("unix", "micropython"), 32, 64, True, "", build_packages=()
    )
    with pytest.raises(TargetError, match="another size of words than 32 bits: sys.maxsize is 92"):
        wrong.build()
    assert not product.exists() and sys.maxsize == 9223372036854775807


@pytest.mark.slow
@pytest.mark.parametrize("versioned", EVERY if LONG else OFTEN, indirect=True)
def test_loops_give_the_same_bits(versioned):
    n = 300 if LONG else 20
    names = list(families())
    assert digests(versioned, names, n) == expected(names, n)


@pytest.mark.skipif(not LONG, reason="MPCONNXR_LONG=1 runs ONNX's node tests on each version")
@pytest.mark.parametrize("versioned", UNIX_PORT, indirect=True, ids=str)
def test_onnx_node_tests_pass(versioned, capfd):
    """The same cases pass as on the default version."""
    passed = {}
    for name in (versioned.name, versioned.name.partition("@")[0]):
        conformance(["--target", name, "--json"])
        cases = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        passed[name] = {(c["collection"], c["name"]) for c in cases if c["status"] in PASSED}
    one, other = passed.values()
    assert len(one) > 1800 and one == other


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "versioned",
    UNIX_PORT + WEBASSEMBLY if LONG else ["webassembly@1.28.0"],
    indirect=True,
    ids=str,
)
def test_models_agree_with_onnxruntime(versioned, name, capfd):
    if not zoo.model_path(name).is_file():
        pytest.skip(f"no model collection at {zoo.ZOO}")
    model = str(zoo.model_path(name))
    assert run([model, "--random", "2", "--compare", "--target", versioned.name, "--json"]) == 0
    errors = json.loads(capfd.readouterr().out)["errors"]
    assert all(e["max_rel"] <= (0.02 if "int8" in name else 1e-4) for e in errors)
