"""Weights are read from the file while the model runs."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.device.binfile import STREAMED, File
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError
from tools.dist.build import write_whole
from tools.machine import Machine
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)


def layers(n=3, width=48):
    """Return a chain of Gemms, whose weights take most of the memory."""
    nodes, constants = [], {}
    for i in range(n):
        nodes.append(("Gemm", f"h{i} w{i} b{i}", f"h{i + 1}", {"transB": 1}))
        constants[f"w{i}"] = small.floats(width, width, seed=i) / width**0.5
        constants[f"b{i}"] = small.floats(width, seed=10 + i)
    ends = [small.value("h0", (1, width))], [small.value(f"h{n}", (1, width))]
    return small.model(nodes, *ends, **constants)


RUN = """
import io
import mpconnxr
x = open("x.bin", "rb").read()
data = open("m.bin", "rb").read()
whole = mpconnxr.load(data)
y = bytes(whole.run(x)[0].view("B"))
for source in ("m.bin", open("m.bin", "rb"), io.BytesIO(data)):
    m = mpconnxr.load(source)
    print(m.arena_nbytes > whole.arena_nbytes)
    print([bytes(m.run(x)[0].view("B")) == y for _ in range(2)])
m = mpconnxr.load("m.bin", stream=False)
print(m.arena_nbytes == whole.arena_nbytes, bytes(m.run(x)[0].view("B")) == y)
print(y.hex())
"""


@every_target
@pytest.mark.parametrize("build", [layers, small.mixed])
def test_streamed_models_give_the_same_bits(target, build):
    proto = build()
    shape = [d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim]
    x = small.floats(*shape, seed=5)
    *printed, y = small.lines(target, RUN, m=small.binary(proto), x=x.tobytes())
    assert printed == ["True", "[True, True]"] * 3 + ["True True"]
    want = small.expected(proto, x)[0].ravel()
    got = np.frombuffer(bytes.fromhex(y), np.float32)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_the_window_is_a_fraction_of_the_weights():
    report = convert(layers(6), Options(strip=True)).report()
    assert report["window_bytes"] == 48 * (48 * 4 + 5)
    assert report["held_bytes"] == 48  # exponents that two layers have in common
    assert report["weight_bytes"] == 6 * report["window_bytes"] - 48
    assert report["streamed_arena_bytes"] == report["arena_bytes"] + report["window_bytes"]


def test_a_too_small_window_is_refused():
    with pytest.raises(ConvertError, match="--window 64: .* is the least for .*Softmax|Mul"):
        proto = small.model(
            [("Mul", "x w", "y", {})],
            [small.value("x", (40,))],
            [small.value("y", (40,))],
            w=small.floats(40),
        )
        convert(proto, Options(window=64))


def shared():
    """Return two layers with one matrix, and another layer between them."""
    nodes = [
        ("MatMul", "x w", "a", {}),
        ("MatMul", "a v", "b", {}),
        ("MatMul", "b w", "y", {}),
    ]
    ends = [small.value("x", (1, 16))], [small.value("y", (1, 16))]
    return small.model(nodes, *ends, w=small.floats(16, 16), v=small.floats(16, 16, seed=2))


def test_weights_used_twice_are_read_once_if_they_fit():
    def reads(**options):
        graph = convert(shared(), Options(strip=True, **options)).graph
        return sum(map(len, graph.reads.values()))

    one = 16 * (16 * 4 + 12)
    assert reads(window=one) == 3 and reads(window=2 * one) < 3


@every_target
def test_a_matrix_may_be_read_twice(target):
    x = small.floats(1, 16, seed=5)
    data = small.binary(shared(), window=16 * (16 * 4 + 12))
    *printed, y = small.lines(target, RUN, m=data, x=x.tobytes())
    assert printed == ["True", "[True, True]"] * 3 + ["True True"]
    got = np.frombuffer(bytes.fromhex(y), np.float32)
    np.testing.assert_allclose(got, small.expected(shared(), x)[0].ravel(), rtol=1e-4, atol=1e-4)


def looping():
    """Return a Loop that multiplies by a matrix: its weights are read in every round."""
    body = small.onnx.helper.make_graph(
        [
            small.onnx.helper.make_node("MatMul", ["h", "w"], ["hw"]),
            small.onnx.helper.make_node("Add", ["hw", "h"], ["hn"]),
            small.onnx.helper.make_node("Identity", ["go"], ["on"]),
        ],
        "body",
        [small.value("i", (), 7), small.value("go", (), 9), small.value("h", (1, 16))],
        [small.value("on", (), 9), small.value("hn", (1, 16))],
    )
    nodes = [("Loop", "n go x", "y", {"body": body}), ("MatMul", "y v", "z", {})]
    return small.model(
        nodes,
        [small.value("x", (1, 16))],
        [small.value("z", (1, 16))],
        n=np.array(3),
        go=np.array(True),
        w=small.floats(16, 16) / 4,
        v=small.floats(16, 16, seed=2),
    )


@every_target
def test_weights_in_bodies_are_streamed(target):
    x = small.floats(1, 16, seed=5)
    *printed, y = small.lines(target, RUN, m=small.binary(looping()), x=x.tobytes())
    assert printed == ["True", "[True, True]"] * 3 + ["True True"]
    got = np.frombuffer(bytes.fromhex(y), np.float32)
    np.testing.assert_allclose(got, small.expected(looping(), x)[0].ravel(), rtol=1e-4, atol=1e-4)


@every_target
def test_damaged_weights_are_found_in_the_first_run(target):
    data = bytearray(small.binary(layers()))
    data[-1] ^= 1
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
for _ in range(2):
    try:
        m.run([0.0] * 48)
    except mpconnxr.ModelError as e:
        print(e)
print(mpconnxr.load("m.bin", verify=False).run([0.0] * 48)[0].nelem)
m.close()
try:
    m.run()
except mpconnxr.MpconnxrError:
    print("closed")
"""
    damaged = "not a valid model file: damaged (digest of the data)"
    printed = small.lines(target, script, m=bytes(data))
    assert printed == [damaged, damaged, "48", "closed"]


