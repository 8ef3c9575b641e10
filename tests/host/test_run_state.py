"""tools.run on a model with state takes its samples as parts of one stream."""

import json

import numpy as np
import pytest

from tests.host.device import small
from tools.converter import __main__ as converter
from tools.run import __main__ as run

STATE = ["--state", "n=s"]


@pytest.fixture
def summing(tmp_path, target):
    """Return y = x + s, which is the next s, beside five samples of x."""
    nodes = [("Add", "x s", "y", {}), ("Identity", "y", "n", {})]
    names = ("x", "s"), ("y", "n")
    proto = small.model(nodes, *([small.value(n, (2,)) for n in group] for group in names))
    for k in range(5):
        np.save(tmp_path / f"input_{k}.npy", np.full(2, k, np.float32))
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def reported(capsys, *arguments):
    assert run.main(["--json", *map(str, arguments)]) == 0
    return json.loads(capsys.readouterr().out)


def sums(report):
    return [sample["outputs"][0]["values"][1] for sample in report["samples"]]


def test_samples_are_one_stream(summing, tmp_path, capsys):
    pytest.importorskip("onnxruntime")
    options = ["--samples", tmp_path, "--compare", summing, "--", *STATE]
    report = reported(capsys, summing, *options)
    assert sums(report) == [0, 1, 3, 6, 10]
    assert [e["name"] for e in report["errors"]] == ["y"] and report["errors"][0]["max_abs"] == 0


def test_samples_of_a_bin_are_one_stream(summing, tmp_path, capsys):
    binary = tmp_path / "m.bin"
    assert converter.main([str(summing), str(binary), *STATE]) == 0
    capsys.readouterr()
    assert sums(reported(capsys, binary, "--samples", tmp_path)) == [0, 1, 3, 6, 10]


def test_samples_of_several_shapes_are_refused(tmp_path, target, capsys):
    nodes = [("Relu", "x", "y", {}), ("Relu", "s", "n", {})]
    inputs = [small.value("x", ("n",)), small.value("s", (2,))]
    proto = small.model(nodes, inputs, [small.value("y", ("n",)), small.value("n", (2,))])
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    for k in range(2):
        np.save(tmp_path / f"input_{k}.npy", np.ones(k + 1, np.float32))
    assert run.main([str(path), "--samples", str(tmp_path), "--", *STATE]) == 1
    assert "samples of one shape are needed" in capsys.readouterr().err
