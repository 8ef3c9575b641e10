"""Scales of integer inputs and outputs, and images, on the device: docs/api.md."""

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.errors import UsageError
from tools.converter.file.interface import Image, image_from
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
SCALE, ZERO = np.float32(0.25), np.int8(-3)


def _requantized():
    """Return an int8 model: DequantizeLinear, Relu, a Reshape on the way, QuantizeLinear."""
    nodes = [
        ("Reshape", "x n", "r", {}),
        ("DequantizeLinear", "r s z", "f", {}),
        ("Relu", "f", "g", {}),
        ("QuantizeLinear", "g t u", "y", {}),
    ]
    infos = (
        [small.value("x", (2, 4), TensorProto.INT8)],
        [small.value("y", (8,), TensorProto.UINT8)],
    )
    constants = {"n": np.array([8]), "s": SCALE, "z": ZERO, "t": np.float32(0.5), "u": np.uint8(7)}
    return small.model(nodes, *infos, **constants)


@every_target
def test_values_are_quantized_and_back(target):
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
x, y = m.inputs[0], m.outputs[0]
print(x.scale, x.zero_point, y.scale, y.zero_point)
x.quantize([[0.0, 0.125, 0.375, -0.125], [-0.375, 1000.0, -1000.0, 2.6]])
print(list(x.data))
print(x.dequantize())
m.run()
print(y.dequantize())
for bad in ([1.0], [float("nan")] * 8, ["x"] * 8):
    try:
        x.quantize(bad)
    except mpconnxr.InputError as e:
        print(e)
"""
    printed = small.lines(target, script, m=convert(_requantized(), Options(strip=True)).data)
    assert printed[0] == "0.25 -3 0.5 7"
    x = np.array([0.0, 0.125, 0.375, -0.125, -0.375, 1000.0, -1000.0, 2.6])
    q = np.clip(np.round(x / SCALE) + ZERO, -128, 127)
    assert printed[1] == str(q.astype(int).tolist())
    assert printed[2] == str(((q - ZERO) * SCALE).tolist())
    assert len(printed[3].split(",")) == 8
    assert "1 values where int8" in printed[4]
    assert "is not a number" in printed[5] and "is not a number" in printed[6]


@every_target
def test_a_float_input_has_no_scale(target):
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
print(m.inputs[0].scale)
for call in (lambda t: t.quantize([0.0] * 6), lambda t: t.load_image(b"", 1, 1, "gray8")):
    try:
        call(m.inputs[0])
    except mpconnxr.InputError as e:
        print(e)
"""
    printed = small.lines(target, script, m=small.binary(small.relu()))
    assert printed[0] == "None"
    assert "no scale is known" in printed[1] and "does not say that it is an image" in printed[2]


def _rgb_of(kind, picture):
    """Return the picture's bytes in a format, and the colours that the format keeps."""
    if kind == "rgb888":
        return picture.tobytes(), picture
    if kind == "gray8":
        return picture[..., 0].tobytes(), np.repeat(picture[..., :1], 3, axis=-1)
    red, green, blue = (picture[..., i].astype(int) >> (3, 2, 3)[i] for i in range(3))
    words = (red << 11 | green << 5 | blue).astype(">u2" if kind == "rgb565be" else "<u2")
    kept = [red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2]
    return words.tobytes(), np.stack(kept, axis=-1)