@every_target
def test_streaming_allocates_nothing(target):
    script = """
from micropython import heap_lock, heap_unlock
import mpconnxr
m = mpconnxr.load("m.bin")
m.run([0.0] * 48)
n = 0
heap_lock()
while n < len(m._steps):
    if m._steps[n][0] == 1 and n % 2 == 0:
        m._steps[n][1](0, 1)
    n += 1
heap_unlock()
print(n)
"""
    assert small.lines(target, script, m=small.binary(layers())) == ["6"]


@pytest.mark.slow
@every_target
@pytest.mark.parametrize(
    ("mode", "amount"),
    [("digests", "97"), ("truncated", "97"), ("bits", "5"), ("words", "1"), ("several", "500")],
)
def test_damage_does_no_harm(target, mode, amount):
    data = small.binary(small.mixed())
    assert any(chunk[0] == STREAMED for chunk in File(data).chunks)
    report = small.damage(target, data, mode, amount, source="file")
    assert report.ok and report.refused > 50, report
    assert report.ran > 20 or mode in ("digests", "truncated"), report


def test_invalid_streamed_chunks_are_refused(target):
    """docs/format.md lists the rules."""
    file = File(small.binary(layers(1)))
    place = next(i for i, c in enumerate(file.chunks) if c[0] == STREAMED)
    place = 2 + 2 * place + 2
    [(_, _, _, _, _, reads)] = file.steps()
    node = file.graph_at
    script = """
import mpconnxr
for i in range(5):
    try:
        mpconnxr.load(str(i) + ".bin")
        print("loaded")
    except mpconnxr.ModelError as e:
        print(e)
"""
    broken = [
        file.changed((place, file.streamed)),
        file.changed((place, 4)),
        file.changed((file.graph_at + file.n_graph - 1, 1)),
        file.changed((file.inputs_at + 2, 2)),
        file.changed((node + 7, 2), (node + 8, 0)),
    ]
    files = {str(i): data for i, data in enumerate(broken)}
    assert reads == [0]
    assert small.lines(target, script, **files) == [
        "not a valid model file: a streamed chunk lies outside the arena",
        "not a valid model file: a streamed chunk lies outside the arena",
        "not a valid model file: chunk 1 is not one to stream",
        "an output is a constant that is streamed",
        "step 0 block_gemm: streamed weights",
    ]


def large():
    """Return Conv and Gemm with 4 MB of weights."""
    nodes = [
        ("Conv", "x c d", "h", {"strides": [2, 2]}),
        ("Relu", "h", "r", {}),
        ("Flatten", "r", "f", {}),
        ("Gemm", "f w b", "y", {"transB": 1}),
    ]
    return small.model(
        nodes,
        [small.value("x", (1, 16, 9, 9))],
        [small.value("y", (1, 480))],
        c=small.floats(128, 16, 3, 3) / 12,
        d=small.floats(128),
        w=small.floats(480, 2048, seed=2) / 45,
        b=small.floats(480, seed=3),
    )


@pytest.mark.slow
def test_four_megabytes_of_weights_run_in_288_kilobytes_of_heap(ready_target, tmp_path):
    """Compiled modules are used, as on a board."""
    write_whole(tmp_path, Machine("x86"))
    [package] = tmp_path.glob("dist/*/mpconnxr")
    proto, x = large(), small.floats(1, 16, 9, 9, seed=5)
    converted = convert(proto, Options(strip=True, window=65536, keep_inputs=True))
    assert converted.report()["weight_bytes"] >= 4_000_000
    script = """
import gc
import mpconnxr
m = mpconnxr.load("m.bin")
open("x.bin", "rb").readinto(m.inputs[0].view("B"))
m.run()
gc.collect()
before = gc.mem_alloc()
m.run()
gc.collect()
print(gc.mem_alloc() - before, gc.mem_alloc() + gc.mem_free() <= 288 * 1024)
for value in m.outputs[0].view("i"):
    print(value)
"""
    files = {"mpconnxr": package, "m.bin": converted.data, "x.bin": x.tobytes()}
    kept, *y = small.run(ready_target("unix32"), script, files, heap=288 * 1024).splitlines()
    assert kept == "0 True"
    got = np.array(list(map(int, y)), np.int32).view(np.float32)
    np.testing.assert_allclose(got, small.expected(proto, x)[0].ravel(), rtol=1e-4, atol=1e-5)
