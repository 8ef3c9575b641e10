"""The whole package, copied to a Pico by hand, fits its LittleFS and its heap.

The emulated Pico's own file system has 1 MB, a Pico's has 1,441,792 bytes: an image of such a one
lies in a file, from which the firmware's LittleFS reads it.
"""

import subprocess
import sys

import pytest

from tests.device.networks import NETWORKS
from tests.device.test_deploy import STORAGE
from tests.host.test_package import file_system
from tools.converter.convert import convert
from tools.deploy import boards, code
from tools.deploy.modules import Package
from tools.micropython import get_target
from tools.micropython.rp2040 import FLASH_BYTES

PICO = boards.named("pico")
LEAST_LEFT = 230_000  # bytes for models beside the package, without what LittleFS takes of them
MOST_MORE = 768  # bytes of heap: loops hold what is left of their kernel's module
LAYOUTS = 0, 1, 5, 8  # lines before the script
# The emulated Pico keeps a quarter of its file system for a ROMFS: these are left out.
LEFT_OUT = ("string_", "_string", "_image", "image_decoder", "wide", "svm", "tree", "_tree")
LEFT_OUT += ("attention", "rotary", "grid_sample", "deform", "roi_align", "max_roi")
MOUNT = """
import os, sys

class Blocks:
    def __init__(self):
        self.file = open("image", "rb")

    def readblocks(self, n, buf, offset=0):
        self.file.seek(n * 4096 + offset)
        self.file.readinto(buf)

    def ioctl(self, op, arg):
        return {4: NBLOCKS, 5: 4096}.get(op, 0)

image = Blocks()
os.mount(os.VfsLfs2(image, progsize=256, readsize=32), "/pico", readonly=True)
sys.path[:] = ["/pico"]
os.chdir("/pico")
""".replace("NBLOCKS", str(PICO.filesystem_bytes // 4096))
RUN = """
import gc
import mpconnxr
gc.collect()
before = gc.mem_alloc()
model = mpconnxr.load("digits.bin")
gc.collect()
print(gc.mem_alloc() - before)
print(mpconnxr.__file__, model.kernels())
from mpconnxr import golden
print("verified", golden.verify("digits.bin").ok)
"""


@pytest.fixture
def pico(machine):
    if machine.name != "rp2040":
        pytest.skip("the package is for a Pico")
    return get_target("rp2040")


@pytest.fixture(scope="module")
def package():
    return code.whole(Package(), PICO.machine)


@pytest.fixture(params=["digits float32", "LSTM"])
def model(request):
    return {"digits.bin": convert(NETWORKS[request.param]().model).data}


@pytest.mark.slow
def test_a_model_runs_from_the_file_system_of_a_pico(pico, package, model):
    fs, image = file_system(package | model, PICO.filesystem_bytes)
    assert PICO.filesystem_bytes - 4096 * fs.used_block_count >= LEAST_LEFT
    completed = pico.run(MOUNT + RUN, files={"image": bytes(image)}, timeout=600)
    assert "/pico/mpconnxr/__init__.mpy" in completed.stdout, completed.stderr
    assert completed.stdout.endswith("verified True\n"), completed.stdout + completed.stderr


@pytest.mark.slow
def test_joined_modules_take_little_more_heap(pico, package, model, monkeypatch):
    def single(modules, *_):
        return {name: path.read_text() for name, path in modules.items()}

    monkeypatch.setattr(code, "joined", single)
    most, lines = least_heap(pico, code.whole(Package(), PICO.machine) | model)
    heap, same = least_heap(pico, package | model)
    assert same == lines and lines[-1] == "verified True"
    assert heap <= most + MOST_MORE


def least_heap(pico, files):
    """Return the heap that a model takes, and the other lines that RUN prints.

    A stale pointer may keep a module of 4 KB alive, depending on where objects lie: the least of
    several layouts counts.
    """
    results = []
    for n in LAYOUTS:
        completed = pico.run("n = 0\n" * n + RUN, files=files, timeout=600)
        assert completed.returncode == 0, completed.stderr
        heap, *lines = completed.stdout.splitlines()
        results.append(int(heap))
    print(results)
    return min(results), lines


@pytest.mark.slow
def test_digits_run_from_a_copy_of_the_package(pico, package, tmp_path):
    """A board that starts with such a file system loads the model, and verifies it."""
    files = {p: data for p, data in package.items() if not p.split("/")[-1].startswith(LEFT_OUT)}
    files["digits.bin"] = convert(NETWORKS["digits int8"]().model).data
    flash = tmp_path / "flash"
    with pico.board(flash):
        pass  # a flash with its firmware
    image = bytearray(flash.read_bytes())
    image[STORAGE] = file_system(files, STORAGE.stop - STORAGE.start)[1]
    assert len(image) == FLASH_BYTES
    flash.write_bytes(image)
    with pico.board(flash) as started:
        command = [sys.executable, "-m", "mpremote", "connect", started.port, "exec", RUN]
        completed = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "mpconnxr/__init__.mpy" in completed.stdout and "'thumb'" in completed.stdout
    assert completed.stdout.strip().endswith("verified True")
