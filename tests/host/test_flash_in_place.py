"""Models that are read in place go to a ROMFS, or to flash beyond the file system."""

import pytest

from tools.deploy.errors import DeployError
from tools.deploy.xip import Reference, Region
from tools.romfs import image_of

MODEL = bytes(range(256)) * 3

LIST = """
import os, vfs
vfs.mount(vfs.VfsRom(open("image", "rb").read()), "/rom")
print(os.listdir("/rom"), os.listdir("/rom/mpconnxr"), os.listdir("/rom/mpconnxr/ops"))
print(open("/rom/mpconnxr/ops/a.mpy", "rb").read(), len(open("/rom/model.bin", "rb").read()))
"""


@pytest.mark.parametrize("n", range(0, 40, 7))
def test_a_model_in_a_romfs_is_aligned(n, target):
    paths = ("mpconnxr/__init__.mpy", "mpconnxr/ops/__init__.mpy", "mpconnxr/ops/a.mpy")
    files = dict.fromkeys(paths, b"x" * n)
    image = image_of({**files, "mpconnxr/z.mpy": b"z", "model.bin": MODEL})
    assert image.index(MODEL) % 16 == 0
    if n != 7:
        return
    completed = target.run(LIST, {"image": image})
    folders, contents = completed.stdout.splitlines()
    assert folders == (
        "['model.bin', 'mpconnxr'] ['__init__.mpy', 'ops', 'z.mpy'] ['__init__.mpy', 'a.mpy']"
    )
    assert contents == "b'xxxxxxx' 768"


class Board:
    """Answers a Region's questions: the firmware's end, and where the file system begins."""

    def __init__(self, end):
        self.end = end

    def execute(self, source):
        return str((0x50123, self.end)) if source == "gap(words)" else ""


def test_models_lie_side_by_side_before_the_file_system():
    region = Region(Board(0xA0000), 0x8000)
    first = region.place(5000, [])
    assert first == Reference(0x98000, 5000)
    second = region.place(4096, [first])
    assert second == Reference(0x9A000, 4096)
    assert region.place(0x2000, [first, second]) == Reference(0x9B000, 0x2000)
    assert region.place(5000, [second]) == first  # the place of one that does not exist any more
    assert region.place(4096, [Reference(0x90000, 100)]).offset == 0x98000  # one outside of it


def test_missing_flash_is_reported_in_bytes():
    region = Region(Board(0xA0000), 0x4000)
    with pytest.raises(DeployError, match="--reserve 20480 has it"):
        region.place(0x2001, [Reference(0x9C000, 0x2000)])


@pytest.mark.parametrize("nbytes", [0x4F001, -1])
def test_a_reservation_beyond_the_flash_is_refused(nbytes):
    with pytest.raises(DeployError, match="has 323,584 bytes between the firmware"):
        Region(Board(0xA0000), nbytes)


def test_a_reference_is_16_bytes():
    assert Reference(0x9A000, 5000).data() == b"XIPFLASH\x00\xa0\x09\x00\x88\x13\x00\x00"
