"""The package that is built from its sources, and its copies for boards."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import littlefs
import pytest
from littlefs.context import UserContext

from tests.device.networks import NETWORKS
from tests.host.device import small
from tools import package
from tools.converter.convert import convert
from tools.deploy import boards, code
from tools.deploy import joined as joining
from tools.deploy.code import Builder, whole
from tools.deploy.joined import joined, merged
from tools.deploy.modules import Package, always_taken
from tools.dist import package as command
from tools.loops.numbered import kernel
from tools.machine import Machine

BLOCK, PROG = 4096, 256  # bytes of a board's LittleFS
MODEL = 200_000  # bytes: room for a model, beside the package
ANY = {"esp32": 400_000, "esp32-c3": 400_000, "esp32-s3": 4_000_000, "pico2": 1_400_000}
OWN = {"pico": 250_000, "pico2": 1_900_000, "esp32": 900_000, "esp32-c3": 900_000}
OWN |= {"esp32-s3": 5_000_000}


def test_other_modules_are_copied_unchanged():
    made = dict(package.modules())
    assert len(made) > 700
    for path in package.SOURCES.rglob("*.py"):
        name = path.relative_to(package.SOURCES).as_posix()
        if not name.startswith("loops/"):
            expected = kernel(path) if path.parent == package.KERNELS else path.read_text()
            assert made[name] == expected, name
        elif path.name[0] == "_":
            assert name not in made


IMPORT = """
for name in {names}:
    __import__("mpconnxr.ops." + name)
print("imported")
"""


@pytest.mark.parametrize("target", ["unix32", "unix-plain"], indirect=True)
def test_unbuilt_kernels_can_be_imported(target):
    """A copy of unbuilt sources is slow, but not refused."""
    names = [path.stem for path in package.KERNELS.glob("*.py") if path.stem != "__init__"]
    files = {"mpconnxr": package.SOURCES}
    assert small.run(target, IMPORT.format(names=names), files).strip() == "imported"


def test_concurrent_processes_get_the_same_package(tmp_path):
    """None sees a part of it."""
    script = "from tools import package\nprint(len([*package.folder().rglob('*.py')]))"
    environment = os.environ | {"MPCONNXR_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", script]
    options = {"cwd": package.ROOT, "env": environment, "text": True, "stdout": subprocess.PIPE}
    started = [subprocess.Popen(command, **options) for _ in range(3)]
    results = {process.communicate(timeout=120)[0].strip() for process in started}
    assert results == {str(len(dict(package.modules())))}
    assert len([*(tmp_path / "packages").iterdir()]) == 1


def test_a_build_needs_only_the_standard_library():
    script = "from tools import package\nprint(len(dict(package.modules())))"
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = ['.']; {script}"]
    completed = subprocess.run(command, cwd=package.ROOT, capture_output=True, text=True)
    assert completed.stdout.strip() == str(len(dict(package.modules()))), completed.stderr


@pytest.fixture(scope="module")
def copies():
    """Return the package for any board, and for some boards by their names."""
    made = {"": whole(Package(), None)}
    return made | {name: whole(Package(), boards.named(name).machine) for name in OWN}


@pytest.mark.slow
def test_copies_have_the_promised_sizes(copies):
    results = {name: command.sizes(files) for name, files in copies.items()}
    print(results)
    assert results[""]["bytes"] <= 850_000 and results[""]["in_blocks"] <= 1_650_000
    for name in OWN:
        assert results[name]["bytes"] <= 650_000 and results[name]["in_blocks"] <= 1_190_000


def test_the_page_states_the_sizes(copies):
    page = (package.ROOT / "docs" / "deploy.md").read_text()
    for name, files in copies.items():
        result = command.sizes(files)
        row = f"{len(files)} | {result['bytes']:,} | {result['in_blocks']:,}"
        assert row in page, f"{name or 'any board'}: {row}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "kind"), [*((name, "") for name in ANY), *((name, name) for name in OWN)]
)
def test_a_copy_fits_a_board_with_a_model(copies, board, kind):
    nbytes = boards.named(board).filesystem_bytes
    fs = file_system(copies[kind] | {"model.bin": bytes(MODEL)}, nbytes)[0]
    left = nbytes - BLOCK * fs.used_block_count + MODEL
    print(f"{board} {kind or 'any'}: {left:,} bytes left for models")
    assert left >= (OWN if kind else ANY)[board]


def file_system(files, nbytes):
    """Return a LittleFS as MicroPython formats it, with these files, and its bytes."""
    context = UserContext(nbytes)
    sizes = {"block_size": BLOCK, "block_count": nbytes // BLOCK}
    sizes |= {"prog_size": PROG, "read_size": 32, "cache_size": 4 * PROG}
    fs = littlefs.LittleFS(context, **sizes)
    for name, data in files.items():
        fs.makedirs(str(Path(name).parent), exist_ok=True)
        with fs.open(name, "wb") as f:
            f.write(data)
    return fs, context.buffer


VERIFY = """
import mpconnxr
from mpconnxr import golden
for i in range({n}):
    name = "{{}}.bin".format(i)
    print(mpconnxr.load(name).kernels(), golden.verify(name).ok)
