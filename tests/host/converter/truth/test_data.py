"""Samples with their true classes or values in files, and how they are split."""

import numpy as np
import pytest

from tools.converter.errors import UsageError
from tools.converter.truth import Spec, read_data

X = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
Y = np.array([0, 1, 1, 0])
INPUT = Spec("input", np.dtype(np.float32), (1, 2, 3))


@pytest.fixture
def files(tmp_path):
    np.savez(tmp_path / "a.npz", x=X, y=Y, z=X[:, 0], other=X)
    np.savez(tmp_path / "two.npz", x=X, labels=Y)
    np.savez(tmp_path / "xy.npz", x=X, y=Y)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    (tmp_path / "folder").mkdir()
    for i in range(4):
        np.save(tmp_path / "folder" / f"{i}.npy", X[i : i + 1])
    return tmp_path


@pytest.mark.parametrize(
    "texts",
    [
        ["a.npz:x,y"],
        ["a.npz"],
        ["two.npz:x,labels"],
        ["x.npy", "y.npy"],
        ["folder", "y.npy"],
        ["folder", "a.npz:y"],
        ["a.npz:x", "y.npy"],
        ["xy.npz", "xy.npz:y"],
    ],
    ids=" ".join,
)
def test_samples_and_truth_come_from_one_file_or_two(files, texts):
    data = read_data(*(str(files / text) for text in texts))
    samples = data.samples([INPUT])
    assert [s["input"].shape for s in samples] == [(1, 2, 3)] * 4
    assert np.array_equal(np.concatenate([s["input"] for s in samples]), X)
    assert np.array_equal(data.truth, Y)


def test_several_inputs_are_named_or_in_order(files):
    names = ["x", "z"], ["one", "two"]
    for first, second in names:
        specs = [Spec(first, INPUT.dtype, (2, 3)), Spec(second, INPUT.dtype, (3,))]
        samples = read_data(str(files / "a.npz:x,z,y")).samples(specs)
        assert np.array_equal(samples[2][first], X[2])
        assert np.array_equal(samples[2][second], X[2, 0])


@pytest.mark.parametrize(
    "shape", [(2, 3), (1, 2, 3), (1, 1, 2, 3), (2, 3, 1), ("n", 2, 3), ("n", "t", 3)]
)
def test_dimensions_of_one_may_be_missing(files, shape):
    data = read_data(str(files / "a.npz"))
    samples = data.samples([Spec("x", INPUT.dtype, shape)])
    assert len(samples) == 4 and all(s["x"].size == 6 for s in samples)
    assert all(len(s["x"].shape) == len(shape) for s in samples)


def test_a_column_of_classes_is_taken(tmp_path):
    np.savez(tmp_path / "a.npz", x=X, y=Y[:, None])
    assert read_data(str(tmp_path / "a.npz")).truth.shape == (4,)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a.npz:x"], "name samples and truth, as FILE.npz:x,y; it holds x, y, z, other"),
        (["two.npz"], "name samples and truth, as FILE.npz:x,y; it holds x, labels"),
        (["a.npz:x,w"], "it lacks the array w, and holds x, y, z, other"),
        (["x.npy"], "has no true values: name a second file"),
        (["x.npy", "a.npz"], "say which of x, y, z, other, as FILE.npz:KEY"),
        (["x.npy", "none.npz:y"], "No such file"),
        (["empty", "y.npy"], "holds no .npy files"),
        (["text", "y.npy"], "is not a .npy or .npz file"),
        (["x.npy", "nan.npy"], "the true value of sample 1 is NaN or infinite"),
        (["x.npy", "scalar.npy"], "holds no class or value for each sample"),
    ],
)
def test_unusable_files_are_refused(files, texts, message):
    (files / "empty").mkdir()
    (files / "text").write_text("no array")
    np.save(files / "nan.npy", np.array([1.0, np.nan, 2.0, 3.0]))
    np.save(files / "scalar.npy", np.array(1))
    with pytest.raises((UsageError, OSError), match=message) as e:
        read_data(*(str(files / text) for text in texts))
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        ([INPUT._replace(dtype=np.dtype(np.int8))], "float32, but input input takes int8"),
        ([INPUT._replace(shape=(1, 7))], r"shape \[4, 2, 3\], but input input is \[1, 7\]"),
        ([INPUT, INPUT._replace(name="more")], "holds x; the inputs are input, more"),
    ],
)
def test_samples_that_do_not_fit_the_model_are_refused(files, specs, message):
    with pytest.raises(UsageError, match=message):
        read_data(str(files / "a.npz:x,y")).samples(specs)


def test_other_numbers_of_true_values_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=X, y=Y[:3])
    with pytest.raises(UsageError, match="4 samples, but 3 true values"):
        read_data(str(tmp_path / "a.npz")).samples([INPUT])
    np.savez(tmp_path / "a.npz", x=X[:0], y=Y[:0])
    with pytest.raises(UsageError, match="has no samples"):
        read_data(str(tmp_path / "a.npz")).samples([INPUT])
