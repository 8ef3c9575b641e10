"""Kernel image_decoder decodes files of all kinds on MicroPython, and withstands damaged ones."""

import struct
import zlib

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tests.host.ops.image_files import bmp, chunk, gray_of, png, pnm, tiff
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.deploy.modules import Package
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
UINT8 = TensorProto.UINT8
RNG = np.random.default_rng(5)
FORMATS = ("RGB", "BGR", "Grayscale")
LARGEST = 20  # rows and columns of the models here
LONGEST = 8192  # bytes of their files


def model(pixel_format="RGB", bound=LARGEST, shape=None, n="n"):
    """Return a model of one ImageDecoder; callers decide how long a file is."""
    nodes = [("ImageDecoder", "x", "y", {"pixel_format": pixel_format})]
    names = shape or ["h", "w", "c"]
    proto = small.model(
        nodes, [small.value("x", [n], UINT8)], [small.value("y", names, UINT8)], 20
    )
    bounds = {"n": LONGEST} if n == "n" else {}
    return convert(proto, Options(strip=True, bounds=bounds | ({} if shape else {"y": bound})))


def job(converted, files):
    shapes = [[(len(file),)] for file in files]
    return Job(converted.data, [[bytes(file)] for file in files], shapes=shapes)


def pixels(*shape, most=255):
    return RNG.integers(0, most + 1, shape).astype(np.uint16 if most > 255 else np.uint8)


def scaled(codes, bits):
    """Return the grays of codes: black is 0, the largest code is white."""
    most = (1 << bits) - 1
    return codes >> 8 if bits == 16 else codes.astype(int) * 255 // most


def three(gray):
    return np.repeat(gray, 3, axis=2)


def looked_up(codes, palette):
    full = np.zeros((256, 3), np.uint8)
    full[: len(palette)] = palette
    return full[codes[..., 0]]


def png_cases():
    for kind, n in (("gray", 1), ("gray+alpha", 2), ("rgb", 3), ("rgb+alpha", 4)):
        for bits in (1, 2, 4, 8, 16) if kind == "gray" else (8, 16):
            for width in (1, 3, 13):
                x = pixels(7, width, n, most=(1 << bits) - 1)
                colours = scaled(x[..., : 1 if n < 3 else 3], bits)
                file = png(x, kind, bits, filters=(4, 1, 2, 3, 0, 4, 3), piece=50)
                yield file, colours if n > 2 else three(colours)
    for bits in (1, 2, 4, 8):
        x, palette = pixels(5, 11, 1, most=(1 << bits) - 1), pixels(1 << bits, 3)
        yield png(x, "palette", bits, (2, 1, 4), palette), looked_up(x, palette)
        yield png(x, "palette", bits, (0,), palette[:2]), looked_up(x, palette[:2])
    x = pixels(20, 20, 3)
    for level in (0, 1, 9):
        yield png(x, level=level, piece=5), x
    for first in range(5):  # of a filter in the first row
        yield png(x[:3], filters=(first, 0)), x[:3]
    flat = np.full((20, 20, 3), 77, np.uint8)
    yield png(flat, filters=(0, 1, 2, 3, 4)), flat
    known = chunk(b"gAMA", bytes(4)) + chunk(b"tEXt", b"a" * 99)
    yield png(x, before=known + chunk(b"PLTE", bytes(6))) + b"more", x


def bmp_cases():
    x = pixels(5, 7, 3)
    blue_first = x[..., ::-1]
    for width in range(1, 6):  # rows are filled up to 4 bytes
        yield bmp(blue_first[:, :width]), x[:, :width]
    yield bmp(blue_first, from_top=True, gap=3), x
    yield bmp(blue_first, header=12), x
    yield bmp(blue_first, header=124), x
    four = np.concatenate([blue_first, pixels(5, 7, 1)], axis=2)
    yield bmp(four, 32), x
    masks = (0xFF0000, 0xFF00, 0xFF)
    yield bmp(four, 32, masks=masks), x
    yield bmp(four, 32, masks=masks[::-1]), blue_first
    yield bmp(four, 32, masks=tuple(m << 8 for m in masks)), four[..., [3, 2, 1]]
    for bits in (1, 4, 8):
        codes, palette = pixels(6, 9, 1, most=(1 << bits) - 1), pixels(1 << bits, 3)
        yield bmp(codes, bits, palette), looked_up(codes, palette)
        yield bmp(codes, bits, palette, header=12), looked_up(codes, palette)
        yield bmp(codes, bits, palette[:2], from_top=True), looked_up(codes, palette[:2])