"""


@pytest.fixture
def all_small(monkeypatch):
    """Join families whatever their size: code for 64-bit words is large."""
    monkeypatch.setattr(joining, "MAX_NBYTES", 1 << 20)
    monkeypatch.setattr(code, "MAX_BLOCKS", 0)


@pytest.mark.slow
def test_joined_modules_do_the_same(target, all_small):
    """All networks run, with the kernels and forms of the package in single files."""
    models = {f"{i}.bin": convert(make().model).data for i, make in enumerate(NETWORKS.values())}
    script = VERIFY.format(n=len(models))
    machine = Machine.for_arch(target.arch)
    files = whole(Package(), machine)
    assert len(files) < 262
    original = small.run(target, script, models)
    result = target.run(script, files=files | models, timeout=300)
    assert result.stdout == original and original.count("True") == len(models), result.stderr


def test_modules_with_one_user_are_merged_into_it():
    head = '"""Doc."""\n'
    texts = {"build.node": head + "N = const(1)\nA = 2\n"}
    texts |= {"build.written": head + "from .node import A\n"}
    texts |= {"build.loader": head + "from .written import B\nN = const(1)\nA = A + B\n"}
    graph = "from .graph import g as h\n"  # another name
    texts |= {"build.graph": head, "build.reader": head + graph}
    texts |= {"model": head + "from .turn import x\n", "turn": head}  # not of loading alone
    made = merged({f"mpconnxr.{name}": text for name, text in texts.items()})
    names = {name.removeprefix("mpconnxr.") for name in made}
    assert names == {*texts} - {"build.node"}
    assert made["mpconnxr.build.written"] == head + "N = const(1)\nA = 2\n"


FIND = """
from mpconnxr import forms
import sys
for line in open("joined"):
    family, form, user = line.split()
    __import__(user)
    assert forms.find(family, form) is sys.modules[user], family
print("all")
"""


@pytest.mark.slow
def test_each_joined_family_is_found_in_its_module(target, all_small):
    package_ = Package()
    builder = Builder(package_, Machine.for_arch(target.arch))
    paths = package_.files_for(package_.kernels(), pick=builder.pick)
    modules = {package_.module(path): path for path in paths}
    takers = package_.only_users(paths, builder.pick)
    always = package_.always_taken(paths, builder.pick)
    left = joined(modules, takers, lambda path: 0 if path in always else len(builder.build(path)))
    lines = []
    for name in takers.keys() - left.keys():
        form, family = name.split(".")[2:] if name.count(".") == 3 else ("viper", name[15:])
        is_plain = "@micropython." not in modules[name].read_text()
        lines.append(f"{family} {'plain' if is_plain else form} {takers[name]}\n")
    assert len(lines) > 60
    files = whole(package_, Machine.for_arch(target.arch)) | {"joined": "".join(lines).encode()}
    completed = target.run(FIND, files=files)
    assert completed.stdout == "all\n", completed.stderr


def test_COMMON_applies_to_one_family(tmp_path):
    """mpconnxr.forms would take a plain family beside one with COMMON for viper."""
    texts = {"k": "x = 1\n", "a": "COMMON = True\n\n\ndef a(p):\n    return p\n"}
    texts["b"] = "def b(p):\n    return p\n"
    modules = {"mpconnxr.ops.k": tmp_path / "k"}
    modules |= {f"mpconnxr.loops.{name}": tmp_path / name for name in "ab"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    takers = dict.fromkeys(["mpconnxr.loops.a", "mpconnxr.loops.b"], "mpconnxr.ops.k")
    for first, second in ("ab", "ba"):
        left = joined(modules, takers, lambda path, second=second: int(path.name == second))
        assert left.keys() == {"mpconnxr.ops.k", f"mpconnxr.loops.{second}"}, first


ALWAYS = """
from .. import forms

