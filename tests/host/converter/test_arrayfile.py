"""What the user gives as .npy or .npz: read, or refused in a line of the project's own."""

import numpy as np
import pytest

from tests.host.converter.test_convert import ROOT, cli
from tools.converter.arrayfile import read_array, read_arrays
from tools.converter.errors import UsageError

MODEL = ROOT / "examples" / "digits" / "digits.onnx"
X = np.arange(100.0)


@pytest.fixture
def files(tmp_path):
    """A folder with one file of each kind."""
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
    ("name", "said"),
    [
        ("text.npy", "is no .npy or .npz file"),
        ("empty.npy", "is no .npy or .npz file"),
        ("none.npy", "is not there"),
        ("objects.npy", "holds objects: numbers or strings are needed"),
        ("objects.npz", "holds objects: numbers or strings are needed"),
        ("cut-x.npy", "is damaged: "),
        ("cut-x.npz", "is damaged: "),
    ],
)
def test_what_is_no_array_is_said(name, said, files):
    with pytest.raises(UsageError) as e:
        read_arrays(files / name)
    assert f"{files / name} {said}" in str(e.value) and "pickle" not in str(e.value)


def test_a_npz_is_no_single_array(files):
    with pytest.raises(UsageError, match=r"a \.npy with one array is needed"):
        read_array(files / "x.npz")
    with pytest.raises(UsageError, match=r"is no \.npy file"):
        read_array(files / "text.npy")


@pytest.mark.parametrize(
    "options",
    [
        ("--golden", "README.md"),
        ("--bind", "x=README.md"),
        ("--quantize", "int8", "--calibration", "README.md"),
    ],
)
def test_the_command_line_says_what_is_no_array(options, tmp_path):
    done = cli(MODEL, tmp_path / "m.bin", *options)
    assert done.returncode == 2
    assert done.stderr.startswith("converter: README.md is no .npy")
    assert len(done.stderr.splitlines()) == 1
