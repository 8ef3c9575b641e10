"""Samples are parsed from the lines that a board prints."""

import base64
import sys
import types

import numpy as np
import pytest

from tests.host.sensing.sensors import options
from tools.deploy.errors import DeployError
from tools.sensing.sensor import Samples, source_of


def rows_of(line, **explicit):
    return Samples(options(**explicit)).of_line(line)


def test_a_pin_that_cannot_be_read_is_named(monkeypatch):
    def adc(pin):
        raise ValueError("Pin doesn't have ADC capabilities")

    machine = types.SimpleNamespace(ADC=adc, Pin=lambda pin: pin)
    monkeypatch.setitem(sys.modules, "machine", machine)
    names = {}
    exec(source_of(options(pin=["3"], rate=100)), names)
    with pytest.raises(ValueError, match="^pin 3: Pin doesn't have ADC capabilities$"):
        next(names["samples"]())


def block(array):
    return str(base64.b64encode(array.tobytes()), "ascii")


def test_numbers_are_parsed():
    result = rows_of("12 1 -2 True")
    assert result.ms == 12 and result.rows.tolist() == [[1, -2, 1]]
    assert result.rows.dtype == np.int32
    assert rows_of("0 4294967296").rows.dtype == np.int64
    floats = rows_of("0 1 0.5 nan").rows
    assert floats.dtype == np.float32 and floats[0, 1] == 0.5 and np.isnan(floats[0, 2])


def test_blocks_are_parsed():
    values = np.array([[1, -2], [3, -4]], np.int16)
    result = rows_of(f"7 #h {block(values)}", channels=2).rows
    assert result.dtype == np.int16 and (result == values).all()
    result = rows_of(f"7 # {block(values)}", dtype=np.dtype(np.int16)).rows
    assert result[:, 0].tolist() == [1, -2, 3, -4]
    # "l" is 32 bits wide on a board, whatever this computer takes it for
    assert rows_of(f"7 #l {block(np.array([5], np.int32))}").rows.tolist() == [[5]]


@pytest.mark.parametrize("line", ["x", "5", "5 one", "hello world", "5 #h ?", "5 #q1 AAAA"])
def test_other_lines_are_not_samples(line):
    with pytest.raises(DeployError, match="something other than numbers"):
        rows_of(line)


def test_an_incomplete_block_is_refused():
    with pytest.raises(DeployError, match="6 bytes is not samples of 2 channels of int16"):
        rows_of(f"7 #h {block(np.zeros(3, np.int16))}", channels=2)


def test_samples_of_other_lengths_are_refused():
    samples = Samples(options())
    samples.of_line("0 1 2")
    with pytest.raises(DeployError, match="samples of 2 and of 3 numbers"):
        samples.of_line("1 1 2 3")
