"""mpconnxr.io.audio against its formula in numpy and floats (examples/keywords/features.py)."""

import numpy as np
import pytest
from scipy.fft import dct

from examples.keywords.features import log_mel
from tests.host.device import small
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
OCTAVE = 256  # how a doubled power shows in the bands
MEL = """
import sys
from mpconnxr.io.audio import LogMel
rate, size, bands, low = [int(a) for a in sys.argv[1:]]
mel = LogMel(rate, size, bands, low)
data = open("x.bin", "rb").read()
out = [0] * (bands + 1)
for i in range(len(data) // (2 * size)):
    mel.frame(data, 2 * size * i, out, 1)
    print(*out[1:])
"""


def sounds(n, size, rate):
    """Return n frames of a tone in noise, of any loudness: int16 (n, size)."""
    rng = np.random.default_rng(size)
    t = np.arange(size) / rate
    level = 10 ** rng.uniform(0.5, 4.4, (n, 1))
    tone = np.sin(2 * np.pi * rng.uniform(0.01, 0.49, (n, 1)) * rate * t)
    noise = 10 ** -rng.uniform(0, 3, (n, 1)) * rng.standard_normal((n, size))
    return np.clip(np.round(level * (tone + noise)), -32768, 32767).astype("<i2")


@every_target
@pytest.mark.parametrize("rate, size, bands, low", [(8000, 256, 20, 100), (16000, 512, 40, 20)])
def test_bands_are_near_those_of_floats(target, rate, size, bands, low):
    """Down to 60 dB below a frame's loudest band: 0.02 octaves on average, 0.35 at most."""
    frames = sounds(40, size, rate)
    args = [str(v) for v in (rate, size, bands, low)]
    printed = small.run(target, MEL, {"x.bin": frames.tobytes()}, args).splitlines()
    got = np.array([line.split() for line in printed], float)
    expected = log_mel(frames.astype(float), rate, bands, low)
    error = np.abs(got - expected) / OCTAVE
    is_heard = (expected.max(1, keepdims=True) - expected) * 10 * np.log10(2) / OCTAVE < 60
    assert is_heard.mean() > 0.8
    assert error[is_heard].mean() < 0.02
    assert error[is_heard].max() < 0.35


