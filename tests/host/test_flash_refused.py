"""tools/flash.py refuses wrong requests before it touches a board, with one line that says why."""

import os
import re
from types import SimpleNamespace

import pytest

from examples.digits.demo import HERE
from tools import flash, keys, package, seal
from tools.converter.convert import convert
from tools.deploy import device as devices
from tools.deploy import folder, reach
from tools.deploy.code import File
from tools.deploy.errors import DeployError
from tools.deploy.modules import Package
from tools.deploy.slots import name_problem

PACKAGE = package.folder()


@pytest.fixture(scope="module")
def digits():
    return convert(HERE / "digits.onnx").data


@pytest.fixture
def model(tmp_path, digits):
    path = tmp_path / "model.bin"
    path.write_bytes(digits)
    return path


def test_a_port_that_is_silent_or_absent_is_one_line(model, monkeypatch, capsys):
    monkeypatch.setattr(devices, "_SILENCE", 0.1)
    far, near = os.openpty()
    real = devices.Line.enter_raw_repl
    quick = lambda self: real(self, timeout_overall=0.3)  # noqa: E731
    monkeypatch.setattr(devices.Line, "enter_raw_repl", quick)
    try:
        for port in (os.ttyname(near), "/dev/there-is-none"):
            assert flash.main([str(model), "--port", port]) == 1
            captured = capsys.readouterr()
            assert captured.err.startswith(f"flash: {port}: ")
            assert captured.err.count("\n") == 1 and captured.out == ""
    finally:
        os.close(far)
        os.close(near)


@pytest.mark.parametrize(
    ("n", "message"), [(0, "no board found"), (2, r"several boards.*--port: /dev/a .*/dev/b")]
)
def test_a_port_is_not_guessed(n, message, model, monkeypatch, capsys):
    results = [SimpleNamespace(device=f"/dev/{c}", description="USB", vid=1) for c in "ba"[:n]]
    builtin = SimpleNamespace(device="/dev/ttyS0", description="n/a", vid=None)

    class Port(SimpleNamespace):
        def __lt__(self, other):
            return self.device < other.device

    listed = [Port(**vars(p)) for p in [*results, builtin]]
    monkeypatch.setattr(reach.list_ports, "comports", lambda: listed)
    assert flash.main([str(model)]) == 1
    assert re.match("flash: .*" + message, capsys.readouterr().err)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--to x --port /dev/x", "give --to or --port, not both"),
        ("--to x --dry-run", "give --to or --dry-run, not both"),
        ("--to x --board pico --source", "give --board or --source, not both"),
        ("--to x --overwrite", "give --to or --overwrite, not both"),
        ("--rollback --overwrite", "give --rollback or --overwrite, not both"),
        ("--flash x", "--flash goes with --target"),
        ("--target rp2040 --port /dev/x", "give --target or --port, not both"),
        ("--romfs --dry-run --reserve 10", "give --romfs or --reserve, not both"),
        ("--dry-run --rollback", "give --dry-run or --rollback, not both"),
        ("--dry-run --firmware x.uf2", "give --dry-run or --firmware, not both"),
    ],
)
def test_conflicting_options_are_wrong_usage(options, message, model, monkeypatch, capsys):
    monkeypatch.chdir(model.parent)
    with pytest.raises(SystemExit) as e:
        flash.main([str(model), *options.split()])
    assert e.value.code == 2
    assert f"error: {message}\n" in capsys.readouterr().err
    assert not (model.parent / "x").exists()


@pytest.mark.parametrize("name", ["unix", "there-is-none"])
def test_a_target_that_is_no_board_is_refused(name, model, capsys):
    with pytest.raises(SystemExit) as e:
        flash.main([str(model), "--target", name])
    assert e.value.code == 2
    err = capsys.readouterr().err.splitlines()[0]
    assert re.search(rf"error: .*'{name}' \(choose from '?rp2040'?\)$", err)


