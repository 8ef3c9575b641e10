"""mpconnxr.signal against numpy: windows, statistics, spectra and smoothing, on every target."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.device import small
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
host_too = pytest.mark.parametrize("target", [*UNIX_TARGETS, "cpython"], indirect=True)
INTEGERS = np.iinfo(np.int16)


def readings(n, channels, seed=0):
    """Return int16 (n, channels): noise with extreme values, and a stretch of equal ones."""
    rng = np.random.default_rng(seed)
    x = rng.integers(INTEGERS.min, INTEGERS.max, (n, channels), endpoint=True)
    x[: n // 4] //= 4096
    x[n // 4 : n // 2] = rng.choice([INTEGERS.min, INTEGERS.max], (n // 4, channels))
    x[n // 2 : n // 2 + n // 8] = INTEGERS.min
    return x.astype("<i2")


def printed(target, script, x, *args):
    """Return the numbers that a script printed, a row for each line; x.bin holds x."""
    lines = small.run(target, script, {"x.bin": x.tobytes()}, [str(a) for a in args])
    return np.array([line.split() for line in lines.splitlines()], float)


# Yields tuples of int16, as a driver would.
SAMPLES = """
import struct, sys
from array import array
args = [int(a) for a in sys.argv[1:]]
channels = args[0]
data = open("x.bin", "rb").read()
def samples():
    for i in range(0, len(data), 2 * channels):
        sample = struct.unpack_from("<" + channels * "h", data, i)
        yield sample if channels > 1 else sample[0]
"""
WINDOWS = """
from mpconnxr import windows
_, length, hop, first = args
out = array("f", [0] * (length * channels))
window = windows.Window(out, channels, hop or None, bool(first))
for i, sample in enumerate(samples()):
    if window.push(sample):
        print(i, *[int(v) for v in out])
"""


@host_too
@pytest.mark.parametrize("channels_first", [0, 1])
@pytest.mark.parametrize(
    ("channels", "length", "hop"), [(3, 8, 3), (1, 5, 1), (2, 4, 0), (3, 2, 7)]
)
def test_windows_are_slices_of_the_samples(target, channels, length, hop, channels_first):
    x = readings(40, channels)
    got = printed(target, SAMPLES + WINDOWS, x, channels, length, hop, channels_first)
    slices = np.lib.stride_tricks.sliding_window_view(x, length, axis=0)[:: hop or length]
    axes = (0, 1, 2) if channels_first else (0, 2, 1)
    expected = slices.transpose(axes).reshape(len(slices), -1)
    assert np.array_equal(got[:, 0], length - 1 + (hop or length) * np.arange(len(slices)))
    assert np.array_equal(got[:, 1:], expected)


def test_a_window_fills_numpys_arrays():
    """Training data come from the code that a board runs."""
    from mpconnxr import windows

    x = readings(20, 3)
    out = np.zeros(15, np.float32)
    window = windows.Window(out, 3, hop=4)
    got = [out.reshape(5, 3).copy() for sample in x if window.push(sample)]
    expected = np.lib.stride_tricks.sliding_window_view(x, 5, axis=0)[::4].transpose(0, 2, 1)
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("shape", [(32, 4), (128, 1), (1, 128)])
def test_buffers_with_rows_are_refused(shape):
    """len() counts their rows, and a number would fill one."""
    from mpconnxr import InputError, spectrum, windows

    out = np.zeros(shape, np.float32)
    made = spectrum.Spectrum(50, size=64, bands=16)
    for rows in (out, memoryview(out)):
        with pytest.raises(InputError, match="out: .*flat"):
            windows.Window(rows, 4 if shape[1] == 4 else 1)
        with pytest.raises(InputError, match="out: .*flat"):
            made.write(rows)
    flat = out.reshape(-1)
    assert windows.Window(flat, 4).length == 32
    made.write(flat)


NARROW = """
from array import array
import mpconnxr
from mpconnxr import mfcc, spectrum
made, other = spectrum.Spectrum(50, size=64, bands=16), mfcc.Mfcc(8000, 64, 16)
for i in range(64):
    made.samples[i] = 20000 * (i % 2)
def write(out):
    try:
        made.write(out)
        other.frame(bytes(128), 0, out)
        return 1
    except mpconnxr.InputError as e:
        assert "no room for 1" in str(e) and "16 bits" in str(e), str(e)
        return 0