def _fitted(picture, image, width, height):
    """Return the nearest pixels of the part of the picture that the image shows."""
    rows, columns = picture.shape[:2]
    across, down = columns, rows
    if image.fit == "crop":
        across = min(columns, rows * width // height)
        down = min(rows, columns * height // width)
    x = (columns - across) // 2 + np.floor((np.arange(width) + 0.5) * across / width).astype(int)
    y = (rows - down) // 2 + np.floor((np.arange(height) + 0.5) * down / height).astype(int)
    return picture[np.ix_(y, x)]


@every_target
@pytest.mark.parametrize(
    ("spec", "shape", "dtype"),
    [
        ("rgb,chw,scale=255,mean=0.4/0.5/0.6,std=0.2/0.25/0.3", (1, 3, 6, 8), TensorProto.FLOAT),
        ("bgr,hwc,stretch", (1, 6, 8, 3), TensorProto.FLOAT),
        ("gray,scale=1", (1, 6, 8), TensorProto.UINT8),
        ("rgb,hwc,crop,scale=1,mean=128", (6, 8, 3), TensorProto.INT8),
    ],
)
def test_images_become_the_right_tensors(target, spec, shape, dtype):
    image = image_from(spec)
    model = small.model(
        [("Identity", "x", "y", {})],
        [small.value("x", shape, dtype)],
        [small.value("y", shape, dtype)],
    )
    data = convert(model, Options(images={"x": image}, strip=True)).data
    picture = np.random.default_rng(5).integers(0, 256, (17, 32, 3), np.uint8)
    kinds = ("gray8", "rgb565", "rgb565be", "rgb888")
    files = {f"{kind}.raw": _rgb_of(kind, picture)[0] for kind in kinds}
    script = f"""
import mpconnxr
m = mpconnxr.load("m.bin")
for kind in {kinds}:
    m.inputs[0].load_image(open(kind + ".raw", "rb").read(), 32, 17, kind)
    print(bytes(m.inputs[0].view("B")).hex())
"""
    printed = small.run(target, script, {"m.bin": data, **files}).split()
    for kind, line in zip(kinds, printed, strict=True):
        expected = _expected(_rgb_of(kind, picture)[1], image, shape)
        np_dtype = {TensorProto.FLOAT: "<f4", TensorProto.UINT8: "u1", TensorProto.INT8: "i1"}
        seen = np.frombuffer(bytes.fromhex(line), np_dtype[dtype]).reshape(shape)
        np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-5)


def _expected(picture, image, shape):
    height, width = shape[-3:-1] if image.layout == "hwc" else shape[-2:]
    if image.order == "gray":
        height, width = shape[-2:] if image.layout == "chw" else shape[-3:-1]
    x = _fitted(picture, image, width, height).astype(int)
    if image.order == "gray":
        x = (x @ [77, 150, 29] >> 8)[..., None]
    elif image.order == "bgr":
        x = x[..., ::-1]
    n = x.shape[-1]
    x = (x / image.scale - np.array(image.mean)[:n]) / np.array(image.std)[:n]
    return (x if image.layout == "hwc" else x.transpose(2, 0, 1)).reshape(shape)


@every_target
def test_an_image_that_does_not_fit_is_refused(target):
    shape = (1, 3, 6, 8)
    data = convert(small.relu(shape), Options(images={"x": Image()}, strip=True)).data
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
for args in ((b"123", 1, 2, "rgb888"), (b"123", 1, 1, "yuv"), (b"", 0, 1, "gray8")):
    try:
        m.inputs[0].load_image(*args)
    except mpconnxr.InputError as e:
        print(e)
"""
    printed = small.lines(target, script, m=data)
    assert printed[0] == "buf: 3 bytes given; 1 x 2 pixels of rgb888 are 6 bytes"
    assert printed[1].startswith("format: there are gray8, rgb565, rgb565be, rgb888")
    assert printed[2] == "width: an integer from 1 to 8192 is needed"


def test_an_image_leaves_nothing_on_the_heap(ready_target):
    data = convert(small.relu((1, 3, 6, 8)), Options(images={"x": Image()}, strip=True)).data
    script = """
import gc, micropython, mpconnxr
m = mpconnxr.load("m.bin")
picture = bytes(range(256)) * 3
m.inputs[0].load_image(picture, 16, 16, "rgb888")
before = _ = 0
gc.collect()
before = gc.mem_alloc()
for _ in range(100):
    m.inputs[0].load_image(picture, 16, 16, "rgb888")
gc.collect()
print(gc.mem_alloc() - before)
"""
    assert small.lines(ready_target("unix"), script, m=data) == ["0"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rgb,cwh", "cwh is none of gray, rgb"),
        ("mean=1/2", "one for each channel"),
        ("std=0", "not be 0"),
        ("scale=1/2/3", "one number"),
    ],
)
def test_a_wrong_specification_is_refused(text, message):
    with pytest.raises(UsageError, match=message):
        image_from(text)


def test_an_input_of_another_shape_is_refused():
    with pytest.raises(UsageError, match="is no gray image in chw"):
        convert(small.relu((1, 3, 6, 8)), Options(images={"x": Image("gray")}))
    with pytest.raises(UsageError, match="no input image"):
        convert(small.relu((1, 3, 6, 8)), Options(images={"image": Image()}))


def _damaged(data, kind):
    """Yield the file with each byte of a chunk replaced, one at a time."""
    from tools.format import reader

    [chunk] = [c for c in reader.read(data).chunks if c.kind == kind]
    for at in range(chunk.offset, chunk.offset + len(chunk.data)):
        for value in (0, 1, 127, 255):
            yield data[:at] + bytes([value]) + data[at + 1 :]


@pytest.mark.slow
@every_target
@pytest.mark.parametrize("kind", [5, 6])
def test_damaged_records_never_crash(target, kind):
    shape = (1, 3, 6, 8)
    model = small.model(
        [("Identity", "x", "q", {}), ("DequantizeLinear", "q s z", "y", {})],
        [small.value("x", shape, TensorProto.INT8)],
        [small.value("y", shape)],
        s=SCALE,
        z=ZERO,
    )
    data = convert(model, Options(images={"x": Image()}, strip=True)).data
    files = {f"{i}.bin": one for i, one in enumerate(_damaged(data, kind))}
    script = f"""
import mpconnxr
for i in range({len(files)}):
    try:
        m = mpconnxr.load("%d.bin" % i, verify=False)
        m.inputs[0].load_image(bytes(300), 10, 10, "rgb888")
        if m.inputs[0].scale is not None:
            m.inputs[0].quantize([0.5] * 144)
    except mpconnxr.MpconnxrError:
        pass
print("done")
"""
    assert small.run(target, script, files) == "done\n"
