"""The converter's estimates for boards are near what MicroPython takes and counts in QEMU."""

import dataclasses

import numpy as np
import pytest

from benchmarks.fit import fitted
from benchmarks.steps import measure
from examples.digits.demo import HERE
from tests.host import zoo
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.report import costs, fits
from tools.converter.report.costs import Range, Work
from tools.deploy.boards import load_boards
from tools.micropython import get_target

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


# What is in use at most from the first import to the end of a run. From files in memory: of those
# in the board's own file system, which is mapped, code and weights would be used in place.
TAKEN = (
    (small.SCRIPTS / "heap.py").read_text().partition('\ncopy("mpconnxr")')[0]
    + """
import io


class File(io.IOBase):
    # reads without a copy of the whole, which garbage would have to be collected for

    def __init__(self, data):
        self.data, self.at = memoryview(data), 0

    def readinto(self, buffer):
        n = min(len(buffer), len(self.data) - self.at)
        memoryview(buffer)[:n] = self.data[self.at : self.at + n]
        self.at += n
        return n

    def seek(self, offset, whence=0):
        self.at = offset + (len(self.data) if whence == 2 else 0)
        return self.at

    def close(self):
        pass

    def ioctl(self, request, argument):
        return 0


class Disk:
    # files of the board's own file system, in memory

    def __init__(self):
        self.files = {name: open(name, "rb").read() for name in NAMES}

    def mount(self, readonly, mkfs):
        pass

    def stat(self, path):
        path = path.strip("/")
        if path in self.files:
            return 0x8000, 0, 0, 0, 0, 0, len(self.files[path]), 0, 0, 0
        if any(name.startswith(path + "/") for name in self.files):
            return 0x4000, 0, 0, 0, 0, 0, 0, 0, 0, 0
        raise OSError(2)

    def open(self, path, mode):
        return File(self.files[path.strip("/")])


os.mount(Disk(), "/disk")
sys.path.insert(0, "/disk")
addresses, sizes, held = array("I", [0] * 9000), array("H", [0] * 9000), [None] * 9000
gc.collect()
painted(addresses, sizes, held)
gc.collect()
gc.threshold(2048)  # as flash sets it when it verifies: little of what was touched is garbage
used("/disk/model.bin")
print(BLOCK * sum([touched(addresses[i] * BLOCK, sizes[i]) for i in range(len(sizes))]))
"""
)
needs_models = pytest.mark.parametrize(
    "name", ["digits", *(pytest.param(name, marks=zoo.needs_zoo) for name in MODELS)]
)


@needs_models
@pytest.mark.parametrize("target", ["mps2-an385-v6m", "virt-rv32"])
def test_the_estimated_time_is_within_its_range(name, target, ready_target):
    ready_target(target)
    model = converted(name)
    counted = sum(count for *_, count in measure(model, target))
    guess = costs.model_instructions(model.graph.steps, target)
    # between two runs of `python -m benchmarks.steps` kernels become faster
    assert guess.least / TUNED <= counted <= guess.most * 1.1


@needs_models
@pytest.mark.parametrize("target", ["mps2-an385-v6m", "mps2-an386", "virt-rv32"])
def test_the_estimated_heap_is_needed(name, target, ready_target):
    ready_target(target)
    model = converted(name)
    fit = fits.fit_of(model, BOARDS[target])
    assert fit.plan.is_program
    files = {f.path: f.data for f in fit.plan.files} | {"model.bin": model.data}
    completed = get_target(target).run(f"NAMES = {list(files)}\n{TAKEN}", files=files, timeout=300)
    assert completed.returncode == 0, completed.stderr
    assert fit.needs.total == pytest.approx(int(completed.stdout), rel=0.1)


def test_a_fit_recovers_its_coefficients():
    rng = np.random.default_rng(0)
    work = [Work(*map(int, rng.integers(1, 5000, 4))) for _ in range(12)]
    cost = fitted([(w, 9000 + 7 * w.macs + 40 * w.outputs) for w in work])
    assert cost["n"] == 12
    assert cost["terms"] == pytest.approx([9000, 7, 0, 40, 0], rel=0.01)
    assert cost["off"] == pytest.approx([1, 1], abs=0.01)


def test_a_fit_of_few_steps_uses_their_work():
    one = fitted([(Work(1000, 10, 10, 10), 4000)])
    assert one["terms"] == [0, 4, 0, 0, 0]
    moved = fitted([(Work(0, 100, 100, 0), 3000)])
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
    assert not costs.is_measured(unknown, target)
    guess = costs.instructions(unknown, target)
    assert guess.most / guess.least == pytest.approx(16)
