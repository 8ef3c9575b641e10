"""The commands run the file that they write: docs/convert.md, "The file is run"."""

import json
import re
import shutil

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from examples.custom_op.demo import OPS
from examples.custom_op.network import ACME, network
from tests.host.device import small
from tests.host.device.test_golden_objects import classifier
from tools.converter import __main__ as command
from tools.converter.check import WrongFile, check, layers, run_file
from tools.converter.convert import Options, convert
from tools.converter.rewrites import stage as rewrites
from tools.converter.simplify import stage as simplify
from tools.format import layout, reader
from tools.micropython import unix

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT32
CHECKED = Options(vector=True)


def checked_line(capfd):
    """Return the printed line that says how far the file is from the model."""
    lines = capfd.readouterr().out.splitlines()
    [line] = [line for line in lines if re.match("(not )?checked: ", line)]
    return line


def two_layers() -> onnx.ModelProto:
    nodes = [
        ("Gemm", "x w", "h", {"name": "first"}),
        ("Sigmoid", "h", "s", {"name": "middle"}),
        ("Gemm", "s v", "y", {"name": "second"}),
    ]
    constants = {"w": small.floats(6, 5), "v": small.floats(5, 3, seed=2)}
    return small.model(nodes, [small.value("x", (2, 6))], [small.value("y", (2, 3))], **constants)


def integers() -> onnx.ModelProto:
    nodes = [("Add", "x x", "y", {})]
    return small.model(nodes, [small.value("x", (2, 5), INT)], [small.value("y", (2, 5), INT)])


def run(tmp_path, model, *options):
    """Convert a model; return (exit status, path of the file)."""
    path, output = tmp_path / "model.onnx", tmp_path / "model.bin"
    onnx.save(model, path)
    return command.main([str(path), str(output), *options]), output