def test_the_target_that_is_a_pico_is_named(model, capsys):
    with pytest.raises(SystemExit):
        flash.main([str(model), "--target", "pico"])
    assert "'pico' (rp2040 is the emulated Pico)\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("notes.txt", "is not an image of a flash of 2,097,152 bytes: name another file"),
        (".", "is not an image of a flash of 2,097,152 bytes: name another file"),
        ("notes.txt/x", "notes.txt: File exists"),
    ],
)
def test_a_wrong_flash_image_is_refused_before_the_board_starts(file, message, model, capsys):
    path = model.parent / "notes.txt"
    path.write_text("not to be lost")
    flash_file = str(model.parent / file)
    assert flash.main([str(model), "--target", "rp2040", "--flash", flash_file]) == 1
    captured = capsys.readouterr()
    assert message in captured.err and captured.err.count("\n") == 1 and captured.out == ""
    assert path.read_text() == "not to be lost"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a model.bin"),
        (b"ONNX" * 100, "not a model.bin"),
        (b"MPCONNXR\x02\0\0\0" + bytes(200), "should be 0: convert the model again"),
    ],
)
def test_a_file_without_a_model_is_refused_before_a_board_is_touched(
    content, message, model, capsys
):
    model.write_bytes(content)
    assert flash.main([str(model), "--port", "/dev/there-is-none"]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("model.b.bin", "is the name of a slot of model.bin"),
        ("model.A.bin", "is the name of a slot of model.bin"),
        ("model.active", "ends in .bin"),
        ("model", "ends in .bin"),
        ("main.py", "ends in .bin"),
        ("boot.py.new", "ends in .bin"),
        (".bin", "ends in .bin"),
        ("model .bin", "no space or dot before .bin"),
        ("model..bin", "no space or dot before .bin"),
        ("mo\x1b[2Jdel.bin", "ends in .bin"),
        ("mo\ndel.bin", "ends in .bin"),
        ("mo'del.bin", "ends in .bin"),
        ("m" * 220 + ".bin", "at most 200 bytes"),
    ],
)
@pytest.mark.parametrize("options", [["--port", "/dev/there-is-none"], ["--to", "files"]])
def test_names_that_a_board_cannot_have_are_refused(
    name, message, options, model, digits, monkeypatch, capsys
):
    monkeypatch.chdir(model.parent)
    model.with_name(name).write_bytes(digits)
    assert flash.main([name, *options]) == 1
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1 and "\x1b" not in err
    assert not (model.parent / "files").exists()


@pytest.mark.parametrize(
    "name", ["model.bin", "größe.bin", "a.b.c.bin", "active.bin", "x+y-2.bin"]
)
def test_names_that_a_board_can_have_are_accepted(name):
    assert name_problem(name) == ""


def test_a_model_in_the_destination_folder_stays(model, digits, tmp_path):
    assert flash.main([str(model), "--to", str(tmp_path)]) == 0
    status = model.stat()
    assert flash.main([str(model), "--to", str(tmp_path)]) == 0
    assert model.read_bytes() == digits and model.stat() == status


@pytest.mark.slow
def test_inputs_are_not_overwritten(model, tmp_path, capsys):
    """This holds under any name of an input, and neither is one removed to be replaced."""
    read = PACKAGE / "build" / "reader.py"
    text = read.read_text()
    for n, place in enumerate(
        [
            "model.py",
            "loops/thumb/block_dot.py",
            "reader.mpy",
        ]
    ):
        used = tmp_path / str(n)
        link = used / "mpconnxr" / place
        link.parent.mkdir(parents=True)
        link.symlink_to(read)
        board = [] if place.endswith(".mpy") else ["--board", "pico", "--interpret"]
        assert flash.main([str(model), "--to", str(used), *board]) == 1
        assert "would be written over" in capsys.readouterr().err
        assert [p for p in used.rglob("*") if not p.is_dir()] == [link]
    assert read.read_text() == text


def test_the_folder_of_the_sources_is_refused(model, capsys):
    sources = package.SOURCES
    before = sorted(sources.rglob("*"))
    for place in (sources.parent, sources, sources / "ops"):
        assert flash.main([str(model), "--to", str(place)]) == 1
        assert "has the sources of mpconnxr" in capsys.readouterr().err
    assert sorted(sources.rglob("*")) == before


def test_kernels_of_ops_are_not_overwritten(model, tmp_path, capsys):
    own = tmp_path / "mpconnxr" / "ops"
    own.mkdir(parents=True)
    (tmp_path / "device").symlink_to(own)
    (own / "mine.py").write_text("def prepare(node):\n    pass\n")
    package = Package(own=tmp_path / "device")
    for data in (b"", b"x"):
        with pytest.raises(DeployError, match="would be written over"):
            folder.write(tmp_path, [File("mpconnxr/ops/mine.py", data)], package.paths())
    assert "prepare" in (own / "mine.py").read_text()


def test_a_key_that_did_not_sign_the_model_is_refused(model, digits, tmp_path, capsys):
    pytest.importorskip("cryptography")
    private, public = keys_in(tmp_path, "one")
    _, other = keys_in(tmp_path, "two")
    to = ["--to", str(tmp_path / "files")]
    assert flash.main([str(model), *to, "--key", str(public)]) == 1
    assert "not signed" in capsys.readouterr().err
    signed = seal.sealed(digits, seal.Keys(private=keys.private_key(private)), 3)
    for damaged in (signed[:-1] + bytes([signed[-1] ^ 1]), signed[:-1]):
        model.write_bytes(damaged)
        assert flash.main([str(model), *to, "--key", str(public)]) == 1
    model.write_bytes(signed)
    for key in (other, private, tmp_path / "there-is-none"):
        capsys.readouterr()
        assert flash.main([str(model), *to, "--key", str(key)]) == 1
        err = capsys.readouterr().err
        assert err.startswith("flash: ") and err.count("\n") == 1
    assert not (tmp_path / "files").exists()
    assert flash.main([str(model), *to, "--key", str(public)]) == 0


def keys_in(folder, name):
    """Return the paths of a private and a public key."""
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key, paths = Ed25519PrivateKey.generate(), (folder / name, folder / f"{name}.pub")
    paths[0].write_bytes(
        key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    )
    paths[1].write_bytes(
        key.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
    )
    return paths
