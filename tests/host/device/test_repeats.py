"""Numbers of a file without what repeats: the same on a board, and no harm by damaged ones."""

import json
import struct

import numpy as np
import pytest

from tests.host import zoo
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.deploy.model_file import parse_model
from tools.format import layout, repeats
from tools.format.reader import read
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
NAME = "mobilenetv2_035_96_qdq_s8"

EXPANDED = """
import json
from binascii import hexlify
from mpconnxr.errors import ModelError
from mpconnxr.repeats import expanded
for data in json.loads(open("cases").read()):
    try:
        print(hexlify(expanded(bytes(data), 0, len(data))).decode())
    except ModelError as e:
        print("refused")
"""


def pieces():
    """Bytes that repeat, near and far, and some that do not."""
    rng = np.random.default_rng(12)
    for n in (0, 1, 2, 3, 300, 5000):
        once = rng.integers(0, 256, n, np.uint8).tobytes()
        yield once
        yield once[:40] * 5 + once + once[:70] + bytes(200)


def short(data):
    return layout.number(len(data)) + repeats.shortened(data)


def test_whole_again():
    for data in pieces():
        assert repeats.whole(repeats.shortened(data), len(data)) == data
    assert len(repeats.shortened(bytes(1000))) < 40


def test_what_is_frequent_takes_no_time_squared(monkeypatch):
    """Each byte is compared with a few earlier places only."""
    tried = 0
    length = repeats._length

    def counted(*args):
        nonlocal tried
        tried += 1
        return length(*args)

    monkeypatch.setattr(repeats, "_length", counted)
    rng = np.random.default_rng(3)
    for data in (rng.integers(0, 2, 20000, np.uint8).tobytes(), bytes(20000)):
        assert repeats.whole(repeats.shortened(data), len(data)) == data
    assert tried < 100 * 40000


@on_targets
def test_on_a_board(target):
    cases = [short(data) for data in pieces()]
    files = {"cases": json.dumps([list(c) for c in cases]).encode()}
    printed = small.run(target, EXPANDED, files).split("\n")[: len(cases)]
    assert printed == [data.hex() for data in pieces()]


@on_targets
def test_damage(target):
    """A byte replaced, or the end cut off: refused, or other bytes, as many as there were."""
    rng = np.random.default_rng(13)
    good = short(b"".join(list(pieces())[:8]))
    cases = []
    for _ in range(300):
        data = bytearray(good)
        data[rng.integers(len(data))] = rng.integers(256)
        cases.append(list(data if rng.integers(2) else data[: rng.integers(1, len(data))]))
    printed = small.run(target, EXPANDED, {"cases": json.dumps(cases).encode()}).split()
    assert len(printed) == len(cases)
    assert set(printed) > {"refused"}


@zoo.needs_zoo
def test_what_the_numbers_of_a_model_take_in_memory():
    """Before flash.py touches a board it counts them at their full length."""
    data = convert(zoo.model_path(NAME), Options(strip=True)).data
    n_chunks, names_nbytes = struct.unpack_from("<2I", data, 56)
    numbers = layout.numbers_of(data, layout.HEADER_NBYTES + 32 * n_chunks + names_nbytes)
    whole = sum(len(layout.number(n)) for n in numbers)
    model = parse_model("model.bin", data)
    tables = struct.unpack_from("<I", data, 20)[0]
    assert layout.expanded_nbytes(data) == whole > 1000
    assert model.tables_nbytes - tables == pytest.approx(whole, abs=16)  # where chunks start


@zoo.needs_zoo
@on_targets
def test_a_model(target):
    """The file is smaller, its tables say the same, and it runs."""
    done = convert(zoo.model_path(NAME), Options(strip=True))
    assert done.data[12] & layout.FEATURE_REPEATS
    stored = read(done.data)
    assert len(stored.nodes) == len(done.graph.steps)
    script = "import mpconnxr; print(len(mpconnxr.load('model.bin', stream=False)._steps))"
    printed = small.run(target, script, {"model.bin": done.data})
    assert int(printed) == len(done.graph.steps)