@every_target
def test_extreme_sounds_do_not_overflow(target):
    """Frames are silence, one sample, the largest numbers of either sign, and squares of them."""
    size = 256
    frames = np.zeros((6, size), np.int16)
    frames[1, 100] = 1
    frames[2], frames[3] = 32767, -32768
    frames[4] = np.where(np.arange(size) % 2, 32767, -32768)
    frames[5] = np.where(np.arange(size) // 8 % 2, 32767, -32768)
    args = ["8000", str(size), "20", "100"]
    printed = small.run(target, MEL, {"x.bin": frames.tobytes()}, args).splitlines()
    got = np.array([line.split() for line in printed], float)
    expected = log_mel(frames.astype(float))
    assert not got[0].any()
    assert got.min() >= 0
    heard = expected > expected.max(1, keepdims=True) - 60 / (10 * np.log10(2)) * OCTAVE
    for row in (1, 4, 5):
        assert np.abs(got - expected)[row][heard[row] & (expected[row] > 0)].max() < 0.35 * OCTAVE


MFCC = """
import sys
from mpconnxr.io.mfcc import Mfcc
rate, size, bands, low, n = [int(a) for a in sys.argv[1:]]
mfcc = Mfcc(rate, size, bands, low, coefficients=n)
data = open("x.bin", "rb").read()
out, logs = [0] * n, [0] * bands
for i in range(len(data) // (2 * size)):
    mfcc.frame(data, 2 * size * i, out)
    super(Mfcc, mfcc).frame(data, 2 * size * i, logs)
    print(*(out + logs))
"""


@every_target
@pytest.mark.parametrize(
    "rate, size, bands, low, n",
    [
        (8000, 256, 20, 100, 13),
        (16000, 512, 40, 20, 40),
        (16000, 1024, 256, 0, 30),
        (8000, 64, 1, 0, 1),
    ],
)
def test_cepstra_are_scipys_transform_of_the_bands(target, rate, size, bands, low, n):
    """They are exact to rounding, and as near to cepstra of float bands as the bands are."""
    frames = sounds(12, size, rate)
    frames[0] = 0
    args = [str(v) for v in (rate, size, bands, low, n)]
    printed = small.run(target, MFCC, {"x.bin": frames.tobytes()}, args).splitlines()
    got = np.array([line.split() for line in printed], float)
    got, logs = got[:, :n], got[:, n:]
    expected = np.clip(dct(logs, type=2, norm="ortho")[:, :n] / 4, -32768, 32767)
    assert np.abs(got - expected).max() < 0.8
    assert not got[0].any() and np.abs(got[1:]).max() > 100
    if bands == 20:
        floats = dct(log_mel(frames[1:].astype(float), rate, bands, low), norm="ortho")[:, :n] / 4
        assert np.abs(got[1:] - floats).mean() < 0.1 * OCTAVE / 4


@every_target
def test_cepstra_stay_within_int16(target):
    """Noise of full scale in many bands would have a larger coefficient 0."""
    rng = np.random.default_rng(1)
    frame = np.where(rng.random(1024) < 0.5, 32767, -32768).astype("<i2")
    args = ["16000", "1024", "256", "0", "2"]
    [line] = small.run(target, MFCC, {"x.bin": frame.tobytes()}, args).splitlines()
    got = np.array(line.split(), float)
    assert dct(got[2:], norm="ortho")[0] / 4 > 32767 == got[0]


@every_target
def test_there_are_at_most_as_many_coefficients_as_bands(target):
    script = """
import mpconnxr
from mpconnxr.io.mfcc import Mfcc
for n in (0, 21):
    try:
        Mfcc(8000, coefficients=n)
    except mpconnxr.InputError as e:
        print(e)
"""
    assert small.lines(target, script) == ["coefficients: an integer from 1 to 20 is needed"] * 2


@every_target
def test_features_go_into_a_models_input_or_are_refused(target, relu):
    script = """
from array import array
import mpconnxr
from mpconnxr.io.audio import LogMel
m = mpconnxr.load("m.bin")
mel = LogMel(8000, 64, 3)
sound = bytes([7 * i % 251 for i in range(200)])
wide, x = array("h", bytes(6)), m.inputs[0].data
mel.frame(sound, 2, wide)
mel.frame(sound, 2, x, 3)
print([float(v) for v in wide] == [x[3], x[4], x[5]], min(wide) > 0)
for what in (lambda: mel.frame(sound, 74, wide), lambda: mel.frame(sound, -2, wide),
             lambda: mel.frame(array("h", bytes(200)), 0, wide),
             lambda: LogMel(8000, 100), lambda: LogMel(8000, 2048), lambda: LogMel(8000, low=5000),
             lambda: LogMel(8000, bands=0), lambda: LogMel(8000, 64, 17)):
    try:
        what()
        print("taken")
    except mpconnxr.InputError as e:
        print(e)
"""
    beyond = "a frame of 128 bytes goes beyond the samples"
    size = "size: a power of two from 16 to 1024"
    assert small.lines(target, script, m=relu) == [
        "True True",
        beyond,
        "first: an integer from 0 to 1073741823 is needed",
        "samples: bytes of int16 are needed",
        size,
        "size: an integer from 16 to 1024 is needed",
        "low: a number from 0 to 4000.0 is needed",
        "bands: an integer from 1 to 64 is needed",
        "bands: an integer from 1 to 16 is needed",
    ]


@every_target
def test_a_frame_allocates_nothing(target):
    script = """
from array import array
from micropython import heap_lock, heap_unlock
from mpconnxr.io.audio import LogMel
from mpconnxr.io.mfcc import Mfcc
mel = LogMel(8000)
sound, out = bytes(512), array("h", bytes(40))
mfcc = Mfcc(8000)
mel.frame(sound, 0, out)
mfcc.frame(sound, 0, out)
heap_lock()
mel.frame(sound, 0, out)
mfcc.frame(sound, 0, out)
heap_unlock()
print("done")
"""
    if target.viper:
        assert small.lines(target, script) == ["done"]


@every_target
def test_tables_are_exact(target):
    """Single floats would round the window and the transform to other integers."""
    script = """
from mpconnxr.io.audio import LogMel
for bits in range(4, 11):
    mel = LogMel(16000, 1 << bits, 2, 0)
    print(list(mel._window))
    print(list(mel._cosines))
"""
    expected = []
    for n in (1 << bits for bits in range(4, 11)):
        cosines = np.rint(16384 * np.cos(2 * np.pi * np.arange(n) / n)).astype(int)
        expected.append(str(np.minimum(32767, 16384 - cosines)[: n // 2 + 1].tolist()))
        expected.append(str((16384 + cosines)[: 3 * n // 4].tolist()))
    assert small.run(target, script, {}).splitlines() == expected
