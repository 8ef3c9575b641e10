"""Constants whose data do not fill them, sparse constants, and data in other files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from onnx import TensorProto, external_data_helper, helper

from .case import FLOAT, INT64, Case, Cases, changed, model, node, value

_GIGA = 1 << 30
# dtype: bytes of 4 elements
_NBYTES = {
    "FLOAT": 16,
    "UINT8": 4,
    "INT8": 4,
    "UINT16": 8,
    "INT16": 8,
    "INT32": 16,
    "INT64": 32,
    "BOOL": 4,
    "FLOAT16": 8,
    "DOUBLE": 32,
    "UINT32": 16,
    "UINT64": 32,
    "BFLOAT16": 8,
    "FLOAT8E4M3FN": 4,
    "FLOAT8E5M2": 4,
    "UINT4": 2,
    "INT4": 2,
    "FLOAT4E2M1": 2,
}


def cases() -> Cases:
    for name, nbytes in _NBYTES.items():
        dtype = TensorProto.DataType.Value(name)
        yield Case(f"raw_short_{name}", _with(dtype, [4], bytes(nbytes - 1)))
        yield Case(f"raw_long_{name}", _with(dtype, [4], bytes(nbytes + 3)))
    yield from _odd()
    yield from _sparse()
    yield from _external()


def _with(dtype, dims, raw=None, **fields):
    """Return x + the constant, cast to float."""
    t = TensorProto(name="w", data_type=dtype, dims=dims)
    if raw is not None:
        t.raw_data = raw
    for name, values in fields.items():
        getattr(t, name).extend(values)
    nodes = [node("Cast", "w", "f", to=FLOAT), node("Add", "x f")]
    return model(nodes, constants={"w": t}, opset=23)


def _odd():
    yield Case("raw_none", _with(FLOAT, [4]))
    yield Case("raw_of_strings", _with(TensorProto.STRING, [4], b"abcd"))
    yield Case("raw_and_floats", _with(FLOAT, [4], bytes(16), float_data=[1.0] * 4))
    yield Case("floats_short", _with(FLOAT, [4], float_data=[1.0]))
    yield Case("floats_long", _with(FLOAT, [4], float_data=[1.0] * 9))
    yield Case("floats_as_ints", _with(FLOAT, [4], int64_data=[1] * 4))
    yield Case("ints_in_the_wrong_list", _with(INT64, [4], int32_data=[1] * 4))
    yield Case("data_dims_minus", _with(FLOAT, [-4], bytes(16)))
    yield Case("data_dims_giga", _with(FLOAT, [_GIGA, 4], bytes(16)))
    yield Case("data_dims_wrap", _with(FLOAT, [1 << 32, 1 << 32], bytes(16)))
    yield Case("data_dims_rank_100", _with(FLOAT, [1] * 99 + [4], bytes(16)))
    for number in (0, 77, -1, 14):
        yield Case(f"data_dtype_{number}", _with(number, [4], bytes(16)))
    yield Case("data_segment", changed(_segment, _with(FLOAT, [4], bytes(16))))


def _segment(m):
    m.graph.initializer[0].segment.begin = 1 << 40


def _sparse():
    for name, indices, dims in (
        ("beyond", [9], [4]),
        ("minus", [-1], [4]),
        ("unsorted", [2, 1], [4]),
        ("twice", [1, 1], [4]),
        ("of_rank_2", [[0, 0]], [4]),
        ("dims_giga", [1], [_GIGA, _GIGA]),
        ("dims_minus", [1], [-4]),
        ("more_than_values", [0, 1, 2], [4]),
    ):
        yield Case(f"sparse_{name}", _sparse_model(indices, dims))
    sound = _sparse_model([1], [4])
    wrong = changed(lambda m: m.graph.sparse_initializer[0].values.ClearField("float_data"), sound)
    yield Case("sparse_without_values", wrong)
    data = helper.make_sparse_tensor(
        helper.make_tensor("v", FLOAT, [1], [1.0]),
        helper.make_tensor("i", INT64, [1], [3]),
        [1 << 40],
    )
    giga = model([node("Constant", "", "w", sparse_value=data), node("Add", "x w")])
    yield Case("sparse_constant_giga", giga)


def _sparse_model(indices, dims):
    count = 1 if len(indices) == 3 else len(indices)
    values = helper.make_tensor("w", FLOAT, [count], [1.0] * count)
    at = np.array(indices, np.int64)
    indices = helper.make_tensor("i", INT64, at.shape, at.reshape(-1))
    result = model(node("Add", "x w"))
    result.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, dims))
    return result


def _external():
    data = {"w.data": bytes(16)}
    for name, location in {
        "up": "../secret",
        "up_and_down": "a/../../secret",
        "absolute": "/etc/hostname",
        "process": "/proc/self/mem",
        "device": "/dev/zero",
        "missing": "none.data",
        "folder": ".",
        "empty": "",
        "nul": "w.data\0x",
        "escape": "w\x1b[31m.data",
        "url": "http://example.com/w.data",
        "long": "w" * 5000,
    }.items():
        yield Case(f"external_{name}", _beside(location), data)
    for name, entries in {
        "offset_beyond": {"offset": 999},
        "offset_minus": {"offset": -16},
        "offset_word": {"offset": "first"},
        "offset_huge": {"offset": 1 << 70},
        "length_beyond": {"length": 999},
        "length_minus": {"length": -1},
        "length_short": {"length": 8},
        "length_huge": {"length": 1 << 70},
    }.items():
        yield Case(f"external_{name}", _beside("w.data", **entries), data)
    yield Case("external_short_file", _beside("w.data"), {"w.data": bytes(7)})
    yield Case("external_no_location", changed(_no_location, _beside("w.data")), data)
    yield Case("external_strings", changed(_strings, _beside("w.data")), data)
    yield from _special_files()


def _beside(location, dims=(4,), **entries):
    """Return a model with a constant in another file."""
    t = TensorProto(name="w", data_type=FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, text in {"location": location, **entries}.items():
        t.external_data.add(key=key, value=str(text))
    result = model(node("Add", "x w"), [value("x", dims)], [value("y", dims)])
    result.graph.initializer.append(t)
    assert external_data_helper.uses_external_data(t)
    return result


def _no_location(m):
    del m.graph.initializer[0].external_data[:]


def _strings(m):
    m.graph.initializer[0].data_type = TensorProto.STRING


def _special_files():
    link = _beside("w.data")
    yield Case("external_link_out", link, {}, lambda f: (f / "w.data").symlink_to("/etc/hostname"))
    yield Case("external_link_device", link, {}, lambda f: (f / "w.data").symlink_to("/dev/zero"))
    yield Case("external_link_folder", _beside("d/hostname"), {}, _link_folder)
    yield Case("external_pipe", link, {}, lambda f: os.mkfifo(f / "w.data"))
    wide = _beside("w.data", (1 << 20, 1024), offset=0, length=1 << 32)
    yield Case("external_hole_4g", wide, {}, lambda f: _hole(f / "w.data", 1 << 32))
    many = _beside("w.data", (1 << 20,))
    for i in range(400):
        many.graph.initializer.add().CopyFrom(many.graph.initializer[0])
        many.graph.initializer[-1].name = f"w{i}"
    yield Case("external_shared_by_400", many, {"w.data": bytes(4 << 20)})


def _link_folder(folder):
    (folder / "d").symlink_to("/etc")


def _hole(path: Path, nbytes: int):
    with path.open("wb") as file:
        file.truncate(nbytes)
