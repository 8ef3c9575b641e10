"""Programs take images as inputs."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.program import programs
from tools.converter.convert import Options, convert
from tools.converter.file.interface import Image
from tools.machine import Machine
from tools.micropython import UNIX_TARGETS
from tools.program.build import build

SCRIPT = """
import gc
import mpconnxr
m = mpconnxr.load("m.bin", prefer=PREFER)
print(type(m).__name__)
x = m.inputs[0]
x.load_image(open("p.raw", "rb").read(), 32, 17, "rgb565")
print(bytes(x.view("B")).hex())
print(x.image.width, x.image.height, x.image.channels)
try:
    x.load_image(b"1", 1, 1, "rgb888")
except mpconnxr.InputError as e:
    print(e)
try:
    m.inputs[1].load_image(b"1", 1, 1, "gray8")
except mpconnxr.InputError as e:
    print(e)
picture = bytes(64 * 64)
before = _ = 0
x.load_image(picture, 64, 64, "gray8")
gc.collect()
before = gc.mem_alloc()
for _ in range(100):
    x.load_image(picture, 64, 64, "gray8")
gc.collect()
print(gc.mem_alloc() - before)
"""


def binary():
    shape = (1, 3, 6, 8)
    infos = [small.value(name, shape) for name in "xa"], [small.value("y", shape)]
    model = small.model([("Add", "x a", "y", {})], *infos)
    image = Image("bgr", mean=(0.4, 0.5, 0.6), std=(0.2, 0.3, 0.4))
    return convert(model, Options(images={"x": image}, strip=True)).data


def test_a_board_gets_the_modules_for_images():
    files = build(binary(), Machine.for_arch("armv6m"), stream=True).files
    expected = {f"mpconnxr/{name}.mpy" for name in ("io/images", "parameters", "forms")}
    assert expected | {"mpconnxr/loops/thumb/image.mpy"} <= set(files)


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_programs_accept_the_images_of_kernels(target):
    data = binary()
    picture = np.random.default_rng(5).integers(0, 65536, 32 * 17).astype("<u2").tobytes()
    files = {"m.bin": data, "p.raw": picture}
    results = []
    for kind, prefer in ("Program", "()"), ("Model", "('viper',)"):
        script = SCRIPT.replace("PREFER", prefer)
        first, *rest = programs.run(target, script, [programs.made(data, target)], files)
        assert first == kind and rest[-1] == "0"
        results.append(rest)
    assert results[0] == results[1]
