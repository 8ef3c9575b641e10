"""What mnist_8 costs in block floating point, counted by QEMU, in the arena of 10 KB."""

import json

import pytest

from tests.host import zoo
from tools.bench.__main__ import main
from tools.converter.convert import Options, convert

pytestmark = zoo.needs_zoo

MOST = {"mps2-an385": 6, "mps2-an385-v6m": 16, "virt-rv32": 54}  # instructions a MAC


@pytest.mark.parametrize("name", MOST)
def test_instructions_of_a_run(name, ready_target, tmp_path):
    ready_target(name)
    out = tmp_path / "rows.json"
    path = str(zoo.model_path("mnist_8"))
    assert main([path, "--no-c", "--target", name, "--json", str(out)]) == 0
    [row] = json.loads(out.read_text())
    assert row["instructions"] <= MOST[name] * row["macs"]
    assert row["arena_bytes"] <= 10_000 and row["heap_growth_bytes"] == 0


def test_an_arena_with_the_inputs_kept():
    done = convert(zoo.model_path("mnist_8"), Options(strip=True, keep_inputs=True))
    assert done.plan.arena_bytes <= 11_500
