"""A user's .npy and .npz files are read, or refused with a message of one line."""

import io
import os
import zipfile

import numpy as np
import onnx
import pytest
from numpy.lib import format as npy

from tests.host.converter.test_convert import ROOT, cli
from tools.converter.errors import ConvertError, UsageError
from tools.converter.file.tensorfile import convert_tensor
from tools.converter.load import arrayfile
from tools.converter.load.arrayfile import read_array, read_arrays

MODEL = ROOT / "examples" / "digits" / "digits.onnx"
X = np.arange(100.0)


@pytest.fixture
def files(tmp_path):
    """Return a folder with one file of each kind."""
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", a=X, b=X[:3])
    np.save(tmp_path / "words.npy", np.array(["a", "bc"]))
    np.save(tmp_path / "objects.npy", np.array([{}], object))
    np.savez(tmp_path / "objects.npz", a=np.array([{}], object))
    for name in ("x.npy", "x.npz"):
        (tmp_path / f"cut-{name}").write_bytes((tmp_path / name).read_bytes()[:150])
    (tmp_path / "text.npy").write_text("no numbers")
    (tmp_path / "empty.npy").touch()
    return tmp_path


def test_arrays_are_read(files):
    assert np.array_equal(read_array(files / "x.npy"), X)
    assert read_array(files / "words.npy").tolist() == ["a", "bc"]
    assert {k: a.shape for k, a in read_arrays(files / "x.npz").items()} == {
        "a": (100,),
        "b": (3,),
    }


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("text.npy", "is not a .npy or .npz file"),
        ("empty.npy", "is not a .npy or .npz file"),
        ("objects.npy", "holds objects: numbers or strings are needed"),
        ("objects.npz", "holds objects: numbers or strings are needed"),
        ("cut-x.npy", "is damaged: "),
        ("cut-x.npz", "is damaged: "),
    ],
)
def test_files_without_an_array_are_refused(name, message, files):
    with pytest.raises(UsageError) as e:
        read_arrays(files / name)
    assert f"{files / name} {message}" in str(e.value) and "pickle" not in str(e.value)


def test_a_missing_file_raises_an_oserror(files):
    with pytest.raises(FileNotFoundError):
        read_arrays(files / "none.npy")


def test_an_npz_is_not_a_single_array(files):
    with pytest.raises(UsageError, match=r"a \.npy with one array is needed"):
        read_array(files / "x.npz")
    with pytest.raises(UsageError, match=r"is not a \.npy file"):
        read_array(files / "text.npy")


def header(shape, descr="<f4"):
    """Return a .npy with this shape in its header and 64 bytes of data."""
    file = io.BytesIO()
    npy.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": descr})
    return file.getvalue() + bytes(64)


def archive(path, contents, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in contents.items():
            file.writestr(name, data)
    return path


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (header((10 << 30,)), "takes 42,949,672,960 bytes, there are 64"),
        (header((1 << 62, 1 << 62)), "there are 64"),
        (header((-4,)), "there are 64"),
        (header((1,), "<U500000000"), "takes 2,000,000,000 bytes"),
        (header((4,), [("a", "<f4"), ("b", [("c", "<i2", (3,))])]), "holds records"),
        (header((4,), [("a", "|O")]), "holds objects"),
        (b"\x93NUMPY\x03\x00" + bytes(200), "version (3, 0)"),
        (b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 70000, "is damaged"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(99), "is damaged"),
    ],
)
def test_wrong_headers_are_refused(data, message, tmp_path):
    (tmp_path / "x.npy").write_bytes(data)
    archive(tmp_path / "x.npz", {"x.npy": data})
    for name in ("x.npy", "x.npz"):
        with pytest.raises(UsageError) as e:
            read_arrays(tmp_path / name)
        assert message in str(e.value)


def test_a_zip_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(arrayfile, "_MOST", 100 << 20)
    zeros = header((10 << 20,))[:-64] + bytes(40 << 20)
    path = archive(tmp_path / "x.npz", {f"{i}.npy": zeros for i in range(3)})
    assert path.stat().st_size < 1 << 20
    with pytest.raises(UsageError, match="holds 125,829,.* bytes when it is unpacked"):
        read_arrays(path)


def test_an_archive_holds_arrays_only(tmp_path):
    path = archive(tmp_path / "x.npz", {"x.txt": b"text"})
    with pytest.raises(UsageError, match=r"holds x\.txt, which is not an array"):
        read_arrays(path)


def test_a_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "x.npy")
    with pytest.raises(UsageError, match="is not a .npy or .npz file"):
        read_arrays(tmp_path / "x.npy")


def test_a_tensor_with_external_data_is_refused(tmp_path):
    tensor = onnx.TensorProto(name="t", data_type=1, dims=[4], data_location=1)
    tensor.external_data.add(key="location", value="secret")
    (tmp_path / "t.pb").write_bytes(tensor.SerializeToString())
    with pytest.raises(ConvertError, match="has external data"):
        convert_tensor(tmp_path / "t.pb", tmp_path / "t.bin")
    assert not (tmp_path / "t.bin").exists()


@pytest.mark.parametrize(
    "options",
    [
        ("--golden", "README.md"),
        ("--bind", "x=README.md"),
        ("--quantize", "int8", "--calibration", "README.md"),
    ],
)
def test_the_command_line_names_files_without_an_array(options, tmp_path):
    completed = cli(MODEL, tmp_path / "m.bin", *options)
    assert completed.returncode == 2
    assert completed.stderr.startswith("converter: README.md is not a .npy")
    assert len(completed.stderr.splitlines()) == 1
