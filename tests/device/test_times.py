"""The times that commands print are those of a program that calls run(), by the board's clock."""

from __future__ import annotations

import pytest

from tests.device.machine import COPY
from tests.device.networks import NETWORKS
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.deploy.model_file import parse_model
from tools.deploy.modules import Package
from tools.program.build import plan_deployment

TOOLS = small.ROOT / "tools"
MODELS = ("digits float32", "digits int8", "mlperf kws int8", "random forest", "LSTM")
CASES = [(name, "") for name in MODELS] + [("digits int8", "kernels")]
COPIED = (
    COPY
    + """
import gc
import sys

copy("mpconnxr")
copy("model.bin")
with open("x.bin", "rb") as f:
    X = f.read()
os.chdir("/")
sys.path[:] = ["", "/lib"]
"""
)
VERIFIED = "\nverify('/', 'model.bin')\n"
# A user's loop, as a person writes it, and benchmark(): the median of five runs.
USED = """
import time

import mpconnxr

model = mpconnxr.load("model.bin")


def time_of_a_run():
    model.inputs[0].view("B")[:] = X
    start = time.ticks_us()
    model.run()
    return time.ticks_diff(time.ticks_us(), start)


model.run(X)
times = [time_of_a_run() for _ in range(5)]
print(sorted(times)[2], model.benchmark(5, X).p50_us)
"""
# Between two parts, each of which loads the model: a board that was just started copies for long.
NEXT = """
model = None
for name in [name for name in sys.modules if name.startswith("mpconnxr")]:
    del sys.modules[name]
gc.collect()
print("next")
"""
MONITORED = """
import mpconnxr

x = mpconnxr.load("model.bin").inputs[0]
x.view("B")[:] = X
values = tuple(x.data if x.scale is None else x.dequantize())
del x
monitor([values] * 6, "model.bin", 1, 6)
"""


def network(name):
    if name == "relu":
        return small.relu((1, 192))
    return NETWORKS[name]().model


def prepared(name, machine, why):
    """Return the files that go onto the board, and the bytes of the golden vector's input."""
    converted = convert(network(name), Options())
    deployment = plan_deployment(
        parse_model("model.bin", converted.data), Package(), machine.kind, False, why
    )
    files = {f.path: f.data for f in deployment.files}
    return files | {"model.bin": converted.data, "x.bin": converted.vector.inputs[0].tobytes()}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mode"), CASES)
def test_all_times_of_a_run_agree(machine, name, mode):
    """Times of flash, check, benchmark and monitor are within 5 % of what a user measures."""
    if machine.name != "rp2040":
        pytest.skip("its time is that of the computer")
    files = prepared(name, machine, mode)
    verify = (TOOLS / "deploy" / "on_board_verify.py").read_text()
    monitor = (TOOLS / "sensing" / "on_board_monitor.py").read_text()
    parts = (verify + VERIFIED, USED, monitor + MONITORED)
    flash, used, shown = machine.run(COPIED + NEXT.join(parts), files).split("next\n")
    result = {"flash": float(flash.split()[4]) * 1e6}
    user, result["benchmark"] = map(int, used.split())
    result["monitor"] = sorted(int(line.split(" ", 2)[1]) for line in shown.splitlines()[1:])[3]
    print(f"{name} {mode}: {user} us, {result}")
    assert all(abs(us - user) <= 0.05 * user for us in result.values())


@pytest.mark.slow
def test_a_value_takes_little_longer_than_the_run(machine):
    """For 192 floats an array or view takes 0.2 ms at most, a list 10 us an element."""
    if machine.name != "rp2040":
        pytest.skip("its time is that of the computer")
    script = """
import gc
import time
from array import array

import mpconnxr

model = mpconnxr.load("model.bin")
x = [i / 7 for i in range(192)]
a = array("f", x)


def us(*arguments):
    times = []
    for _ in range(5):
        gc.collect()
        start = time.ticks_us()
        model.run(*arguments)
        times.append(time.ticks_diff(time.ticks_us(), start))
    return sorted(times)[2]


model.run(a)
run = us()
print(*[us(value) - run for value in (a, memoryview(a), bytes(a), x, tuple(x))])
"""
    for mode in ("", "kernels"):
        files = prepared("relu", machine, mode)
        taken = list(map(int, machine.run(script, files).split()))
        print(mode, taken)
        assert max(taken[:2]) <= 200 and taken[2] <= 300 and max(taken[3:]) <= 1920


@pytest.mark.slow
def test_a_module_is_searched_for_once(machine):
    if machine.name != "rp2040":
        pytest.skip("its time is that of the computer")
    script = (
        COPIED
        + """
import time

import mpconnxr


def us(name):
    start = time.ticks_us()
    getattr(mpconnxr, name)
    return time.ticks_diff(time.ticks_us(), start)


for name in ("top_k", "InputError", "golden", "load"):
    print(us(name), us(name))
try:
    mpconnxr.nothing
except AttributeError as e:
    print(e)
"""
    )
    *times, error = machine.run(script, prepared("relu", machine, "")).splitlines()
    print(times)
    assert all(int(line.split()[1]) <= 100 for line in times)
    assert error == "no mpconnxr.nothing"
