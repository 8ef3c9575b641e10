"""Every hostile model is refused with one readable report, in little memory and time."""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path

import onnxruntime  # noqa: F401  before the fork, so that no case pays for it
import pytest

from tests.host.hostile import (
    bodies,
    bombs,
    interface,
    machines,
    microsoft,
    operators,
    protobuf,
    tensors,
)
from tools import limits
from tools.converter.__main__ import main

FAMILIES = (protobuf, interface, operators, microsoft, bodies, tensors, machines, bombs)
CASES = [case for family in FAMILIES for case in family.cases()]
MOST_SECONDS, MOST_NBYTES = 30, 2 << 30

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def converted(model: Path, output: Path, options=()) -> tuple[limits.End, str]:
    """Return how a conversion in a child process ended, and all that was printed."""
    log = output.with_suffix(".log")

    def child():
        with log.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.stdout = io.TextIOWrapper(os.fdopen(os.dup(1), "wb"))
        sys.stderr = io.TextIOWrapper(os.fdopen(os.dup(2), "wb"), write_through=True)
        return main([str(model), str(output), *options])

    end = limits.watch(child, "converter")
    message = log.read_text(errors="surrogateescape")
    return end, message + (f"converter: {end.report}\n" if end.report else "")


def test_the_collection_is_large_and_its_names_are_unique():
    assert len(CASES) >= 250
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.slow
@forks
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_hostile_model_is_refused(case, tmp_path):
    output = tmp_path / "out.bin"
    end, message = converted(case.write(tmp_path), output, case.options)
    assert end.seconds < MOST_SECONDS  # of computing: a busy machine decides nothing
    assert end.peak < MOST_NBYTES
    assert end.code in (1, 2) and not output.exists(), message
    assert message.startswith("converter: ") and message.count("\nconverter: ") == 0, message
    assert "Traceback" not in message and "unexpected" not in message, message
    assert re.fullmatch(r"(\n|[ -~]|[^\W\x00-\x9f])*", message), repr(message)
    assert len(message) < 20_000
