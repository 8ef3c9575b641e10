"""tools.advise agrees with what the converter and flash.py say about its commands."""

import json
import os
import shlex
import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host import zoo
from tests.host.zoo import ROOT
from tools.advise import search, trial
from tools.advise.__main__ import main
from tools.advise.accuracy import Accuracy
from tools.advise.placement import Placement
from tools.advise.show import to_dict
from tools.converter import __main__ as converter
from tools.converter.report.costs import Range
from tools.deploy import boards
from tools.deploy.fit import Needs, needs_of
from tools.deploy.model_file import read_model
from tools.deploy.modules import Package
from tools.micropython import get_target
from tools.program.build import plan_deployment
from tools.run import __main__ as run

KEYWORDS = ROOT / "examples" / "keywords" / "keywords.onnx"
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
FOREST = ROOT / "examples" / "forest" / "forest.onnx"
PICO = boards.named("pico")


def advice(capsys, *arguments):
    """Return the exit status and the object that --json prints."""
    capsys.readouterr()
    status = main(["--json", "--seconds", "500", *map(str, arguments)])
    return status, json.loads(capsys.readouterr().out)


def save(path, nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
    )
    model.ir_version = 8
    onnx.save(model, path)
    return path


def floats(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


@pytest.fixture
def samples(tmp_path):
    """Return a file with inputs of the keyword spotter."""
    path = tmp_path / "words.npz"
    x = np.random.default_rng(1).standard_normal((4, 1, 1, 49, 20)).astype(np.float32)
    np.savez(path, log_mel=x)
    return path


def heap_by_flash(command, flash_options, board, folder):
    """Run a printed command line; return the heap that flash.py estimates for its file."""
    model = folder / "made.bin"
    words = shlex.split(command)
    assert words[:2] == ["mpconnxr", "convert"]
    assert converter.main([words[2], str(model), *words[4:]]) == 0
    file = read_model(model)
    romfs = "--romfs" in flash_options
    in_place = romfs or "--reserve" in flash_options
    why = "--interpret" if "--interpret" in flash_options else ""
    deployment = plan_deployment(file, Package(), board.machine, in_place, why)
    return needs_of(
        file, deployment.files, in_place, romfs, program_for=deployment.program_for
    ).total


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pico", "pyboard-d-sf2"])
def test_each_printed_command_gives_the_printed_heap(name, samples, tmp_path, capsys):
    board = boards.named(name)
    status, result = advice(capsys, KEYWORDS, "--board", name, "--samples", samples)
    assert status == 0 and result["fits"] and not result["no_time_for"]
    options = {row["options"][0] for row in result["rows"] if row["options"]}
    assert {"--float", "--weights", "--quantize"} <= options
    for row in result["rows"]:
        command = row["commands"][0]
        heap = heap_by_flash(command, row["flash_options"], board, tmp_path)
        assert row["heap_bytes"] == heap == sum(row["heap"].values()), command


@pytest.mark.slow
def test_limits_are_found_if_they_help(capsys):
    status, result = advice(capsys, KEYWORDS, "--board", "esp8266")
    assert status == 1 and not result["fits"] and result["fits_with_options"]
    best = result["rows"][0]
    limits = {"--arena", "--window"}
    assert limits & set(best["options"])
    assert best["heap_bytes"] <= result["free_heap_bytes"]
    without = [r for r in result["rows"] if not limits & set(r["options"])]
    assert all(r["heap_bytes"] > result["free_heap_bytes"] for r in without)
    plain = next(r for r in result["rows"] if not r["options"] and not r["flash_options"])
    assert f"{plain['heap_bytes']:,} bytes of heap needed, 35,000 free" in result["verdict"]


@pytest.mark.slow
def test_the_error_is_the_one_that_tools_run_measures(samples, tmp_path, capsys):
    _, result = advice(capsys, KEYWORDS, "--board", "pico", "--samples", samples)
    rows = {r["options"][0] if r["options"] else "": r for r in result["rows"]}
    assert rows[""]["error"] < 1e-5 and rows[""]["same_class"] == 1 and rows[""]["samples"] == 4
    assert 1e-3 < rows["--quantize"]["error"] < 0.2
    row, model, folder = rows["--quantize"], tmp_path / "made.bin", tmp_path / "inputs"
    words = shlex.split(row["commands"][0])
    assert str(samples) in words
    assert converter.main([words[2], str(model), *words[4:]]) == 0
    folder.mkdir()
    for k, x in enumerate(np.load(samples)["log_mel"]):
        np.save(folder / f"input_{k}.npy", x)
    capsys.readouterr()
    target = "unix" if get_target("unix").path().is_file() else "cpython"
    compared = ["--samples", folder, "--compare", KEYWORDS, "--target", target, "--json"]
    assert run.main([str(model), *map(str, compared)]) == 0
    [errors] = json.loads(capsys.readouterr().out)["errors"]
    assert (row["error"], row["same_class"]) == (errors["max_rel"], errors["argmax"])


def test_options_that_need_a_float_model_are_not_tried(capsys):
    status, result = advice(capsys, FOREST, "--board", "pico")
    assert status == 0
    assert all(not row["options"] for row in result["rows"])
    assert not result["refused"]


def test_the_text_begins_with_the_verdict(capsys):
    assert main([str(FOREST), "--board", "pico-w"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "pico-w: Raspberry Pi Pico W, about 180,000 bytes of heap free"
    assert lines[1].startswith("fits: ") and lines[1].endswith(", about 180,000 free")
    assert lines[-2].startswith(f"  mpconnxr convert {FOREST} forest.bin")


@pytest.mark.slow
@zoo.needs_zoo
def test_missing_flash_is_reported(capsys):
    model = zoo.model_path("transformer_tiny_op17_f32")
    status, result = advice(capsys, model, "--board", "pyboard")
    plain = next(r for r in result["rows"] if not r["options"] and not r["flash_options"])
    assert status == 1 and plain["verdict"] == "flash too small"
    message = f"{plain['flash_bytes']:,} bytes of flash needed, the file system has 114,688"
    assert message in result["verdict"] and "heap" not in result["verdict"]
    assert result["rows"][0]["flash_bytes"] < 114_688


def test_a_board_that_can_run_nothing_says_why(capsys):
    assert main([str(DIGITS), "--board", "xiao-samd21"]) == 1
    assert "does not fit: 32 KB of RAM" in capsys.readouterr().out


def test_all_unsupported_operators_are_reported_at_once(tmp_path, capsys):
    nodes = [
        helper.make_node("Frobnicate", ["x"], ["a"], name="first", domain="com.acme"),
        helper.make_node("Restore", ["a"], ["y"], name="second", domain="com.acme"),
    ]
    path = save(tmp_path / "m.onnx", nodes, [floats("x", [1, 4])], [floats("y", [1, 4])])
    assert main([str(path), "--board", "pico"]) == 1
    printed = capsys.readouterr().out
    assert "does not convert" in printed
    assert all(word in printed for word in ("Frobnicate", "Restore", "first", "second"))


@pytest.mark.slow
def test_a_free_dim_is_tried_as_fixed_and_as_bounded(tmp_path, capsys):
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="r")]
    shape = [1, "time", 4]
    path = save(tmp_path / "m.onnx", nodes, [floats("x", shape)], [floats("y", shape)])
    status, result = advice(capsys, path, "--board", "pico")
    assert status == 1 and "a free dimension" in result["verdict"]
    options = [row["options"] for row in result["rows"] if not row["flash_options"]]
    assert ["--dim", "time=16"] in options and ["--bound", "time=16"] in options
    status, result = advice(capsys, path, "--board", "pico", "--", "--dim", "time=3")
    assert status == 0 and "--dim time=3" in result["rows"][0]["commands"][0]


@pytest.mark.slow
def test_a_value_of_open_size_is_tried_with_a_bound(tmp_path, capsys):
    nodes = [
        helper.make_node("Cast", ["n"], ["f"], to=TensorProto.INT64, name="c"),
        helper.make_node("Range", ["zero", "f", "one"], ["y"], name="r"),
    ]
    constants = [numpy_helper.from_array(np.int64(i), n) for i, n in enumerate(("zero", "one"))]
    y = helper.make_tensor_value_info("y", TensorProto.INT64, ["many"])
    path = save(tmp_path / "m.onnx", nodes, [floats("n", [])], [y], constants)
    status, result = advice(capsys, path, "--board", "pico")
    assert status == 1 and "is not fixed" in result["verdict"]
    assert result["rows"][0]["options"] == ["--bound", "y=16"]


@pytest.mark.slow
def test_an_input_that_decides_a_shape_is_named_with_its_option(tmp_path, capsys):
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"], name="r")]
    inputs = [floats("x", [2, 3]), helper.make_tensor_value_info("shape", TensorProto.INT64, [2])]
    path = save(tmp_path / "m.onnx", nodes, inputs, [floats("y", ["a", "b"])])
    np.save(tmp_path / "shape.npy", np.array([3, 2]))
    arguments = [str(path), "--board", "pico"]
    option = f"--bind shape={tmp_path / 'shape.npy'}"
    assert main(arguments) == 1
    assert "input shape decides a shape: give one, as -- --bind shape=" in capsys.readouterr().out
    assert main([*arguments, "--", *option.split()]) == 0
    assert option in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--board", "nowhere"], "nowhere: no such board"),
        (["--board", "pico", "--", "--dim", "rows=4"], "no dimension rows"),
        (["--board", "pico", "--samples", str(DIGITS)], ""),
    ],
)
def test_wrong_usage_is_status_2(arguments, message, capsys):
    assert main([str(DIGITS), *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("advise: ") and message in shown.err and not shown.out


def test_missing_samples_are_status_1(capsys):
    assert main([str(DIGITS), "--board", "pico", "--samples", "nothing.npz"]) == 1
    assert "nothing.npz: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--seconds", "0"], ["--seconds", "soon"]])