def pnm_cases():
    for kind, n in ((2, 1), (3, 3), (5, 1), (6, 3)):
        for most in (1, 15, 100, 255, 65535):
            x = pixels(4, 9, n, most=most)
            colours = x >> 8 if most > 255 else (x.astype(int) * 255 + most // 2) // most
            file = pnm(x, kind, most, comment="# 9 9\n#\n")
            yield file, colours if n == 3 else three(colours)
    for kind in (1, 4):
        for width in (1, 8, 17):
            x = pixels(3, width, 1, most=1)
            yield pnm(x, kind), three(255 - 255 * x)


def tiff_cases():
    for order in "<>":
        for bits in (8, 16):
            for n in (3, 4):
                x = pixels(7, 5, n, most=(1 << bits) - 1)
                yield tiff(x, bits, 2, order, rows=3), scaled(x[..., :3], bits)
            x = pixels(7, 5, 2, most=(1 << bits) - 1)
            yield tiff(x, bits, 1, order, rows=1), three(scaled(x[..., :1], bits))
        for bits in (1, 2, 4, 8):
            x = pixels(6, 11, 1, most=(1 << bits) - 1)
            yield tiff(x, bits, 1, order), three(scaled(x, bits))
            yield tiff(x, bits, 0, order, rows=4), three(255 - scaled(x, bits))
            palette = pixels(1 << bits, 3)
            yield tiff(x, bits, 3, order, palette=palette), looked_up(x, palette)
    x = pixels(4, 4, 3)
    yield tiff(x, f278=None, f277=3), x
    yield tiff(pixels(1, 1, 1) * 0, 1, 1, f258=None, f277=None, f259=None), np.zeros((1, 1, 3))


def all_cases():
    return [*png_cases(), *bmp_cases(), *pnm_cases(), *tiff_cases()]


@every_target
def test_files_of_all_kinds_are_decoded(target):
    cases = all_cases()
    jobs = [job(model(name), [file for file, _ in cases]) for name in FORMATS]
    for name, outcome in zip(FORMATS, run_jobs(target, jobs), strict=True):
        assert not outcome.error, (cases[len(outcome.runs)][0][:64], outcome.message)
        for i, ((_, rgb), run) in enumerate(zip(cases, outcome.runs, strict=True)):
            expected = {"RGB": rgb, "BGR": rgb[..., ::-1], "Grayscale": gray_of(rgb)}[name]
            [shape] = run.shapes
            assert tuple(shape) == expected.shape, i
            result = np.frombuffer(run.outputs[0], np.uint8).reshape(expected.shape)
            np.testing.assert_array_equal(result, expected, err_msg=f"{name} {i}")


def test_cpython_decodes_the_same(ready_target):
    cases = all_cases()
    [outcome] = run_jobs(ready_target("cpython"), [job(model(), [file for file, _ in cases])])
    assert not outcome.error, outcome.message
    for (_, rgb), run in zip(cases, outcome.runs, strict=True):
        assert bytes(run.outputs[0]) == rgb.astype(np.uint8).tobytes()


def test_decoded_images_feed_other_operators(ready_target):
    """Pixels become floats behind a model's own bound: x has 3 x 5 of up to 4 x 9."""
    x = pixels(3, 5, 3)
    file = png(x, filters=(4,))
    nodes = [
        ("ImageDecoder", "x", "p", {}),
        ("Cast", "p", "f", {"to": TensorProto.FLOAT}),
        ("Transpose", "f", "t", {"perm": [2, 0, 1]}),
        ("ReduceMean", "t axes", "y", {"keepdims": 0}),
    ]
    inputs, outputs = [small.value("x", [len(file)], UINT8)], [small.value("y", [3])]
    proto = small.model(nodes, inputs, outputs, 20, axes=np.array([1, 2]))
    with pytest.raises(UnsupportedModel, match="--bound p=N says how many"):
        convert(proto)
    converted = convert(proto, Options(strip=True, bounds={"p": 9}))
    [outcome] = run_jobs(ready_target("unix"), [Job(converted.data, [[file]])])
    assert not outcome.error, outcome.message
    result = np.frombuffer(outcome.runs[0].outputs[0], np.float32)
    np.testing.assert_allclose(result, x.mean((0, 1)), rtol=1e-6)


@every_target
def test_the_declared_shape_is_the_maximum(target):
    converted = model(shape=[4, 6, 3])
    fits = [png(pixels(h, w, 3)) for h, w in ((4, 6), (1, 2), (4, 1))]
    jobs = [job(converted, [*fits, bmp(pixels(h, w, 3))]) for h, w in ((5, 1), (1, 7), (6, 4))]
    for outcome, what in zip(run_jobs(target, jobs), ("5", "7", "6"), strict=True):
        assert len(outcome.runs) == 3 and outcome.error == "InputError"
        assert f"{what} elements, planned for 0 to" in outcome.message


X = pixels(4, 6, 3)
PNG = png(X)
REFUSED = {
    b"P": "like no BMP",
    b"\xff\xd8\xff\xe0\0\x10JFIF": "JPEG is not decoded",
    b"\0\0\0\x0cjP  \r\n": "JPEG 2000 is not decoded",
    b"RIFF\0\0\0\0WEBPVP8 ": "WebP is not decoded",
    b"GIF89a": "GIF is not decoded",
    b"BM": "truncated",
    bmp(X)[:-3]: "truncated",
    bmp(X, 16): "16 bits a pixel",
    bmp(X, header=16): "header of 16 bytes",
    bmp(X)[:30] + b"\1" + bmp(X)[31:]: "compression 1 of 24 bits",
    bmp(pixels(2, 2, 4), 32, masks=(0x7C00, 0x3E0, 0x1F)): "not a byte each",
    bmp(pixels(2, 2, 1, most=1), 1, pixels(3, 3)): "table of 3 colours",
    PNG[:-30]: "truncated",
    PNG[:20] + b"\1" + PNG[21:]: "checksum",
    png(X, interlace=1): "interlaced",
    b"P7\n": "like no BMP",
    png(pixels(2, 2, 1), "palette"): "without its palette",
    png(X, before=chunk(b"ABCD")): "unknown chunk",
    png(X, before=chunk(b"IEND")): "without pixels",
    png(X, before=chunk(b"PLTE", bytes(771))): "large palette",
    b"P6 4 4 256\n" + bytes(96): "256 as its largest value",
    b"P5 4 4 255\n" + bytes(15): "truncated",
    b"P5 4 4 255": "truncated",
    b"P2 2 1 9 3 x": "other than a number",
    b"P2 2 1 9 3 10": "above its largest",
    b"P5 0 4 255\n": "0 x 4 pixels",
    b"P5 99999999999999 4 255\n": "9999999 x 9999999 pixels",
    tiff(X, f259=5): "compression 5",
    tiff(X, f284=2): "planar configuration 2",
    tiff(X, f274=6): "orientation 6",
    tiff(X, f322=16): "of tiles",
    tiff(X, f273=None): "without a field 273",
    tiff(X, f277=0): "kind 2 with 0 x 8 bits",
    tiff(X, f277=9): "kind 2 with 9 x 8 bits",
    tiff(X, 8, 1, f277=0): "kind 1 with 0 x 8 bits",
    tiff(X, rows=2, f278=1): "short field 273",
    tiff(X, f273=60000): "truncated",
}


@every_target
def test_other_files_are_refused(target):
    good, converted = X.tobytes(), model()
    jobs = [job(converted, [PNG, file]) for file in REFUSED]
    for (file, what), outcome in zip(REFUSED.items(), run_jobs(target, jobs), strict=True):
        assert outcome.error == "InputError" and len(outcome.runs) == 1, (file[:40], outcome)
        assert bytes(outcome.runs[0].outputs[0]) == good
        assert what in outcome.message, (what, outcome.message)


def png_of(raw, width=4, height=4, wrap=zlib.compress, bits=8, kind=2):
    head = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)
    chunks = chunk(b"IHDR", head) + chunk(b"IDAT", wrap(raw)) + chunk(b"IEND")
    return b"\x89PNG\r\n\x1a\n" + chunks