print(*[write(out) for out in (
    bytearray(16), array("h", [0] * 16), array("f", [0] * 16),
    array("i", [0] * 16), [0] * 16, array("h", [0] * 15),
)])
"""


@host_too
def test_spectra_do_not_fit_into_bytes(target):
    """MicroPython would keep the lowest byte of each number."""
    lines = small.run(target, NARROW, {})
    assert lines.split() == ["0", "1", "1", "1", "1", "0"]


def test_spectra_do_not_fit_into_numpys_bytes():
    from mpconnxr import InputError, spectrum

    made = spectrum.Spectrum(50, size=64, bands=16)
    for narrow in (*(np.zeros(16, t) for t in (np.int8, bool)), memoryview(bytearray(16))):
        with pytest.raises(InputError, match="16 bits"):
            made.write(narrow)
    for dtype in (np.int16, np.int64, np.float32, np.float64):
        made.write(np.zeros(16, dtype))


@every_target
def test_a_window_fills_a_models_input(target, relu):
    """It starts anew after reset."""
    script = """
import mpconnxr
from mpconnxr import windows
m = mpconnxr.load("m.bin")
window = windows.Window(m.inputs[0].data, 2, 1, channels_first=True)
for k, sample in enumerate([(1, 10), (2.5, -20), [3, 30], (4, 40), (5, 50)]):
    if k == 4:
        window.reset()
    if window.push(sample):
        print([float(v) for v in m.run()[0].data])
"""
    assert small.lines(target, script, m=relu) == [
        "[1.0, 2.5, 3.0, 10.0, 0.0, 30.0]",
        "[2.5, 3.0, 4.0, 0.0, 30.0, 40.0]",
    ]


STATISTICS = """
from mpconnxr import statistics
_, n = args
stats = statistics.RunningStats(n, channels)
print(*[stats.mean(c) + stats.variance(c) for c in range(channels)] * 2, stats.count)
for sample in samples():
    stats.push(sample)
    line = [stats.mean(c) for c in range(channels)] + [stats.variance(c) for c in range(channels)]
    print(*line, stats.count)
"""


@host_too
@pytest.mark.parametrize(("channels", "n", "total"), [(2, 16, 160), (1, 1, 24), (1, 4096, 9000)])
def test_statistics_are_exact(target, channels, n, total):
    """The mean is rounded to the nearest integer, half up; the variance is rounded down."""
    x = readings(total, channels)
    got = printed(target, SAMPLES + STATISTICS, x, channels, n)
    assert not got[0].any()
    for i, line in enumerate(got[1:]):
        if n > 100 and i % 97 and i != len(got) - 2:
            continue  # Python's own integers, in thousands of windows
        columns = [[int(v) for v in c] for c in x[max(i + 1 - n, 0) : i + 1].T]
        count = len(columns[0])
        means = [(2 * sum(c) + count) // (2 * count) for c in columns]
        squares = [count * sum(v * v for v in c) - sum(c) ** 2 for c in columns]
        assert [*line] == [*means, *(s // count**2 for s in squares), count], i


SPECTRA = """
from mpconnxr import spectrum, windows
_, rate, size, bands, low = args
made = spectrum.Spectrum(rate, size, bands, low, channels=channels)
window = windows.Window(made.samples, channels, channels_first=True)
out = array("h", [0] * (bands * channels))
for sample in samples():
    if window.push(sample):
        made.write(out)
        print(*out)