def test_wrong_arguments_are_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main([str(DIGITS), "--board", "pico", *arguments])
    assert end.value.code == 2


def made(options, heap, error=None, **changes):
    """Return a trial that needs so much heap, without a conversion."""
    needs = Needs(tensors=heap - 3000, window=0, held=0, code=2000, steps=1000)
    verdict = "fits" if heap * 1.1 < PICO.free_heap_bytes else "too large"
    placement = Placement((), needs, 1000, None, verdict, Range(1, 2, 3), "as a program", True)
    accuracy = Accuracy(error, 1.0, 1)
    fields = {"arena": heap - 3000, "has_floats": True, "has_samples": True} | changes
    return trial.Trial(options, placements=[placement], accuracy=accuracy, **fields)


def searched(results, seconds=60.0, explicit=()):
    """Return the advice for trials with these results, the others refused; and what was tried."""
    tried = []

    def attempt(task, options, left):
        tried.append(options)
        return results.get(options) or trial.Trial(options, refused="no")

    task = trial.Task(DIGITS, PICO, explicit, None, ROOT)
    return search.advise(task, seconds, attempt), tried


def test_accuracy_comes_before_heap():
    exact, lossy = (
        made(("--weights", "f16"), 100_000, 1e-5),
        made(("--weights", "int8"), 50_000, 0.2),
    )
    result, _ = searched({(): made((), 300_000, 0.0), exact.options: exact, lossy.options: lossy})
    assert [row.trial for row in result.rows][:2] == [exact, lossy]
    assert result.best.trial is exact and not result.fits


