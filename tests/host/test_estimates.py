"""The converter's estimates for boards, next to what MicroPython takes and counts in QEMU."""

import dataclasses

import numpy as np
import pytest

from examples.digits.demo import HERE
from tests.host import zoo
from tools.bench.fit import fitted
from tools.bench.steps import measure
from tools.converter.convert import Options, convert
from tools.converter.report import costs, fits
from tools.converter.report.costs import Range, Work
from tools.deploy.boards import load_boards

BOARDS = {board.name: board for board in load_boards()}
TUNED = 1.7  # times
MODELS = [
    "mlperf_kws_dscnn_int8",
    "skl_rf_digits",
    "gesture_lstm_f32",
    "transformer_tiny_op17_f32",
]


def converted(name):
    path = HERE / "digits.onnx" if name == "digits" else zoo.model_path(name)
    return convert(path, Options(strip=True))


@pytest.mark.parametrize("target", ["mps2-an385-v6m", "virt-rv32"])
@pytest.mark.parametrize(
    "name", ["digits", *(pytest.param(name, marks=zoo.needs_zoo) for name in MODELS)]
)
def test_memory_and_time_are_within_their_bands(name, target, ready_target):
    ready_target(target)
    model = converted(name)
    found = measure(model, target)
    # as the counts are: most boards with this core have no inline assembler
    assembler = "" if target == "virt-rv32" else BOARDS[target].inline_assembler
    board = dataclasses.replace(BOARDS[target], inline_assembler=assembler)
    fit = fits.fit_of(model, board)
    taken = found.code_bytes + found.model_bytes  # without weights: they lie in the file's bytes
    assert fit.in_place.least <= taken <= fit.in_place.most < 1.5 * taken
    counted = sum(count for *_, count in found.steps)
    guess = costs.model_instructions(model.graph.steps, target)
    # between two runs of `python -m tools.bench.steps` kernels become faster
    assert guess.least / TUNED <= counted <= guess.most * 1.1


def test_a_fit_finds_what_the_counts_were_made_of():
    rng = np.random.default_rng(0)
    work = [Work(*map(int, rng.integers(1, 5000, 4))) for _ in range(12)]
    samples = [(w, 100, 9000 + 7 * w.macs + 40 * w.outputs) for w in work]
    cost = fitted([*samples[:-1], (samples[-1][0], 300, samples[-1][2])])
    assert cost["bytes"] == 300 and cost["n"] == 12
    assert cost["terms"] == pytest.approx([9000, 7, 0, 40, 0], rel=0.01)
    assert cost["off"] == pytest.approx([1, 1], abs=0.01)


def test_a_fit_of_few_steps_goes_by_what_they_work_on():
    one = fitted([(Work(1000, 10, 10, 10), 50, 4000)])
    assert one["terms"] == [0, 4, 0, 0, 0]
    moved = fitted([(Work(0, 100, 100, 0), 50, 3000)])
    assert moved["terms"] == [0, 0, 30, 0, 0]


def test_ranges_add_and_scale():
    both = Range(1, 2, 3) + Range(10, 20, 30)
    assert both == (11, 22, 33)
    assert both.times(2, 8) == (22, 88, 264)


def test_a_step_that_was_not_counted_is_a_guess(monkeypatch):
    model = converted("digits")
    step = model.graph.steps[0]
    target = "mps2-an385-v6m"
    assert costs.is_measured(step, target)
    unknown = dataclasses.replace(step, kernel="unheard_of")
    assert not costs.is_measured(unknown, target) and costs.step_bytes(unknown) > 100
    guess = costs.instructions(unknown, target)
    assert guess.most / guess.least == pytest.approx(16)
