"""Packages for mip and the manifest for frozen code install and import on a board."""

import ast
import functools
import http.server
import importlib.util
import io
import json
import os
import subprocess
import sys
import threading

import pytest
from mpremote import mip
from mpremote.transport_serial import SerialTransport

from examples.digits.demo import HERE
from mpconnxr.forms import order
from tests.host.fake_board import FakeBoard
from tests.host.test_flash_slots import model_of
from tools import package
from tools.converter.convert import convert
from tools.deploy.code import Builder, code_for
from tools.deploy.model_file import read_model
from tools.deploy.modules import Package, device_paths
from tools.dist.__main__ import main
from tools.dist.build import write_whole
from tools.dist.machines import machines
from tools.machine import ASSEMBLER, Machine, is_native
from tools.micropython.source import source_tree

BUILT = package.folder().parent

RUN = """
import mpconnxr
from mpconnxr import golden
model = mpconnxr.load({model!r})
print(mpconnxr.__file__, golden.verify({model!r}).ok, model.kernels())
"""


class Server(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def served(tmp_path):
    """Yield (a folder, the address at which it is served)."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(Server, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def board(ready_target, tmp_path):
    folder = tmp_path / "board"
    folder.mkdir()
    fake = FakeBoard(ready_target("unix32").build(), folder)
    yield fake
    fake.stop()


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "digits.bin"
    path.write_bytes(convert(HERE / "digits.onnx").data)
    return path


def mpremote(board, *args):
    command = [sys.executable, "-m", "mpremote", "connect", board.port, *map(str, args)]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout


def install(board, package):
    """Install to the current folder: a fake board's /lib would be the host's."""
    mpremote(board, "mip", "install", "--target", ".", package)


@pytest.mark.slow
def test_source_is_installed_by_mpremote_and_runs(board, served, model):
    folder, address = served
    names = write_whole(folder)
    install(board, f"{address}/package.json")
    assert set(board.files()) == set(names)
    out = mpremote(board, "exec", RUN.format(model=str(model)))
    assert "__init__.py True" in out and "'viper'" in out


@pytest.mark.slow
def test_compiled_modules_are_installed_and_run(board, served, model):
    """x86 replaces a board's architecture."""
    folder, address = served
    names = write_whole(folder, Machine("x86"))
    install(board, f"{address}/package-x86.json")
    assert set(board.files()) == set(names)
    assert all(name.endswith(".mpy") for name in names)
    out = mpremote(board, "exec", RUN.format(model=str(model)))
    assert "__init__.mpy True" in out and "'viper'" in out


@pytest.mark.slow
def test_compiled_modules_are_installed_on_a_pico(ready_target, served, tmp_path):
    """The Pico is emulated, and gets only what the model needs."""
    folder, address = served
    (tmp_path / "model.bin").write_bytes(model_of("Neg"))
    machine = Machine("armv6m", frozenset({"thumb"}))
    files = code_for(read_model(tmp_path / "model.bin"), Package(), machine)
    for file in files:
        (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.path).write_bytes(file.data)
    listed = {"urls": [[file.path, file.path] for file in files]}
    (folder / "package.json").write_text(json.dumps(listed))
    with ready_target("rp2040").board(tmp_path / "flash") as board:
        mpremote(board, "mip", "install", f"{address}/package.json")
        mpremote(board, "cp", tmp_path / "model.bin", ":")
        out = mpremote(board, "exec", RUN.format(model="model.bin"))
    assert "/lib/mpconnxr/__init__.mpy True" in out


PROGRAM = """
import mpconnxr
from mpconnxr import golden
model = mpconnxr.load("digits.bin")
print(type(model).__name__, golden.verify("digits.bin").ok)
"""


@pytest.mark.slow
def test_one_model_is_installed_as_a_program(ready_target, model, tmp_path, capsys):
    folder = tmp_path / "package"
    args = ["--model", model, "--board", "pico", "--to", folder]
    assert main(list(map(str, args))) == 0
    assert "as a program" in capsys.readouterr().out
    with ready_target("rp2040").board(tmp_path / "flash") as board:
        mpremote(board, "mip", "install", "--target", "/", folder / "package.json")
        assert "Program True" in mpremote(board, "exec", PROGRAM)


@pytest.mark.parametrize(
    "args", [["--model", "m.bin"], ["--board", "pico"], ["--model", "m.bin", "--board", "absent"]]
)
def test_a_model_without_a_known_board_is_wrong_usage(args, tmp_path):
    with pytest.raises(SystemExit) as stop:
        main([*args, "--to", str(tmp_path)])
    assert stop.value.code == 2


def test_github_addresses_are_resolved(board, tmp_path, monkeypatch, capsys):
    """Tests all but the network: mpremote's way from github:... to files on the board."""
    base = "https://raw.githubusercontent.com/someone/mpconnxr/mip/"
    names = write_whole(tmp_path)

    def urlopen(url):
        assert url.startswith(base)
        if url == base + "package.json":
            listed = {"urls": [["mpconnxr/build/node.py", "dist/any/mpconnxr/build/node.py"]]}
            return io.BytesIO(json.dumps(listed).encode())
        return open(tmp_path / url.removeprefix(base), "rb")

    monkeypatch.setattr(mip.urllib.request, "urlopen", urlopen)
    serial = SerialTransport(board.port, timeout=15)
    try:
        serial.enter_raw_repl()
        mip._install_package(serial, "github:someone/mpconnxr", "", ".", "mip", True)
        serial.exit_raw_repl()
    finally:
        serial.close()
    assert "mpconnxr/build/node.py" in names
    made = (tmp_path / "dist/any/mpconnxr/build/node.py").read_bytes()
    assert board.files() == {"mpconnxr/build/node.py": made}


@pytest.mark.slow
def test_the_package_for_any_board_has_no_text_for_people(tmp_path):
    names = write_whole(tmp_path)
    listed = json.loads((tmp_path / "package.json").read_text())["urls"]
    assert listed == [[name, f"dist/any/{name}"] for name in names] and len(names) > 300
    assert "mpconnxr/cpython.py" not in names
    forms = {name.split("/")[2] for name in names if name.count("/") == 3}
    assert forms == {"viper"}
    for name in names:
        tree = ast.parse((tmp_path / "dist/any" / name).read_text())
        whole = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)]
        assert not any(map(ast.get_docstring, [tree, *whole])), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "forms"),
    [
        ("armv6m", {"thumb"}),
        ("armv7emsp", {"thumb", "armv7m", "armv7em", "vfp"}),
        ("xtensawin", {"xtensawin"}),
        ("rv32imc", {"rv32"}),
    ],
)
def test_an_architecture_gets_the_forms_that_it_can_run(tmp_path, arch, forms, capsys):
    assert main([arch, "--to", str(tmp_path)]) == 0
    assert f"package-{arch}.json: " in capsys.readouterr().out
    listed = json.loads((tmp_path / f"package-{arch}.json").read_text())["urls"]
    tuned = [place.split("/")[-2] for place, _ in listed if "/loops/" in place]
    assert forms == {*tuned}.intersection(ASSEMBLER)
    assert "viper64" not in tuned
    places, joined = {place for place, _ in listed}, {}
    code = Package()
    builder = Builder(code, machines()[arch])
    paths = code.files_for(code.kernels(), pick=builder.pick)
    for module, user in code.only_users(paths, builder.pick).items():
        place = module.replace(".", "/")
        if f"{place}.mpy" not in places:
            joined.setdefault(user, []).append(BUILT / f"{place}.py")
    for place, source in listed:
        mpy = (tmp_path / source).read_bytes()
        assert mpy[:2] == b"M\x06" and source == f"dist/{arch}_6.3/{place}"
        module = place.removesuffix(".mpy").replace("/", ".")
        sources = [BUILT / place.replace(".mpy", ".py"), *joined.get(module, [])]
        assert bool(mpy[2]) == any(is_native(source.read_text()) for source in sources), place


