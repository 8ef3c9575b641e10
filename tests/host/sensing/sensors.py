"""Fake sensors on boards."""

import argparse
import contextlib

import numpy as np

from tests.host.fake_board import FakeBoard
from tools.sensing import monitor, record

RAMP = """
def samples(scale=1):
    n = 0
    while True:
        yield n * scale, -n
        n += 1
"""


def options(**explicit):
    """Return the sensor's options as the command line has them by default."""
    plain = {"channels": 1, "dtype": np.dtype(np.uint8), "sensor": None, "pin": None}
    return argparse.Namespace(**plain | explicit)


@contextlib.contextmanager
def on_board(ready_target, folder):
    """Yield the port of a board whose file system is the folder."""
    with FakeBoard(ready_target("unix32").build(), folder) as board:
        yield board.port


def record_from(port, tmp_path, source, *argv):
    """Return the exit status of a recording; the file is data.npz."""
    sensor = tmp_path / "sensor.py"
    sensor.write_text(source)
    out = str(tmp_path / "data.npz")
    return record.main([port, "--sensor", str(sensor), "-o", out, *map(str, argv)])


def monitor_on(port, tmp_path, source, *argv):
    """Return the exit status of a monitor."""
    sensor = tmp_path / "sensor.py"
    sensor.write_text(source)
    return monitor.main([port, "--sensor", str(sensor), *map(str, argv)])
