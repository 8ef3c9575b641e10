"""Weights of 16, 8 and 4 bits give the same bits as in 24, in a part of the bytes."""

import hashlib
import json

import numpy as np
import pytest
from onnx import TensorProto

from tests.host import zoo
from tests.host.device import small
from tools.converter.__main__ import main
from tools.converter.convert import Options, convert
from tools.converter.errors import UsageError
from tools.converter.numbers import narrow
from tools.converter.options import WEIGHT_BITS
from tools.converter.reference import golden
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
MODES = ("int16", "int8", "int4")


def net(k=7):
    """Return convolutions (one grouped, one transposed) and products; some rows are odd."""
    nodes = [
        ("Conv", "x c d", "h", {"pads": [1, 1, 1, 1]}),
        ("Conv", "h g", "i", {"group": 3}),
        ("ConvTranspose", "i t", "j", {"strides": [2, 2], "group": 2}),
        ("Flatten", "j", "f", {}),
        ("Gemm", "f w b", "y", {"transB": 1}),
        ("MatMul", "y v", "z", {}),
    ]
    return small.model(
        nodes,
        [small.value("x", (1, 3, 6, 5))],
        [small.value("z", (1, 6))],
        c=small.floats(6, 3, 3, 3),
        d=small.floats(6),
        g=small.floats(6, 2, 3, 2, seed=2),
        t=small.floats(6, 2, 2, 1, seed=3),
        w=small.floats(k, 224, seed=4),
        b=small.floats(k),
        v=small.floats(k, 6, seed=5),
    )


RUN = """
import mpconnxr
x = open("x.bin", "rb").read()
for name in ("narrow.bin", "wide.bin"):
    m = mpconnxr.load(name)
    print(m.run(x)[0].view("i")[0], bytes(m.outputs[0].view("B")).hex())
"""


@every_target
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("special", [False, True])
def test_narrow_weights_give_the_bits_of_wide_ones(target, mode, special):
    proto = net()
    x = small.floats(1, 3, 6, 5, seed=9)
    if special:
        x[0, 1, 2, 3] = np.inf
    converted = convert(proto, Options(strip=True, weights=mode))
    files = {"narrow": converted.data, "wide": small.binary(converted.model), "x": x.tobytes()}
    narrowed, reference = small.lines(target, RUN, **files)
    assert narrowed == reference
    got = np.frombuffer(bytes.fromhex(narrowed.split()[1]), np.float32)
    if not special:
        want = small.expected(converted.model, x)[0].ravel()
        assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()


@pytest.mark.parametrize("mode", MODES)
def test_the_file_has_the_chosen_number_of_bits(mode):
    dtypes = {"int16": np.uint16, "int8": np.uint8, "int4": np.int8}
    steps = convert(net(), Options(strip=True, weights=mode)).graph.steps
    products = [step for step in steps if step.kernel.startswith("block_")]
    assert len(products) >= 5
    assert {step.inputs[1].data.dtype for step in products} == {np.dtype(dtypes[mode])}


@pytest.mark.parametrize("bits", [4, 8, 16])
def test_each_channel_is_rounded_by_itself(bits):
    rng = np.random.default_rng(3)
    w = rng.standard_normal((40, 30)) * 10.0 ** rng.integers(-20, 20, (40, 1))
    got = narrow.rounded_to(w, 1, bits)
    unit = 2.0 ** np.ceil(np.log2(np.abs(w).max(1, keepdims=True))) / 2 ** (bits - 1)
    most = 2 ** (bits - 1) - 1
    nearest = np.clip(np.rint(w / unit), -most, most) * unit
    error, original = (np.square(x - w).sum(1) for x in (got, nearest))
    assert (error <= original * 1.000001).all()
    units = got / (unit / 2)
    assert (units == np.rint(units)).all() and (np.abs(units) <= 2 * most).all()


def test_rounding_is_reported(tmp_path, capsys):
    path = tmp_path / "net.onnx"
    path.write_bytes(net().SerializeToString())
    command = [str(path), str(tmp_path / "net.bin"), "--json", "--strip"]
    result = {}
    for mode in MODES:
        assert main([*command, "--weights", mode]) == 0
        result[mode] = json.loads(capsys.readouterr().out)["layers"]
    assert main(command) == 0 and json.loads(capsys.readouterr().out)["layers"] == []
    for rows in result.values():
        assert sorted(r["operator"] for r in rows).count("Conv") == 2 and len(rows) == 5
    quality = [np.mean([row["output"] for row in result[mode]]) for mode in MODES]
    assert quality[0] > 60 > quality[1] > 25 > quality[2]


