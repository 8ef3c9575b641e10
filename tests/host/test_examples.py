"""Each example's demo runs under MicroPython, also from a fake sensor."""

import importlib
import itertools
import re

import numpy as np
import onnx
import pytest

from examples import running
from examples.anomaly import data as vibration
from examples.forest import data as room
from examples.gesture import data as motions
from examples.keywords import data as words
from examples.shapes import data as pictures
from tests.host.device import small
from tools import package
from tools.converter.convert import Options, convert
from tools.converter.file.interface import image_from

# Least accuracy in %: what the scripts' test splits reach, less what so few samples may miss.
DEMOS = {
    "anomaly": 95,
    "forest": 90,
    "gesture": 95,
    "keywords": 84,
    "shapes": 90,
    "two_models": 85,
}
# Recordings for an emulator, which is 25 times slower than a board.
FEW = {"anomaly": 2, "forest": 10, "gesture": 2, "keywords": 1, "shapes": 1, "two_models": 5}
MODELS = [name for name in DEMOS if name != "two_models"]


@pytest.fixture(autouse=True)
def build_folder(monkeypatch, tmp_path):
    """Give each test a folder of its own: tests may run at once."""
    monkeypatch.setattr(running, "build_folder", lambda example: tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", DEMOS)
def test_a_demo_runs(target, name, capsys):
    demo = importlib.import_module(f"examples.{name}.demo")
    assert demo.main([]) == 0
    printed = capsys.readouterr().out
    assert all(len(line) <= 100 for line in printed.splitlines())
    [accuracy] = re.findall(r"^accuracy .*\((\d+\.\d)%\)$", printed, re.MULTILINE)
    assert float(accuracy) >= DEMOS[name]
    for figure in ("ms each", "bytes of RAM", "model.bin"):
        assert figure in printed


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), FEW.items())
def test_a_demo_runs_on_an_emulated_pico(target, ready_target, name, n, capsys):
    """Compiled modules run in a Pico's heap to the end of the recordings, as on the host."""
    demo = importlib.import_module(f"examples.{name}.demo")
    report = {}
    for one in (target, ready_target("rp2040")):
        assert demo.main(["--target", one.name, "-n", str(n)]) == 0
        report[one.name] = capsys.readouterr().out.partition("\n")[2].partition("\ntime ")[0]
    assert report["rp2040"] == report["unix"] and "accuracy" in report["unix"]


def test_two_models_need_the_larger_arena(target, capsys):
    from examples.two_models import demo

    assert demo.main([]) == 0
    printed = capsys.readouterr().out.replace(",", "")
    together = int(re.search(r"^arena +(\d+)", printed, re.MULTILINE)[1])
    apart = int(re.search(r"^two arenas +(\d+)", printed, re.MULTILINE)[1])
    assert together < apart


@pytest.mark.parametrize("name", MODELS)
def test_models_are_small_and_valid_onnx(name):
    path = running.EXAMPLES / name / f"{name}.onnx"
    assert path.stat().st_size < 64_000
    onnx.checker.check_model(onnx.load(path), full_check=True)


def test_a_demo_shows_the_devices_traceback(target):
    script = running.EXAMPLES / "gesture" / "on_device.py"
    with pytest.raises(SystemExit, match="(?s)failed on unix.*Traceback.*ModelError"):
        running.run(target, script, {"model.bin": b"no model"})


def on_device(target, name, files, options=None, changed=()) -> list[str]:
    """Return the predictions of on_device.py from fake sensors, until these run dry.

    `changed` are (old text, new text) of the program, to be quicker.
    """
    program = (running.EXAMPLES / name / "on_device.py").read_text()
    for old, new in changed:
        assert old in program
        program = program.replace(old, new)
    model = convert(running.EXAMPLES / name / f"{name}.onnx", options or Options()).data
    files = {"mpconnxr": package.folder(), "model.bin": model, **files}
    completed = target.run(program, files=files)
    assert "no more" in completed.stderr
    return running.predictions(completed.stdout)[0]