def negated(model, name):
    """Return a copy of the model with a constant negated."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    for t in result.graph.initializer:
        if t.name == name:
            t.CopyFrom(numpy_helper.from_array(-numpy_helper.to_array(t), name))
    return result


@pytest.fixture
def wrong_simplify(monkeypatch):
    """Simplify wrongly: negate a weight of the second layer."""
    right = simplify.simplified
    monkeypatch.setattr(simplify, "simplified", lambda m, c: negated(right(m, c), "v"))


@pytest.fixture(params=["unix", "cpython"])
def target(request, monkeypatch, ready_target):
    if request.param == "unix":
        ready_target("unix")
    else:
        monkeypatch.setattr(unix.UnixTarget, "path", lambda self: small.ROOT / "none")
    return request.param


def test_the_last_line_reports_the_error_of_floats(tmp_path, target, capfd):
    status, output = run(tmp_path, two_layers())
    assert status == 0 and output.exists()
    last = checked_line(capfd)
    assert last.startswith("checked: ") and last.endswith((" of the largest value", "no error"))


def test_integers_are_equal(tmp_path, capfd):
    assert run(tmp_path, integers(), "--summary")[0] == 0
    assert checked_line(capfd) == "checked: all 10 values equal"


def test_the_promised_error_is_reported(tmp_path, capfd):
    digits = onnx.load(small.ROOT / "examples" / "digits" / "digits.onnx")
    assert run(tmp_path, digits, "--float", "fast16")[0] == 0
    assert "(2.0e-03 is promised)" in checked_line(capfd)


def test_json_contains_the_check(tmp_path, target, capfd):
    assert run(tmp_path, two_layers(), "--json", "--strip")[0] == 0
    result = json.loads(capfd.readouterr().out)["check"]
    assert result["checked"] and result["error"] < 1e-6 and result["target"] == target


def test_a_stripped_file_is_checked_and_has_no_vector(tmp_path, capfd):
    _, output = run(tmp_path, two_layers(), "--strip")
    assert "checked: error" in capfd.readouterr().out
    kinds = [chunk.kind for chunk in reader.read(output.read_bytes()).chunks]
    assert layout.CHUNK_GOLDEN not in kinds


def test_a_wrong_file_is_not_written(tmp_path, wrong_simplify, target, capfd):
    status, output = run(tmp_path, two_layers())
    printed = capfd.readouterr().err
    assert status == 1 and not output.exists()
    assert (
        "output y is " in printed
        and "of its largest value off, at most 0.0001 is right" in printed
    )
    assert "The first layer that deviates is Gemm second (y)" in printed
    assert "--optimize 1" in printed and "report this" in printed


def test_a_fault_in_an_early_layer_is_found_there(tmp_path, monkeypatch, capfd):
    right = simplify.simplified
    monkeypatch.setattr(simplify, "simplified", lambda m, c: negated(right(m, c), "w"))
    assert run(tmp_path, two_layers())[0] == 1
    assert "The first layer that deviates is Gemm first (h). This" in capfd.readouterr().err


def test_a_wrong_rewrite_that_its_own_check_passes_is_found(tmp_path, monkeypatch, capfd):
    right = rewrites.check.checked

    def wrong(model, rewritten):
        (result, log), without = right(model, rewritten)
        return (negated(result, "v"), log), without

    monkeypatch.setattr(rewrites.check, "checked", wrong)
    assert run(tmp_path, two_layers(), "--sbom", str(tmp_path / "sbom.json"))[0] == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.onnx"]


def test_wrong_integers_are_refused(tmp_path, monkeypatch, capfd):
    nodes = [("Add", "x k", "y", {})]
    k = np.arange(1, 6, dtype=np.int32)
    value = small.value("x", (2, 5), INT), small.value("y", (2, 5), INT)
    right = simplify.simplified
    monkeypatch.setattr(simplify, "simplified", lambda m, c: negated(right(m, c), "k"))
    assert run(tmp_path, small.model(nodes, [value[0]], [value[1]], k=k))[0] == 1
    assert "output y is 10 off, at most 0 is right" in capfd.readouterr().err


def test_no_check_writes_a_wrong_file(tmp_path, wrong_simplify, capfd):
    status, output = run(tmp_path, two_layers(), "--no-check")
    assert status == 0 and output.exists()
    assert checked_line(capfd) == "not checked: --no-check"


def test_large_models_are_not_checked_and_a_note_says_how(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(run_file, "MOST_WORK", {"unix": 10, "cpython": 10})
    assert run(tmp_path, two_layers())[0] == 0
    last = checked_line(capfd)
    assert last.startswith("not checked: 0 M MACs take long") and "--compare MODEL.onnx" in last


def test_random_numbers_are_not_checked(tmp_path, capfd):
    nodes = [("RandomNormalLike", "x", "r", {}), ("Add", "x r", "y", {})]
    model = small.model(nodes, [small.value("x", (2,))], [small.value("y", (2,))])
    assert run(tmp_path, model)[0] == 0
    printed = capfd.readouterr().out
    assert "not checked: RandomNormalLike draws random numbers" in printed


def test_a_kernel_that_the_host_cannot_run_is_not_checked(tmp_path, capfd):
    ops = tmp_path / "ops"
    shutil.copytree(OPS, ops)
    for kernel in (ops / "device").glob("*.py"):
        kernel.write_text(f"import machine_of_a_board\n{kernel.read_text()}")
    options = ("--ops", str(ops), "--allow-domain", ACME)
    assert run(tmp_path, network(), *options)[0] == 0
    last = checked_line(capfd)
    assert last.startswith("not checked: kernel fir, soft_threshold of --ops does not run on this")


def test_custom_kernels_are_run(tmp_path, capfd):
    assert run(tmp_path, network(), "--ops", str(OPS), "--allow-domain", ACME)[0] == 0
    assert checked_line(capfd).startswith("checked: error")


def test_strings_and_maps_are_compared():
    result = check(convert(classifier(), CHECKED), CHECKED)
    assert result.is_checked and result.text.endswith("all 2 other values equal")


@pytest.mark.parametrize("dtype", [TensorProto.INT64, TensorProto.UINT64, INT, FLOAT])
def test_scalars_are_compared(dtype):
    """The difference of two scalars of objects is a plain int in numpy."""
    nodes = [("Cast", "x", "c", {"to": dtype}), ("Identity", "c", "y", {})]
    model = small.model(nodes, [small.value("x", ())], [small.value("y", (), dtype)])
    assert check(convert(model, CHECKED), CHECKED).is_checked


def test_a_loop_without_rounds_collects_nothing():
    """onnxruntime gives [0] for the collected values; by ONNX they are [0, 2]."""
    scalar = [small.value("i", (), TensorProto.INT64), small.value("go", (), TensorProto.BOOL)]
    shaped = [small.value(name, (2,)) for name in ("v", "n", "s")]
    body = [("Add", "v v", "n", {}), ("Neg", "v", "s", {}), ("Identity", "go", "on", {})]
    outputs = [small.value("on", (), TensorProto.BOOL), *shaped[1:]]
    graph = small.model(body, [*scalar, shaped[0]], outputs).graph
    nodes = [("Loop", "trips go x", "y all", {"body": graph})]
    ends = [small.value("y", (2,)), small.value("all", (0, 2))]
    constants = {"trips": np.int64(0), "go": np.bool_(True)}
    model = small.model(nodes, [small.value("x", (2,))], ends, **constants)
    assert check(convert(model, CHECKED), CHECKED).is_checked


def test_the_largest_sizes_are_checked():
    nodes = [("Mul", "x x", "y", {})]
    model = small.model(nodes, [small.value("x", ("n", 3))], [small.value("y", ("n", 3))])
    options = Options(bounds={"n": 7}, vector=True)
    converted = convert(model, options)
    assert [x.shape for x in converted.vector.inputs] == [(7, 3)]
    assert check(converted, options).is_checked


def test_states_are_carried_from_run_to_run(tmp_path, monkeypatch, capfd):
    """A wrong state appears in the second run: the first one starts with zeros."""
    nodes = [("Add", "h x", "n", {}), ("Mul", "h k", "y", {}), ("Neg", "n", "m", {})]
    shapes = [small.value(name, (4,)) for name in ("x", "h", "y", "m")]
    model = small.model(nodes, shapes[:2], shapes[2:], k=np.float32(2))
    assert run(tmp_path, model, "--state", "m=h")[0] == 0
    assert "checked: " in checked_line(capfd)
    right = simplify.simplified

    def wrong(model, context):
        result = right(model, context)
        next(n for n in result.graph.node if n.op_type == "Neg").op_type = "Abs"
        return result

    monkeypatch.setattr(simplify, "simplified", wrong)
    assert run(tmp_path, model, "--state", "m=h")[0] == 1
    assert "output y is " in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["shape", "nan"])
def test_outputs_that_cannot_be_compared_are_wrong(kind, monkeypatch):
    converted = convert(two_layers(), CHECKED)
    right = run_file.run(converted, CHECKED)
    [[y]] = right.runs
    other = y.T if kind == "shape" else np.where(y == y.max(), np.nan, y)
    result = run_file.Outputs([[other]], right.target)
    monkeypatch.setattr(run_file, "run", lambda *_: result)
    with pytest.raises(WrongFile, match="its shape is" if kind == "shape" else "first nan for"):
        check(converted, CHECKED)


def test_a_fault_caused_by_merging_is_located(monkeypatch):
    """With all values as outputs everything is right: then no layers are merged."""
    converted = convert(negated(two_layers(), "w"), CHECKED)
    converted.reference = two_layers()
    result = layers.first_that_deviates(converted, CHECKED)
    assert result == "The first layer that deviates is Gemm second (y). "


def test_no_layer_of_a_correct_file_deviates():
    assert layers.first_that_deviates(convert(two_layers(), CHECKED), CHECKED) == ""
