"""Recordings: their file format, and the windows in it."""

import numpy as np
import pytest

from tools.deploy.errors import DeployError
from tools.sensing.dataset import NONE, Dataset, windows
from tools.sensing.sensor import SampleBlock


def heard(ms, *rows):
    return SampleBlock(ms, np.array(rows))


def test_windows_stay_within_a_label_and_a_recording():
    samples = np.arange(12)[:, None]
    label = np.array([0, 0, 0, 0, 1, 1, 1, NONE, NONE, 0, 0, 0])
    start = np.zeros(12, bool)
    start[[0, 2]] = True
    x, y = windows(samples, label, start, 2, 1)
    assert [tuple(w[:, 0]) for w in x] == [(0, 1), (2, 3), (4, 5), (5, 6), (9, 10), (10, 11)]
    assert y.tolist() == [0, 0, 1, 1, 0, 0]
    x, y = windows(samples, label, start, 2, 2)
    assert [tuple(w[:, 0]) for w in x] == [(0, 1), (2, 3), (4, 5), (9, 10)]


def test_without_windows_x_has_each_labelled_sample():
    label = np.array([NONE, 0, 1])
    x, y = windows(np.eye(3), label, np.zeros(3, bool), 0, 0)
    assert (x == np.eye(3)[1:]).all() and y.tolist() == [0, 1] and y.dtype == np.int64


def test_too_short_a_recording_has_no_window():
    x, y = windows(np.eye(3), np.zeros(3, int), np.zeros(3, bool), 4, 1)
    assert x.shape == (0, 4, 3) and y.shape == (0,)


def test_a_file_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "data.npz"
    one = Dataset(["still"])
    one.add(heard(5, [1, 2], [3, 4]), 0)
    assert one.write(path, 0, 0) == 2
    two = Dataset.read(path)
    two.add(heard(0, [5, 6]), two.number_of("shake"))
    two.write(path, 0, 0)
    result = np.load(path)
    assert result["samples"].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert result["t_ms"].tolist() == [5, 5, 0]
    assert result["label"].tolist() == [0, 0, 1] and result["labels"].tolist() == [
        "still",
        "shake",
    ]
    assert result["start"].tolist() == [True, False, True]
    assert Dataset.read(path).counts() == {"still": 2, "shake": 1}


def test_windows_are_cut_from_recordings():
    one = Dataset([])
    one.add(heard(0, [1], [2]), NONE)
    one.add(heard(1, [3], [4]), NONE)
    one.cut(3)
    assert one.n == 3


def test_other_channels_are_refused():
    one = Dataset([])
    one.add(heard(0, [1, 2]), NONE)
    with pytest.raises(DeployError, match="samples of 2 numbers, not 3"):
        one.add(heard(0, [1, 2, 3]), NONE)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"text"])
def test_another_file_is_not_a_recording(tmp_path, data):
    path = tmp_path / "data.npz"
    path.write_bytes(data)
    with pytest.raises(DeployError, match="data.npz"):
        Dataset.read(path)
    np.savez(path, x=np.eye(2))
    with pytest.raises(DeployError, match="is not a recording"):
        Dataset.read(path)