def test_gestures_are_recognized_from_an_accelerometer(target):
    changed = [("PERIOD_MS, HOP, RUNS = 20, 12, 3", "PERIOD_MS, HOP, RUNS = 0, 64, 1")]
    windows, labels = motions.windows(10, seed=2)
    result = on_device(target, "gesture", accelerometer(windows), changed=changed)
    expected = [motions.LABELS[label] for label in labels]
    assert sum(a == b for a, b in zip(result, expected, strict=True)) >= 9


def test_gestures_are_smoothed_over_runs(target):
    """The mean of three runs changes less often, and is right at least as often."""
    windows, labels = motions.windows(200, seed=3)
    order = np.argsort(labels, kind="stable")
    expected = [motions.LABELS[label] for label in np.repeat(labels[order], motions.N)]
    changes, right = {}, {}
    for runs in (1, 3):
        settings = f"PERIOD_MS, HOP, RUNS = 0, 12, {runs}"
        changed = [("PERIOD_MS, HOP, RUNS = 20, 12, 3", settings)]
        result = on_device(target, "gesture", accelerometer(windows[order]), changed=changed)
        changes[runs] = sum(a != b for a, b in itertools.pairwise(result))
        now = expected[motions.N - 1 :: 12]
        right[runs] = sum(a == b for a, b in zip(result, now, strict=True))
    assert changes[3] < 0.8 * changes[1] and right[3] >= right[1], (changes, right)


def accelerometer(windows):
    """Return the files of a fake MPU-6050.

    It answers with readings, high byte first, after it was woken up.
    """
    machine = """
class Pin:
    def __init__(self, n): pass
class I2C:
    def __init__(self, bus, sda, scl, freq):
        self.file = open("readings", "rb")
        self.written = {}
    def writeto_mem(self, address, register, value):
        assert address == 0x68
        self.written[register] = value
    def readfrom_mem_into(self, address, register, buffer):
        assert (address, register, self.written) == (0x68, 0x3B, {0x6B: b"\\0", 0x1C: b"\\x08"})
        if self.file.readinto(buffer) != 6:
            raise OSError("no more")
"""
    return {"machine.py": machine.encode(), "readings": windows.astype(">i2").tobytes()}


def test_words_are_recognized_from_a_microphone(target):
    """A fake I2S microphone feeds it; an answer is due each half second."""
    machine = """
class Pin:
    def __init__(self, n): pass
class I2S:
    RX = MONO = 0
    def __init__(self, number, sck, ws, sd, mode, bits, format, rate, ibuf):
        assert (bits, rate) == (16, 8000)
        self.file = open("sound", "rb")
    def readinto(self, buffer):
        n = self.file.readinto(buffer)
        if not n:
            raise OSError("no more")
        return n
"""
    clips, labels = words.clips(10, seed=2)
    files = {"machine.py": machine.encode(), "sound": clips.astype("<i2").tobytes()}
    result = on_device(target, "keywords", files)
    assert len(result) == 2 * len(clips)
    expected = [words.LABELS[label] for label in labels]
    assert sum(a == b for a, b in zip(result[1::2], expected, strict=True)) >= 8


def test_shapes_are_recognized_from_a_camera(target):
    """A fake camera sends the high byte first."""
    camera = f"""
class PixelFormat: RGB565 = 1
class FrameSize: QQVGA = 2
class Camera:
    def __init__(self, pixel_format, frame_size):
        assert (pixel_format, frame_size) == (1, 2)
        self.file = open("frames", "rb")
    def capture(self):
        frame = self.file.read({2 * pictures.WIDTH * pictures.HEIGHT})
        if not frame:
            raise OSError("no more")
        return memoryview(frame)
"""
    frames, labels = pictures.frames(4, seed=2)
    swapped = np.frombuffer(pictures.rgb565(frames), "<u2").astype(">u2").tobytes()
    options = Options(images={"picture": image_from("gray,crop,scale=255")})
    files = {"camera.py": camera.encode(), "frames": swapped}
    result = on_device(target, "shapes", files, options)
    assert result == [pictures.LABELS[label] for label in labels]