def test_weights_with_other_readers_stay():
    nodes = [("MatMul", "x w", "y", {}), ("Relu", "w", "z", {})]
    ends = [small.value("x", (1, 4))], [small.value("y", (1, 4)), small.value("z", (4, 4))]
    proto = small.model(nodes, *ends, w=small.floats(4, 4))
    model, rows = narrow.narrow(proto, 8, {"x": small.floats(1, 4)})
    assert rows == [] and model.graph.initializer[0] == proto.graph.initializer[0]


def test_a_model_without_float_weights_gets_a_note():
    assert convert(small.relu(), Options(weights="int8")).notes == [
        "--weights int8: no product has float weights to round"
    ]


def test_plain_floats_have_no_narrow_weights():
    with pytest.raises(UsageError, match="--float exact"):
        convert(net(), Options(weights="int8", float="python"))


@pytest.mark.slow
@every_target
@pytest.mark.parametrize(("mode", "amount"), [("words", "5"), ("several", "100")])
def test_damage_does_no_harm(target, mode, amount):
    data = small.binary(net(), weights="int4")
    report = small.damage(target, data, mode, amount)
    assert report.ok and report.refused > 50 and report.ran > 10, report


@zoo.needs_zoo
@pytest.mark.parametrize("target", ["unix"], indirect=True)
def test_a_real_model_works_in_8_bits(target):
    """The digits of the samples are the float model's, from a file of a third of its size."""
    path = zoo.model_path("digits_cnn_f32")
    converted = convert(path, Options(strip=True, weights="int8"))
    assert len(converted.data) < path.stat().st_size / 3
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
for k in range(4):
    y = m.run(open(str(k) + ".bin", "rb").read())[0].data
    print(max(range(len(y)), key=lambda i: y[i]))
"""
    samples = {str(k): zoo.sample("digits_cnn_f32", k, "input")[0].tobytes() for k in range(4)}
    outputs = [zoo.sample("digits_cnn_f32", k, "output")[0] for k in range(4)]
    printed = small.lines(target, script, m=converted.data, **samples)
    assert printed == [str(y.argmax()) for y in outputs]


def recurrent(op):
    """Return a bidirectional layer."""
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    return small.model(
        [(op, "x w r b", "y", {"hidden_size": 12, "direction": "bidirectional"})],
        [small.value("x", (4, 1, 9))],
        [small.value("y", (4, 2, 1, 12))],
        w=small.floats(2, gates * 12, 9),
        r=small.floats(2, gates * 12, 12, seed=2),
        b=small.floats(2, gates * 24, seed=3),
    )


EVERYWHERE = """
import mpconnxr
x = open("x.bin", "rb").read()
data = open("m.bin", "rb").read()
found = [mpconnxr.load(s, stream=t) for s, t in (("m.bin", True), ("m.bin", False), (data, True))]
for m in found:
    m.run(x)
    print(bytes(m.run(x)[0].view("B")).hex())
print(found[0].arena_nbytes > found[1].arena_nbytes == found[2].arena_nbytes)
"""


@every_target
@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
def test_recurrent_weights_may_be_float16(target, op):
    proto, x = recurrent(op), small.floats(4, 1, 9, seed=9)
    converted = convert(proto, Options(strip=True, weights="f16"))
    assert 30 < converted.narrowed[0].weights < 90
    wide = small.binary(converted.model, float="python")
    # W and R, with their biases, are all that is large
    assert len(wide) - len(converted.data) >= 0.9 * converted.report()["weight_bytes"] / 2
    *printed, more = small.lines(target, EVERYWHERE, m=converted.data, x=x.tobytes())
    assert more == "True" and len(set(printed)) == 1
    assert small.lines(target, EVERYWHERE, m=wide, x=x.tobytes())[0] == printed[0]
    got = np.frombuffer(bytes.fromhex(printed[0]), np.float32)
    want = small.expected(converted.model, x)[0].ravel()
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@every_target
def test_every_float16_becomes_its_float32(target):
    script = """