"""


def bands_of(frames, rate, bands, low):
    """Return 256 * log2 of energies in triangles of equal width: frames (..., size)."""
    x = frames - np.floor(frames.mean(-1, keepdims=True) + 0.5)
    size = x.shape[-1]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    power = np.abs(np.fft.rfft(x * hann)) ** 2
    position = (np.fft.rfftfreq(size, 1 / rate) - low) / (rate / 2 - low) * (bands + 1)
    triangles = np.maximum(0, 1 - np.abs(position - np.arange(1, bands + 1)[:, None]))
    return 256 * np.log2(np.maximum(power @ triangles.T, 1))


@host_too
@pytest.mark.parametrize(
    ("channels", "rate", "size", "bands", "low"),
    [(3, 50, 64, 8, 0), (1, 4000, 256, 64, 100)],
)
def test_spectra_are_near_those_of_floats(target, channels, rate, size, bands, low):
    """Down to 60 dB below a frame's loudest band: 0.02 octaves on average, 0.35 at most."""
    rng = np.random.default_rng(size)
    t = np.arange(size)[:, None] / rate
    level = 10 ** rng.uniform(1, 3.8, (20, 1, channels))
    tone = np.sin(2 * np.pi * rng.uniform(0.05, 0.45, (20, 1, channels)) * rate * t)
    x = level * (tone + 0.1 * rng.standard_normal((20, size, channels)))
    x = np.clip(np.round(x + 8192), INTEGERS.min, INTEGERS.max).astype("<i2")  # gravity
    got = printed(target, SAMPLES + SPECTRA, x, channels, rate, size, bands, low)
    expected = bands_of(x.transpose(0, 2, 1).astype(float), rate, bands, low)
    error = np.abs(got.reshape(expected.shape) - expected) / 256
    is_heard = (expected.max(-1, keepdims=True) - expected) * 10 * np.log10(2) / 256 < 60
    assert is_heard.mean() > 0.8
    assert error[is_heard].mean() < 0.02
    assert error[is_heard].max() < 0.35


AVERAGES = """
import sys
import mpconnxr
from mpconnxr import smoothing
m = mpconnxr.load("m.bin")
average = smoothing.Average(m.outputs[0], int(sys.argv[1]), threshold=0.5)
data = open("x.bin", "rb").read()
nbytes = m.inputs[0].nbytes
for i in range(0, len(data), nbytes):
    m.run(data[i : i + nbytes])
    best = average.update()
    means = [average.mean(c) for c in range(m.outputs[0].nelem)]
    print(-1 if best is None else best, *["{:.5f}".format(v) for v in means])
"""


def check_averages(target, model, x, scores, n, atol):
    """Compare Average, on a model whose outputs for the rows x are scores, with numpy."""
    files = {"m.bin": small.binary(model), "x.bin": x.tobytes()}
    lines = small.run(target, AVERAGES, files, [str(n)]).splitlines()
    got = np.array([line.split() for line in lines], float)
    means = np.array([scores[max(i + 1 - n, 0) : i + 1].mean(0) for i in range(len(x))])
    np.testing.assert_allclose(got[:, 1:], means, rtol=1e-6, atol=atol)
    best, rows = got[:, 0].astype(int), np.arange(len(x))
    largest = means.max(1)
    certain = np.abs(largest - 0.5) > atol
    assert np.array_equal((best >= 0)[certain], (largest >= 0.5)[certain])
    assert (means[rows, best] >= largest - 2 * atol)[best >= 0].all()
    assert {*best} >= {-1, 0, 1, 2}


@host_too
@pytest.mark.parametrize("n", [1, 3, 64])
def test_averages_of_float_scores(target, n):
    """They are within half a unit of 2**-16, and limited to +-256."""
    ends = [small.value("x", (1, 4))], [small.value("y", (1, 4))]
    model = small.model([("Neg", "x", "y", {})], *ends)
    rng = np.random.default_rng(n)
    x = rng.normal(0, 2, (90, 4)) * 10.0 ** rng.integers(-6, 3, (90, 1))
    x[4:9] = [[-np.inf, 1, 0, 0], [np.nan, -0.25, 0, 3], [0, 0, 0, 0], [1e-40, -1e30, 3, 4]] + [
        [255.99999, -255.99999, -256, 256]
    ]
    x[:3] = -np.eye(4)[:3]
    x = x.astype(np.float32)
    scores = np.clip(np.nan_to_num(-x, nan=-256.0).astype(float), -256, 256)
    check_averages(target, model, x, scores, n, atol=2e-5)


@host_too
@pytest.mark.parametrize("dtype", [TensorProto.INT8, TensorProto.UINT8])
def test_averages_of_quantized_scores(target, dtype):
    """They are those of the numbers that the integers stand for."""
    scale, zero = np.float32(1 / 256), 0 if dtype == TensorProto.UINT8 else -128
    zero = np.array(zero, helper.tensor_dtype_to_np_dtype(dtype))
    ends = [small.value("x", (1, 3))], [small.value("y", (1, 3), dtype)]
    model = small.model([("QuantizeLinear", "x s z", "y", {})], *ends, s=scale, z=zero)
    x = np.random.default_rng(7).dirichlet([0.4] * 3, 80).astype(np.float32)
    x[:6] = np.repeat(np.eye(3), 2, 0)
    scores = np.clip(np.rint(x.astype(float) * 256), 0, 255) / 256
    check_averages(target, model, x, scores, 3, atol=1e-5)


