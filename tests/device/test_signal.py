"""What the modules of mpconnxr.signal take of a Pico's heap and time."""

import pytest

from tests.host.device import small
from tools.deploy import boards, code
from tools.deploy.modules import Package

# Copies the package onto the file system, out of the image in flash that its code could run from.
COPIED = (small.SCRIPTS / "heap.py").read_text().partition('copy("mpconnxr")')[0]
COPIED += 'copy("mpconnxr")\nsys.path.insert(0, "/")'
SCRIPT = """
import gc, time
from array import array
import mpconnxr
mpconnxr.InputError
def imported(name):
    gc.collect()
    before = gc.mem_alloc()
    module = __import__("mpconnxr.signal." + name, None, None, (name,))
    gc.collect()
    print(name, gc.mem_alloc() - before)
    return module
windows, statistics, smoothing, spectrum = [imported(name) for name in NAMES]
def timed(call, *args):
    start = time.ticks_us()
    call(*args)
    return time.ticks_diff(time.ticks_us(), start)
class Output:
    dtype, nelem, scale = "float32", 5, None
    data = array("f", [0.2] * 5)
    def view(self, code):
        return array("H", bytes(20))
sample = (1, -2, 8192)
spectra = spectrum.Spectrum(50, 64, 8, channels=3)
window = windows.Window(array("f", [0] * 192), 3, 64)
stats = statistics.RunningStats(50, 3)
average = smoothing.Average(Output(), 3)
out = array("h", bytes(48))
for call, args in ((window.push, (sample,)), (stats.push, (sample,)), (average.update, ()),
                   (spectra.write, (out,))):
    us = [timed(call, *args) for _ in range(63)]
    print(min(us))
print(timed(window.push, sample))
"""
NAMES = ("windows", "statistics", "smoothing", "spectrum")
MOST_BYTES = (2_100, 1_400, 2_400, 13_000)  # of the heap, with what a module imports first
MOST_US = {"push": 110, "statistics": 400, "average": 400, "spectra": 10_000, "window": 4_200}


def test_modules_take_little_heap_and_time(machine):
    if machine.name != "rp2040":
        pytest.skip("another heap and clock")
    modules = ["", "public", *(f"signal.{name}" for name in NAMES)]
    files = code.imported(modules, Package(), boards.named("pico").machine)
    script = f"NAMES = {NAMES}\n{COPIED}\n{SCRIPT}"
    lines = machine.run(script, {f.path: f.data for f in files}).splitlines()
    nbytes = {name: int(n) for name, n in (line.split() for line in lines[: len(NAMES)])}
    us = dict(zip(MOST_US, map(int, lines[len(NAMES) :]), strict=True))
    print(nbytes, us)
    assert all(n <= most for n, most in zip(nbytes.values(), MOST_BYTES, strict=True))
    assert all(us[name] <= most for name, most in MOST_US.items())
