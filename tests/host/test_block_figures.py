"""mnist_8 in block floating point: bounds of its instructions, counted in QEMU, and its arena."""

import json

import pytest

from tests.host import zoo
from tools.bench.__main__ import main
from tools.converter.convert import Options, convert

pytestmark = zoo.needs_zoo

MOST = {"mps2-an385": 6, "mps2-an385-v6m": 16, "virt-rv32": 54}  # instructions a MAC
SHORT = {"mps2-an385": 4.7, "mps2-an385-v6m": 6, "mps2-an386": 3.7, "virt-rv32": 10}  # fast16


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mode"), [(n, "exact") for n in MOST] + [(n, "fast16") for n in SHORT]
)
def test_instructions_of_a_run_are_bounded(name, mode, ready_target, capsys):
    ready_target(name)
    path = str(zoo.model_path("mnist_8"))
    args = ["--no-c", "--target", name, "--json", "--float", mode]
    assert main([path, *args]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["instructions"] <= (MOST if mode == "exact" else SHORT)[name] * row["macs"]
    assert row["arena_bytes"] <= 10_000 and row["heap_growth_bytes"] == 0


def test_the_arena_with_kept_inputs_is_bounded():
    converted = convert(zoo.model_path("mnist_8"), Options(strip=True, keep_inputs=True))
    assert converted.plan.arena_bytes <= 11_500