@every_target
def test_wrong_compressed_data_is_refused(target):
    raw = (b"\0" + bytes(12)) * 4
    cases = {
        png_of(raw[:-1]): "damaged",
        png_of(b"\5" + raw[1:]): "unknown filter",
        png_of(raw, wrap=lambda r: zlib.compress(r)[:-8]): "damaged",
        png_of(raw, wrap=lambda r: b"x\x9c\7" + bytes(40)): "damaged",
        png_of(raw, wrap=lambda r: b"x\x9d" + zlib.compress(r)[2:]): "unknown compression",
        png_of(raw, wrap=lambda r: b""): "without pixels",
        png_of(raw, wrap=lambda r: b"x\x9c" + b"\0\0\0\xff\xff" * 300): "damaged",
        png_of(raw, bits=3): "kind 2 with 3 bits",
        png_of(raw, kind=5): "kind 5 with 8 bits",
        png_of(raw, width=0): "0 x 4 pixels",
        png_of(raw, width=1 << 31): "pixels",
        png_of(raw, height=(1 << 32) - 1): "pixels",
    }
    outcomes = run_jobs(target, [job(model(), [file]) for file in cases])
    for what, outcome in zip(cases.values(), outcomes, strict=True):
        assert outcome.error == "InputError" and what in outcome.message, (what, outcome)


