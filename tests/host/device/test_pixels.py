"""All 256 pixels in every layout become the same numbers on every board, exactly if integers."""

from fractions import Fraction

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.file.interface import image_from
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
SIDE = 16
PIXELS = np.arange(256, dtype=np.uint8)
SPECS = ("mean=0.5,std=0.5", "scale=1", "mean=0.485/0.456/0.406,std=0.229/0.224/0.225")
FRACTIONS = ("scale=127.5,mean=1", "scale=256,mean=0.1,std=0.3", "scale=3", "std=-0.7")
GRIDS = ((0.007843138, -1), (1 / 255, -128), (0.0186584, -14), (0.5, 3), (1e-6, 0), (None, 0))
FITS = ("crop", "stretch")
LAYOUTS = [(o, way, f) for o in ("gray", "rgb", "bgr") for way in ("chw", "hwc") for f in FITS]


def picture_of(order):
    """Return (bytes of 16 x 16 pixels in gray or RGB, the channels of the tensor)."""
    if order == "gray":
        return PIXELS.tobytes(), PIXELS[None]
    colours = np.stack([PIXELS, PIXELS[::-1], np.roll(PIXELS, 85)])
    return colours.T.tobytes(), colours[:: -1 if order == "bgr" else 1]


def model_of(order, layout, dtype, grid):
    n = 1 if order == "gray" else 3
    shape = (1, n, SIDE, SIDE) if layout == "chw" else (1, SIDE, SIDE, n)
    if dtype == TensorProto.FLOAT or grid[0] is None:
        nodes, constants, of_y = [("Identity", "x", "y", {})], {}, dtype
    else:
        zero = grid[1] + 128 if dtype == TensorProto.UINT8 else grid[1]
        constants = {"s": np.float32(grid[0]), "z": np.array(zero, NUMPY[dtype])}
        nodes, of_y = [("DequantizeLinear", "x s z", "y", {})], TensorProto.FLOAT
    infos = [small.value("x", shape, dtype)], [small.value("y", shape, of_y)]
    return small.model(nodes, *infos, **constants)


NUMPY = {TensorProto.FLOAT: np.float32, TensorProto.UINT8: np.uint8, TensorProto.INT8: np.int8}


def affine(image, channel):
    """Return the float32 factor and offset of (pixel / scale - mean) / std."""
    std, mean = image.std[channel], image.mean[channel]
    return np.float32(1.0 / (image.scale * std)), np.float32(-mean / std)


def floats_of(channels, image):
    rows = []
    for i, pixels in enumerate(channels):
        factor, offset = affine(image, i)
        rows.append(pixels.astype(np.float32) * factor + offset)
    return np.stack(rows)


def integers_of(channels, image, dtype, grid):
    """Return the pixels as exact numbers, then quantized as QuantizeLinear does."""
    limits, (scale, zero) = np.iinfo(NUMPY[dtype]), grid
    step = Fraction(1 if scale is None else float(np.float32(scale)))
    zero += 128 if dtype == TensorProto.UINT8 and scale is not None else 0
    rows = []
    for i, pixels in enumerate(channels):
        factor, offset = (Fraction(float(v)) for v in affine(image, i))
        levels = [round((p * factor + offset) / step) + zero for p in pixels.tolist()]
        rows.append(np.clip(np.array(levels, object), limits.min, limits.max).astype(limits.dtype))
    return np.stack(rows)


def loaded(target, cases):
    """Yield what the input of each (order, layout, dtype, file) holds, as (channels, 256)."""
    script, files = ["import mpconnxr"], {}
    for i, (order, *_, data) in enumerate(cases):
        files[f"{i}.bin"], kind = data, "gray8" if order == "gray" else "rgb888"
        files[f"{kind}.raw"] = picture_of(order)[0]
        script += [
            f"x = mpconnxr.load('{i}.bin').inputs[0]",
            f"x.load_image(open('{kind}.raw', 'rb').read(), {SIDE}, {SIDE}, '{kind}')",
            "print(bytes(x.view('B')).hex())",
        ]
    lines = small.run(target, "\n".join(script), files).split()
    for (order, layout, dtype, _), line in zip(cases, lines, strict=True):
        values = np.frombuffer(bytes.fromhex(line), NUMPY[dtype])
        n = 1 if order == "gray" else 3
        yield values.reshape(n, -1) if layout == "chw" else values.reshape(-1, n).T


@every_target
def test_integers_are_exact(target):
    cases, expected = [], []
    for i, (order, layout, fit) in enumerate(LAYOUTS):
        for k, spec in enumerate((*SPECS, *FRACTIONS)):
            grid = GRIDS[(i + k) % len(GRIDS)]
            for dtype in (TensorProto.INT8, TensorProto.UINT8):
                image = image_from(f"{order},{layout},{fit},{spec}")
                model = model_of(order, layout, dtype, grid)
                data = convert(model, Options(images={"x": image}, strip=True)).data
                cases.append((order, layout, dtype, data))
                expected.append(integers_of(picture_of(order)[1], image, dtype, grid))
    for case, got, want in zip(cases, loaded(target, cases), expected, strict=True):
        np.testing.assert_array_equal(got, want, str(case[:3]))


@every_target
def test_floats_have_the_same_bits(target):
    cases, expected = [], []
    for order, layout, fit in LAYOUTS:
        for spec in (*SPECS, *FRACTIONS):
            image = image_from(f"{order},{layout},{fit},{spec}")
            model = model_of(order, layout, TensorProto.FLOAT, (None, 0))
            data = convert(model, Options(images={"x": image}, strip=True)).data
            cases.append((order, layout, TensorProto.FLOAT, data))
            expected.append(floats_of(picture_of(order)[1], image))
    for case, got, want in zip(cases, loaded(target, cases), expected, strict=True):
        np.testing.assert_array_equal(got.view(np.uint32), want.view(np.uint32), str(case[:3]))


@every_target
def test_values_become_the_same_integers(target):
    """Many of them are near a tie between two integers."""
    scales = [0.007843138, 1 / 3, 0.1, 2.5e-3]
    files, expected, script = {}, [], ["import mpconnxr", "from array import array"]
    for i, scale in enumerate(scales):
        s = np.float32(scale)
        x = ((np.arange(256, dtype=np.float32) - np.float32(127.5)) * s).astype(np.float32)
        model = small.model(
            [("DequantizeLinear", "x s z", "y", {})],
            [small.value("x", (256,), TensorProto.INT8)],
            [small.value("y", (256,))],
            s=s,
            z=np.int8(-1),
        )
        files |= {f"{i}.bin": convert(model, Options(strip=True)).data, f"{i}.raw": x.tobytes()}
        script += [
            f"x = mpconnxr.load('{i}.bin').inputs[0]",
            f"x.quantize(array('f', open('{i}.raw', 'rb').read()))",
            "print(list(x.data))",
        ]
        expected.append(np.clip(np.rint(x / s) - 1, -128, 127).astype(int).tolist())
    lines = small.run(target, "\n".join(script), files).splitlines()
    assert lines == [str(levels) for levels in expected]
