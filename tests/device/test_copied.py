"""The whole package, copied to a Pico's own file system."""

import subprocess
import sys

import pytest

from tests.device.networks import NETWORKS
from tests.device.test_deploy import STORAGE
from tests.host.test_package import file_system
from tools.converter.convert import convert
from tools.deploy import boards
from tools.deploy.code import whole
from tools.deploy.modules import Package
from tools.micropython import get_target
from tools.micropython.rp2040 import FLASH_BYTES

# The emulated Pico keeps a quarter of its file system for a ROMFS: these are left out.
LEFT_OUT = ("string_", "_string", "_image", "image_decoder", "wide", "svm", "tree", "_tree")
LEFT_OUT += ("attention", "rotary", "grid_sample", "deform", "roi_align", "max_roi")
USED = """
import mpconnxr
from mpconnxr import golden
model = mpconnxr.load("digits.bin")
print(mpconnxr.__file__, golden.verify("digits.bin").ok)
model.run()
print(model.kernels())
"""


def test_digits_run_from_a_copy_of_the_package(machine, tmp_path):
    """A board that starts with such a file system loads the model, and verifies it."""
    if machine.name != "rp2040":
        pytest.skip("only the Pico is emulated together with its file system")
    files = whole(Package(), boards.named("pico").machine)
    files = {p: data for p, data in files.items() if not p.split("/")[-1].startswith(LEFT_OUT)}
    files["digits.bin"] = convert(NETWORKS["digits int8"]().model).data
    flash, board = tmp_path / "flash", get_target("rp2040")
    with board.board(flash):
        pass  # a flash with its firmware
    image = bytearray(flash.read_bytes())
    image[STORAGE] = file_system(files, STORAGE.stop - STORAGE.start)[1]
    assert len(image) == FLASH_BYTES
    flash.write_bytes(image)
    with board.board(flash) as started:
        command = [sys.executable, "-m", "mpremote", "connect", started.port, "exec", USED]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mpconnxr/__init__.mpy True" in done.stdout and "'thumb'" in done.stdout