def test_an_unknown_architecture_is_refused(capsys):
    with pytest.raises(SystemExit) as e:
        main(["avr"])
    assert e.value.code == 2
    assert "no architecture avr: there are armv6m" in capsys.readouterr().err


def test_the_manifest_freezes_forms_of_the_core(tmp_path, monkeypatch):
    """MicroPython's own reader of manifests decides."""
    path = source_tree() / "tools" / "manifestfile.py"
    spec = importlib.util.spec_from_file_location("manifestfile", path)
    manifestfile = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(manifestfile)

    def frozen(**options):
        manifest = manifestfile.ManifestFile(manifestfile.MODE_COMPILE, {"MPY_LIB_DIR": ""})
        text = f"include({str(package.ROOT / 'manifest.py')!r}, **{options!r})"
        manifest.execute(text)
        return {f.target_path for f in manifest.files()}

    monkeypatch.chdir(tmp_path)
    modules = {p.relative_to(BUILT).as_posix() for p in device_paths()}
    forms = {form: {m for m in modules if f"/loops/{form}/" in m} for form in order}
    thumb, assembler = forms["thumb"], set().union(*(forms[form] for form in ASSEMBLER))
    assert frozen() == modules - assembler and len(thumb) > 5
    assert frozen(assembler=("thumb",)) == modules - assembler | thumb
    assert frozen(assembler=ASSEMBLER) == modules
    with pytest.raises(Exception, match="no such form of loops: thump"):
        frozen(assembler=("thump",))
    assert os.getcwd() == str(tmp_path)