def test_an_insufficient_option_is_combined_with_a_limit():
    single = made(("--float", "fast16"), 240_000, 1e-4)
    lacking = round(240_000 * 1.1) - PICO.free_heap_bytes + 1
    both = (*single.options, "--arena", str(237_000 - lacking))
    result, tried = searched(
        {(): made((), 300_000, 0.0), single.options: single, both: made(both, 180_000, 1e-4)}
    )
    assert result.best.trial.options == both
    assert tried.index(single.options) < tried.index(both)


def test_a_limit_that_is_too_small_is_tried_again_with_the_least():
    plain = made((), 300_000, 0.0, has_floats=False)
    results = {(): plain, ("--arena", "190000"): made(("--arena", "190000"), 195_000, 0.0)}
    first = ("--arena", str(297_000 - (330_000 - PICO.free_heap_bytes + 1)))
    results[first] = trial.Trial(first, refused="too small", least=190_000)
    result, tried = searched(results)
    assert tried == [(), first, ("--arena", "190000")]
    assert not result.refused and result.rows[0].placement.heap == 195_000


def test_explicit_options_are_not_contradicted():
    _, tried = searched(
        {(): made((), 300_000, 0.0)}, explicit=("--weights", "int8", "--arena", "9K")
    )
    assert tried == [()]


def test_after_the_time_limit_untried_options_are_named(capsys):
    result, tried = searched({(): made((), 100_000, 0.0)}, seconds=0.1)
    assert tried == [()] and result.fits
    assert ("--float", "fast16") in result.late
    message = to_dict(result, trial.Task(DIGITS, PICO, (), None, ROOT))
    assert message["fits"] and ["--float", "fast16"] in message["no_time_for"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("end", ["crash", "sleep"])
def test_a_crash_or_an_endless_trial_is_a_result(end, tmp_path, monkeypatch):
    ends = {"crash": lambda: os.kill(os.getpid(), 9), "sleep": lambda: time.sleep(100)}
    monkeypatch.setattr(trial, "_trial", lambda *of: ends[end]())
    result = trial.tried(trial.Task(DIGITS, PICO, (), None, tmp_path), (), 1.0)
    assert not result.placements
    message = {"crash": "a library crashed", "sleep": "(--seconds N allows more)"}
    assert message[end] in result.refused


@pytest.mark.slow
@zoo.needs_zoo
def test_the_largest_tensor_is_named_with_its_steps(tmp_path):
    model = zoo.model_path("squeezenet_mini_96_f32")
    result = trial.tried(trial.Task(model, PICO, ("--strip",), None, tmp_path), (), 60.0)
    assert "the activation " in result.obstacle and "141,376 bytes" in result.obstacle
    assert result.obstacle.endswith("alive in steps 0 to 1")