def test_vibration_is_recognized_from_an_adc(target):
    machine = """
class Pin:
    def __init__(self, n): pass
class ADC:
    def __init__(self, pin):
        self.file = open("samples", "rb")
        self.two = bytearray(2)
    def read_u16(self):
        if self.file.readinto(self.two) != 2:
            raise OSError("no more")
        return self.two[0] | self.two[1] << 8
"""
    clips, faults = vibration.clips(3, seed=4, labels=("well", "bearing", "unbalance"))
    samples = (clips.astype(int) + 32768).astype("<u2").tobytes()
    result = on_device(target, "anomaly", {"machine.py": machine.encode(), "samples": samples})
    assert result == ["ill" if fault != "well" else "well" for fault in faults]


def test_a_room_is_recognized_from_its_sensors(target):
    """The SCD40 and the photoresistor are fake; time does not pass."""
    machine = """
class Pin:
    def __init__(self, n): pass
lines = open("room.csv")
now = []
class I2C:
    def __init__(self, bus, sda, scl, freq):
        self.sent = []
    def writeto(self, address, command):
        assert address == 0x62
        self.sent.append(command)
    def readfrom(self, address, n):
        assert (address, n, self.sent[0], self.sent[-1]) == (0x62, 9, b"\\x21\\xb1", b"\\xec\\x05")
        line = lines.readline()
        if not line:
            raise OSError("no more")
        now[:] = [int(word) for word in line.split(",")]
        return b"".join([bytes((w >> 8, w & 255, 0)) for w in now[:3]])
class ADC:
    def __init__(self, pin): pass
    def read_u16(self): return now[3]
"""
    readings, labels = room.day(seed=210)
    readings, labels = readings[:400], labels[:400]
    to_words = np.array([1, 65535 / 175, 655.35, 655.35])
    sent = np.round((readings + [0, 45, 0, 0]) * to_words).astype(int)
    lines = "\n".join(",".join(map(str, row)) for row in sent) + "\n"
    clock = "ticks_us = lambda: 0\nticks_diff = lambda a, b: 0\nsleep = sleep_ms = lambda t: 0\n"
    files = {
        "machine.py": machine.encode(),
        "room.csv": lines.encode(),
        "clock.py": clock.encode(),
    }
    changed = [("import time\n", "import clock as time\n")]
    result = on_device(target, "forest", files, changed=changed)
    expected = [room.LABELS[label] for label in labels[room.SPAN :]]
    assert np.mean([a == b for a, b in zip(result, expected, strict=True)]) > 0.9


def test_numpy_images_equal_those_of_load_image(target):
    """The network was trained on images that a board makes of a frame in the same way."""
    frames, _ = pictures.frames(3, seed=5)
    options = Options(images={"picture": image_from("gray,crop,scale=255")})
    model = convert(running.EXAMPLES / "shapes" / "shapes.onnx", options).data
    script = """
import binascii, mpconnxr
m = mpconnxr.load("model.bin")
data = open("frames.bin", "rb").read()
for i in range(3):
    m.inputs[0].load_image(data[38400 * i : 38400 * (i + 1)], 160, 120, "rgb565")
    print(str(binascii.hexlify(m.inputs[0].view("B")), "ascii"))
"""
    files = {"model.bin": model, "frames.bin": pictures.rgb565(frames)}
    printed = small.run(target, script, files).split()
    got = np.array([np.frombuffer(bytes.fromhex(line), "<f4") for line in printed])
    expected = pictures.gray(frames).reshape(3, -1)
    np.testing.assert_allclose(got, expected, atol=1e-6)
