"""typings/ declares what mpconnxr has."""

import ast
import importlib
import importlib.util
import inspect
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from mpconnxr.rare import _PLACES

ROOT = Path(__file__).parents[2]
STUBS = ROOT / "typings" / "mpconnxr"
METHODS = sorted(name for name in _PLACES if name[0] != "_")

needs_mypy = pytest.mark.skipif(
    importlib.util.find_spec("mypy") is None, reason="mypy is not installed: make setup"
)

GOOD = """
import mpconnxr
from mpconnxr.io.classes import top_k

model = mpconnxr.load("model.bin", arena=bytearray(60_000))
outputs = model.run([0.1, 0.2])
name: str | None = outputs[0].name
best: list[tuple[object, float]] = list(top_k(outputs[0], 3))
print(model.benchmark(20).p95_us + 1, model.profile().us)
try:
    mpconnxr.load(b"")
except mpconnxr.ArenaError as e:
    print(e.needed - e.available)
"""
BAD = """
import mpconnxr

model = mpconnxr.load(7)
model.run(deadline="soon")
model.outputs[0].nothing
"""


def mypy(*args, cwd):
    environment = os.environ | {"MYPYPATH": f"{ROOT / 'typings'}", "PYTHONPATH": f"{ROOT}"}
    environment["PYTHONPATH"] += os.pathsep + os.environ.get("PYTHONPATH", "")
    return subprocess.run(
        [sys.executable, "-m", *args],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@needs_mypy
def test_stubs_have_what_the_package_has(tmp_path):
    allowed = tmp_path / "allowed"  # found by Model.__getattr__: see the next test
    allowed.write_text("".join(f"mpconnxr.model.Model.{name}\n" for name in METHODS))
    args = ["--ignore-missing-stub", "--concise", "--allowlist", allowed]
    completed = mypy("mypy.stubtest", "mpconnxr", *args, cwd=tmp_path)
    assert completed.returncode == 0, completed.stdout + completed.stderr


@pytest.mark.parametrize("name", METHODS)
def test_rare_methods_have_the_signatures_of_their_functions(name):
    function = getattr(importlib.import_module(f"mpconnxr.{_PLACES[name]}"), name)
    tree = ast.parse((STUBS / "model.pyi").read_text())
    stub = next(n for n in ast.walk(tree) if getattr(n, "name", "") == name)
    assert isinstance(stub, ast.AsyncFunctionDef) == inspect.iscoroutinefunction(function)
    defaults = [eval(ast.unparse(node)) for node in stub.args.defaults]
    parameters = list(inspect.signature(function).parameters.values())[1:]
    assert [arg.arg for arg in stub.args.args[1:]] == [p.name for p in parameters]
    assert defaults == [p.default for p in parameters if p.default is not p.empty]


@needs_mypy
def test_mypy_checks_a_program_by_the_stubs(tmp_path):
    for name, source in (("good.py", GOOD), ("bad.py", BAD)):
        (tmp_path / name).write_text(source)
    args = ["--strict", "--no-incremental", "--follow-imports=silent"]
    good = mypy("mypy", *args, "good.py", cwd=tmp_path)
    assert good.returncode == 0, good.stdout
    bad = mypy("mypy", *args, "bad.py", cwd=tmp_path)
    assert {line.split(":")[1] for line in bad.stdout.splitlines()[:-1]} == {"4", "5", "6"}


@needs_mypy
def test_stubs_from_a_wheel_check_a_program(tmp_path):
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed: make setup")
    pip = [sys.executable, "-m", "pip", "-q"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    subprocess.run([*pip, *build, str(ROOT / "typings")], check=True, timeout=300)
    (wheel,) = tmp_path.glob("mpconnxr_stubs-*.whl")
    venv.create(tmp_path / "venv", with_pip=False)
    (site,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (tmp_path / "program.py").write_text(
        GOOD + "label: str = outputs[0].dtype\nlabel = len(outputs[0])\n"
    )
    where = ["--python-executable", str(tmp_path / "venv" / "bin" / "python")]
    completed = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", *where, "program.py"],
        cwd=tmp_path,
        env={name: os.environ[name] for name in ("PATH", "HOME")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    *result, _ = completed.stdout.splitlines()
    assert len(result) == 1 and "Incompatible types in assignment" in result[0], completed.stdout


def test_each_module_of_the_stubs_exists():
    for stub in STUBS.glob("*.pyi"):
        assert (ROOT / "mpconnxr" / f"{stub.stem}.py").is_file()