import hashlib
from array import array
from binascii import hexlify
from mpconnxr import forms
from mpconnxr.tensor import view
x = array("H", range(1 << 16))
for form in forms.available("loading"):
    both = bytearray(1 << 18)
    both[1 << 17 :] = bytes(x)
    out = array("H", [0] * (1 << 17))
    loop = forms.get("loading", form).widen
    loop(x, x, out, array("i", [1 << 16]))
    print(form)
    loop(view(both, 1 << 17, "H", 1 << 16), x, view(both, 0, "H", 1 << 17), array("i", [1 << 16]))
    print(bytes(both) == bytes(out))
    print(hexlify(hashlib.sha256(out).digest()).decode())
"""
    halves = np.arange(1 << 16).astype(np.uint16).view(np.float16)
    bits = halves.astype(np.float32).view(np.uint32)
    nan = np.isnan(halves)  # their bits go along as they are
    sign, payload = (np.arange(1 << 16) & 0x8000) << 16, (np.arange(1 << 16) & 0x3FF) << 13
    bits = np.where(nan, sign | 0x7F800000 | payload, bits).astype("<u4")
    printed = small.lines(target, script)
    digest = hashlib.sha256(bits.tobytes()).hexdigest()
    assert printed[1::3] == ["True"] * (len(printed) // 3)
    assert printed[2::3] == [digest] * (len(printed) // 3)


@every_target
@pytest.mark.parametrize("source", ["file", "memory"])
@pytest.mark.parametrize(("mode", "amount"), [("words", "2"), ("several", "100")])
def test_damaged_float16_does_no_harm(target, source, mode, amount):
    data = small.binary(recurrent("GRU"), weights="f16")
    report = small.damage(target, data, mode, amount, source=source)
    assert report.ok and report.refused > 50 and report.ran > 5, report


@every_target
@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
def test_recurrent_weights_may_have_8_bits(target, op):
    proto, x = recurrent(op), small.floats(4, 1, 9, seed=9)
    converted = convert(proto, Options(strip=True, weights="int8"))
    [step, *_] = converted.graph.steps
    assert [t.data.dtype for t in step.inputs[1:3]] == [np.uint8] * 2
    assert [row.operator for row in converted.narrowed] == [op] and converted.report()[
        "held_bytes"
    ] < 400
    *printed, more = small.lines(target, EVERYWHERE, m=converted.data, x=x.tobytes())
    assert more == "True" and len(set(printed)) == 1
    # not the bits of wide weights, which are for another kernel
    [expected, *_] = golden.reference(converted.model, [x])
    got = np.frombuffer(bytes.fromhex(printed[0]), np.float32)
    np.testing.assert_allclose(got, expected.ravel(), rtol=0, atol=1e-5)  # as in test_recurrent


@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
def test_the_error_of_narrow_weights_is_measured_at_the_longest_sequence(op):
    proto = recurrent(op)
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "T"
    for output in proto.graph.output:
        output.type.tensor_type.shape.dim[0].dim_param = "T"
    converted = convert(proto, Options(strip=True, weights="int8", bounds={"T": 24}))
    assert [row.output > 5 for row in converted.narrowed] == [True]


@pytest.mark.parametrize("mode", ["f16", *MODES])
def test_weights_of_float16_models_are_rounded_too(mode):
    """Without --weights a board holds them in 24 bits."""
    ends = [[small.value(name, (1, n), TensorProto.FLOAT16)] for name, n in [("x", 64), ("y", 32)]]
    proto = small.model([("MatMul", "x w", "y", {})], *ends, w=small.floats(64, 32).astype("f2"))
    whole, less = (convert(proto, Options(strip=True, weights=w)) for w in ("f32", mode))
    [before], [after] = (
        [step.inputs[1].nbytes for step in converted.graph.steps if step.kernel == "block_gemm"]
        for converted in (whole, less)
    )
    assert after == before * WEIGHT_BITS[mode] // 32
    x = small.floats(1, 64, seed=3).astype("f2")
    a, b = (small.expected(m, x)[0].astype(float) for m in (proto, less.model))
    error = np.abs(a - b).max() / np.abs(a).max()
    assert error < {16: 1e-3, 8: 0.02, 4: 0.4}[WEIGHT_BITS[mode]]