def damaged():
    """Yield files with changed bytes and right checksums, some cut off; always the same ones."""
    rng = np.random.default_rng(8)
    files = [file for file, _ in all_cases() if len(file) < 1500]
    for i in range(len(files) * 24):
        file = bytearray(files[i % len(files)])
        for _ in range(rng.integers(1, 4)):
            at = rng.integers(0, min(len(file), (len(file), 64, 200)[rng.integers(3)]))
            file[at] = rng.choice([0, 1, 255, 127, 128, file[at] ^ 1 << rng.integers(8)])
        if rng.integers(4) == 0:
            file = file[: rng.integers(1, len(file) + 1)]
        yield checked(bytes(file))


def checked(file):
    """Return a PNG with right checksums, as far as it has chunks."""
    if file[:8] != b"\x89PNG\r\n\x1a\n":
        return file
    at, out = 8, file[:8]
    while at + 12 <= len(file):
        [n] = struct.unpack_from(">I", file, at)
        if at + 12 + n > len(file):
            break
        out += chunk(file[at + 4 : at + 8], file[at + 8 : at + 8 + n])
        at += 12 + n
    return out + file[at:]


@pytest.mark.parametrize("target", [*UNIX_TARGETS, "unix32-guard"], indirect=True)
def test_damaged_files_do_no_harm(target):
    """Each gives pixels or an InputError, soon, and nothing around the arena changes."""
    files = list(damaged())
    packed = b"".join(struct.pack("<H", len(file)) + file for file in files)
    for name in ("RGB", "Grayscale"):
        beside = {"model.bin": model(name).data, "images.bin": packed}
        beside["good.png"] = PNG
        lines = small.run(target, small.SCRIPTS / "images.py", beside, timeout=300).splitlines()
        _, ran, _, refused, _, slowest, _ = lines[-1].split()
        assert int(ran) + int(refused) == len(files) > 3000
        assert int(ran) > 500 and int(refused) > 500 and int(slowest) < 3000


def test_a_board_gets_all_decoders():
    files = {path.stem for path in Package().files_for(["image_decoder"])}
    expected = {"_image", "_image_bmp", "_image_png", "_image_pnm", "_image_tiff", "pixels"}
    assert expected <= files


@pytest.mark.slow
@every_target
def test_damaged_models_do_no_harm(target):
    for mode, amount in (("words", "1"), ("several", "300")):
        report = small.damage(target, model().data, mode, amount, timeout=240)
        assert report.ok and report.slowest < 10_000, f"{mode}: {report}"