def prepare(node):
    if node.nelem == 0:
        return 0, None
    step = _Step(node)
    step.bind()
    {branch}
    return 1, step
class _Step:
    def __init__(self, node):
        self.loop = forms.get("made")
    def bind(self):
        self.other = forms.get("bound")
    def rest(self):
        self.more = forms.get("unbound")
"""


@pytest.mark.parametrize(
    ("branch", "more"),
    [
        ("step.x = forms.get('x')", {"x"}),
        ("step.x = forms.get('x') if node else None", set()),
        ("for i in node: forms.get('x')", set()),
        ("step.rest()", {"unbound"}),
        ("node and step.rest()", set()),
    ],
)
def test_imports_in_branches_are_not_always_taken(branch, more):
    tree = ast.parse(ALWAYS.format(branch=branch))
    assert always_taken(tree) == {"made", "bound"} | more


def test_only_as_many_families_are_joined_as_needed(tmp_path):
    """The smallest ones that do not waste memory come first."""
    (tmp_path / "k").write_text("x = 1\n")
    modules = {"mpconnxr.ops.k": tmp_path / "k"}
    for name in "abc":
        (tmp_path / name).write_text(f"def {name}(p):\n    return p\n")
        modules[f"mpconnxr.loops.{name}"] = tmp_path / name
    takers = dict.fromkeys([m for m in modules if "loops" in m], "mpconnxr.ops.k")
    idle = {"a": 200, "b": 0, "c": 100}
    left = joined(modules, takers, lambda p: idle[p.name], lambda sources: len(sources) < 3)
    assert left.keys() == {"mpconnxr.ops.k", "mpconnxr.loops.a"}


def test_families_with_conflicting_names_are_not_joined(tmp_path):
    def left(kernel, family):
        (tmp_path / "k.py").write_text(kernel)
        (tmp_path / "f.py").write_text(family)
        modules = {"mpconnxr.ops.k": tmp_path / "k.py", "mpconnxr.loops.f": tmp_path / "f.py"}
        return joined(modules, {"mpconnxr.loops.f": "mpconnxr.ops.k"}, lambda path: 100)

    family = '"""F."""\n\nfrom .. import forms\n\n\ndef loop(p):\n    return forms\n'
    kernel = "from .. import forms\n\n\ndef prepare(node):\n    return node\n"
    [(name, text)] = left(kernel, family).items()
    assert name == "mpconnxr.ops.k" and text.startswith(kernel)
    assert "from mpconnxr import forms\n" in text and '"""F."""' not in text
    *_, entered, let_go = filter(None, text.splitlines())
    assert entered == "sys.modules['mpconnxr.loops.f'] = sys.modules[__name__]"
    assert let_go == "LET_GO = ('prepare',)"  # mpconnxr.build.load, once a model is loaded
    assert len(left(kernel, family.replace("loop", "prepare"))) == 2
    assert len(left(kernel, family.replace(".. import forms", "..x import forms"))) == 2
    assert len(left(kernel.replace("return node", "return max(node)"), family + "max = 1\n")) == 2
    assert len(left(kernel + "min = 1\n", family.replace("return forms", "return min(p)"))) == 2


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_command_writes_a_copy_and_replaces_it(folder, capsys):
    assert command.main(["--board", "pico"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^package   build/mpconnxr, for Raspberry Pi Pico: \d+ files", out)
    assert "next      mpremote cp -r build/mpconnxr :" in out
    assert (folder / "build/mpconnxr/__init__.mpy").is_file()
    assert command.main([]) == 0
    assert (folder / "build/mpconnxr/__init__.py").is_file()
    assert not [*(folder / "build").rglob("*.mpy")] and len([*(folder / "build").iterdir()]) == 1


def test_the_command_replaces_only_copies(folder, capsys):
    other = folder / "build" / "mpconnxr" / "mine.txt"
    other.parent.mkdir(parents=True)
    other.write_text("")
    assert command.main([]) == 1
    assert "is no package of mpconnxr" in capsys.readouterr().err and other.exists()
    assert command.main(["--to", str(package.ROOT)]) == 1
    assert "has the sources of mpconnxr" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        command.main(["--board", "none"])
    assert stop.value.code == 2
