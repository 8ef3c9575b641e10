"""Written files load: a file that boards would refuse is refused at conversion."""

import io
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.device import small
from tools.converter import lower
from tools.converter.convert import Options, convert
from tools.converter.file import loads, on_host
from tools.converter.options import WEIGHT_BITS


def nested(depth):
    """Return If in If in If ..., each in the second branch."""

    def graph(k, is_last=False):
        out = f"o{k}{'n' * is_last}"
        if is_last or k == depth:
            nodes = [helper.make_node("Neg", ["x"], [out])]
        else:
            bodies = {"then_branch": graph(k + 1, True), "else_branch": graph(k + 1)}
            nodes = [helper.make_node("If", ["c"], [out], **bodies)]
        return helper.make_graph(nodes, f"g{k}", [], [small.value(out, (2,))])

    outer = graph(0)
    outer.input.extend([small.value("c", (), TensorProto.BOOL), small.value("x", (2,))])
    return helper.make_model(outer, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def converter(*args):
    command = [sys.executable, "-m", "tools.converter", *map(str, args)]
    return subprocess.run(command, cwd=small.ROOT, capture_output=True, text=True, check=False)


def refused_by_command(folder):
    completed = converter(folder / "m.onnx", folder / "m.bin")
    assert completed.returncode == 1 and not (folder / "m.bin").exists()
    assert completed.stderr.startswith("converter: ") and "Traceback" not in completed.stderr


@pytest.mark.parametrize("depth", [9, 15])
def test_bodies_that_boards_refuse_leave_no_file(tmp_path, depth):
    (tmp_path / "m.onnx").write_bytes(nested(depth).SerializeToString())
    refused_by_command(tmp_path)


def test_bodies_within_the_limit_of_boards_convert():
    assert convert(nested(8)).graph.steps


def resized():
    """Return a model whose Resize gives 13 elements in float32, 12 in float64 (5 * 2.6)."""
    nodes = [
        ("QuantizeLinear", "x s z", "a", {}),
        ("DequantizeLinear", "a s z", "b", {}),
        ("Resize", "b  scales", "c", {"mode": "linear"}),
        ("QuantizeLinear", "c s z", "d", {}),
        ("DequantizeLinear", "d s z", "y", {}),
    ]
    model = small.model(
        nodes,
        [small.value("x", (1, 3, 5, 7))],
        [small.value("y", (1, 3, 13, 17))],
        opset=21,
        scales=np.float32([1, 1, 2.6, 2.5]),
        s=np.float32(0.1),
        z=np.uint8(3),
    )
    model.graph.node[2].input[:] = ["b", "", "scales"]
    return model


def test_contradicting_sizes_leave_no_file(tmp_path):
    (tmp_path / "m.onnx").write_bytes(resized().SerializeToString())
    refused_by_command(tmp_path)


@pytest.fixture
def spoiled(monkeypatch):
    """Return spoil(change), which changes each lowered graph before its file is written."""

    def of(change):
        original = lower.lower

        def lowered(*args):
            graph = original(*args)
            change(graph)
            return graph

        monkeypatch.setattr(lower, "lower", lowered)

    return of


def refused(model, **options):
    with pytest.raises(loads.LoadError) as caught:
        convert(model, Options(**options))
    text = str(caught.value)
    assert "\n" not in text and "report" in text
    return text


def test_the_report_names_node_step_kernel_and_refusal(spoiled):
    spoiled(lambda graph: graph.steps[-1].params.append(7))
    text = refused(small.relu())
    assert "Relu y (step 0, kernel relu)" in text and "step 0 relu: has" in text


def test_a_wrong_step_in_a_body_is_located(spoiled):
    def change(graph):
        body = graph.steps[0].bodies[1]
        body[0].params.append(7)

    spoiled(change)
    text = refused(nested(1))
    assert "Neg o1 (step 0/1/0, kernel " in text


def test_bodies_nested_too_deep_are_refused(spoiled):
    def change(graph):
        step = graph.steps[0]
        for _ in range(8):
            step = replace(step, bodies=[step.bodies[0], [step]])
        graph.steps[0] = step

    spoiled(change)
    text = refused(nested(1))
    assert "bodies in bodies" in text and text.startswith("If o0 (step 0/1/0/1/0")


def test_steps_with_sizes_of_the_caller_are_prepared(spoiled):
    model = small.model(
        [("Softmax", "x", "y", {})], [small.value("x", ("n", 3))], [small.value("y", ("n", 3))]
    )
    assert convert(model, Options(bounds={"n": 7})).graph.steps
    spoiled(lambda graph: graph.steps[0].params.append(7))
    assert "Softmax" in refused(model, bounds={"n": 7})


def test_an_unknown_kernel_is_refused(spoiled):
    def change(graph):
        graph.steps[0].kernel = "_runs"

    spoiled(change)
    assert "no kernel _runs" in refused(small.relu())


def test_numbers_beyond_32_bits_are_refused(spoiled):
    """Parameters are int32 and sizes below 2**29, as numbers of the file and in each kernel."""
    for value, why in ((1 << 31, "more than 32 bits"), (1 << 29, "out of range")):

        def change(graph, value=value):
            next(step for step in graph.steps if step.params).params[0] = value

        spoiled(change)
        assert why in refused(small.mixed())


def test_sizes_beyond_32_bit_boards_are_noted():
    n = (1 << 22) + 4  # float32: two of them, of which the second starts beyond 16 MB
    nodes = [("Softmax", "x", "a", {}), ("Add", "a x", "y", {})]
    model = small.model(nodes, [small.value("x", (1, n))], [small.value("y", (1, n))])
    converted = convert(model, Options(strip=True, keep_inputs=True))
    assert [note for note in converted.notes if "16 MB" in note and "arena" in note]
    assert not [note for note in convert(small.mixed()).notes if "16 MB" in note]


def test_float64_is_noted():
    [note] = [n for n in convert(small.relu(dtype=TensorProto.DOUBLE)).notes if "float64" in n]
    assert note.startswith("x is float64: boards whose firmware has single floats")
    assert not [n for n in convert(small.relu()).notes if "float64" in n]


def test_streamed_weights_are_loaded_as_a_board_streams_them(monkeypatch):
    sources, original = [], on_host.load

    def load(source, *args):
        sources.append(type(source))
        return original(source, *args)

    monkeypatch.setattr(on_host, "load", load)
    converted = convert(small.mixed())
    assert any(c.place is not None for c in converted.graph.weights.chunks)
    assert sources == [bytes, io.BytesIO]


def test_too_little_memory_is_a_note(monkeypatch):
    def load(*args):
        raise on_host.TooLarge("not enough memory")

    monkeypatch.setattr(on_host, "load", load)
    assert "not enough memory" in " ".join(convert(small.relu()).notes)


@pytest.mark.parametrize("weights", [bits for bits in WEIGHT_BITS if bits != "f32"])
def test_weights_of_fewer_bits_load(weights):
    assert convert(small.mixed(), Options(weights=weights)).data


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int2", "uint2"])
def test_numpy_and_a_board_unpack_alike(dtype):
    """The plain form of the device's loop is the reference."""
    from mpconnxr.build import unpack

    number = getattr(TensorProto, dtype.upper())
    raw, bits = bytes(range(256)), 4 if dtype.endswith("4") else 2
    n = len(raw) * 8 // bits - 1
    with on_host.package(None):
        fast = unpack.unpacked(raw, 0, number, n)
    slow = np.zeros(n, np.uint8)
    for i in range(n):
        code = raw[i * bits // 8] >> i * bits % 8 & (1 << bits) - 1
        signed = code - (1 << bits) if dtype[0] == "i" and code >> bits - 1 else code
        slow[i] = signed & 255
    assert bytes(fast) == slow.tobytes()


OWN = """
from tools.converter.ops import lowers


def infer(node):
    return [(node.inputs[0].dtype, node.inputs[0].shape)]


@lowers("Twice", domain="com.acme", infer=infer)
def lower_twice(node):
    node.emit("twice", [node.inputs[0]], node.outputs, [])
"""


def with_own_kernel(tmp_path, kernel):
    (tmp_path / "device").mkdir()
    (tmp_path / "lowering.py").write_text(OWN)
    (tmp_path / "device" / "twice.py").write_text(textwrap.dedent(kernel))
    ends = [[small.value(name, (2, 3))] for name in "xy"]
    model = small.model([("Twice", "x", "y", {"domain": "com.acme"})], *ends)
    return model, {"ops": tmp_path, "allow_domains": ["com.acme"]}


def test_custom_kernels_are_prepared(tmp_path):
    model, options = with_own_kernel(
        tmp_path,
        """
        import micropython
        from micropython import const

        _N = const(6)

        @micropython.viper
        def twice(x: ptr32, y: ptr32):
            pass

        def prepare(node):
            node.expect(1, 1, 0)
            node.require(node.inputs[0].nelem == _N, "six of them")
            return 1, lambda lo, hi: None
        """,
    )
    notes = convert(model, Options(**options)).notes
    assert not [note for note in notes if "--ops" in note]
    assert "mpconnxr.ops.twice" not in sys.modules
    kernel = tmp_path / "device" / "twice.py"
    kernel.write_text(kernel.read_text().replace("== _N", "!= _N"))
    assert "six of them" in refused(model, **options)


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        ("import esp32\ndef prepare(node): pass", "No module named 'esp32'"),
        ("def prepare(node):\n    import esp32", "No module named 'esp32'"),
    ],
)
def test_custom_kernels_that_cpython_cannot_run_are_noted(tmp_path, kernel, why):
    model, options = with_own_kernel(tmp_path, kernel)
    notes = convert(model, Options(**options)).notes
    [note] = [note for note in notes if "not checked here" in note]
    assert "twice" in note and why in note