@every_target
def test_a_score_reaches_a_threshold_of_its_own_value(target):
    """Thresholds are rounded as scores are, also by single floats."""
    ends = [small.value("x", (2,))], [small.value("y", (2,))]
    model = small.binary(small.model([("Neg", "x", "y", {})], *ends))
    script = """
import mpconnxr
from mpconnxr.signal.smoothing import Average
m = mpconnxr.load("m.bin")
for k in range(1, 100):
    average = Average(m.outputs[0], 2, threshold=k / 100)
    for _ in range(3):
        m.run([-k / 100, 0])
        assert average.update() == 0, k
    m.run([-k / 100 + 1e-4, 0])
    assert average.update() is None, k
    average.reset()
    m.run([0, -1])
    assert (average.update(), average.mean(0), average.mean(1)) == (1, 0, 1), k
print("done")
"""
    assert small.lines(target, script, m=model) == ["done"]


@host_too
def test_agreement_and_hysteresis(target):
    script = """
from mpconnxr.signal.smoothing import Agreement, Hysteresis
agreement = Agreement(2, 3)
print([agreement.update(a) for a in ("a", "b", "a", "c", "b", "b", None, None, "a", "b", "c")])
agreement = Agreement(1, 1)
print([agreement.update(a) for a in (0, 1, None, 0)])
state = Hysteresis(0.75, 0.25)
nan = float("nan")
print([state.update(v) for v in (0.5, 0.74, 0.75, 0.5, nan, 0.25, 0.2, nan, 0.5, 1)])
"""
    assert small.run(target, script).splitlines() == [
        "[None, None, 'a', None, None, 'b', 'b', None, None, None, None]",
        "[0, 1, None, 0]",
        str([False, False, True, True, True, True, False, False, False, True]),
    ]


@every_target
def test_a_step_allocates_nothing(target):
    """On firmware without native code, the loops of a spectrum need memory for their frames."""
    script = """
import sys
from array import array
from micropython import heap_lock, heap_unlock
import mpconnxr
from mpconnxr import smoothing, spectrum, statistics, windows
m = mpconnxr.load("m.bin")
spectra = spectrum.Spectrum(50, 16, 2, channels=3)
window = windows.Window(m.inputs[0].data, 3, 1, channels_first=True)
other = windows.Window(spectra.samples, 3, 1)
single = windows.Window([0] * 4, 1, 2)
stats = statistics.RunningStats(3, 3)
average = smoothing.Average(m.outputs[0], 2, 0.25)
agreement, state = smoothing.Agreement(2, 3), smoothing.Hysteresis(0.75, 0.25)
out = array("h", bytes(12))
with_spectra = len(sys.argv) > 1
samples = [(-32768 + i, 32767, 1) for i in range(40)]
floats, answers = [(0.5, -1.5, 1e3)] * 5, ["a", "b", None, "a"]
def step(sample):
    window.push(sample)
    if other.push(sample) and with_spectra:
        spectra.write(out)
    single.push(1.5)
    stats.push(sample)
    stats.mean(1)
    stats.variance(0)
    average.update()
def steps():
    i = 0
    while i < 40:
        step(samples[i])
        i += 1
    for sample in floats:
        window.push(sample)
    for answer in answers:
        agreement.update(answer)
        state.update(0.5)
steps()
heap_lock()
steps()
heap_unlock()
print("done", stats.variance(0))
"""
    model = small.binary(small.relu((3, 4)))
    files, args = {"m.bin": model}, ["spectra"] if target.viper else []
    assert small.run(target, script, files, args).split() == ["done", "0"]


def test_a_program_without_them_does_not_import_them(target, relu):
    script = """
import sys
import mpconnxr
m = mpconnxr.load("m.bin")
mpconnxr.top_k(m.run([1, 2, 3, 4, 5, 6])[0])
print([name for name in sys.modules if "signal" in name])
from mpconnxr import windows
print([name for name in sys.modules if "mpconnxr.signal." in name])
"""
    assert small.lines(target, script, m=relu) == ["[]", "['mpconnxr.signal.windows']"]
