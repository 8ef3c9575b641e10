"""Each network gives onnxruntime's results on each machine, from the files that flash.py sends."""

from functools import cache

import numpy as np
import pytest

from tests.device.networks import FLOAT, NETWORKS
from tools.converter.convert import convert
from tools.deploy.code import code_for
from tools.deploy.model_file import read_model
from tools.deploy.modules import Package
from tools.harness import RUNNER, Job, files_of, outcomes_of


@cache
def network(name):
    return NETWORKS[name]()


@cache
def binary(name):
    return convert(network(name).model).data


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_outputs_agree_with_onnxruntime(machine, name, tmp_path):
    expected = network(name)
    (tmp_path / "model.bin").write_bytes(binary(name))
    code = code_for(read_model(tmp_path / "model.bin"), Package(), machine.kind)
    job = Job(binary(name), [[x.tobytes() for x in expected.inputs]])
    files = {f.path: f.data for f in code} | files_of([job])
    [outcome] = outcomes_of(machine.run(RUNNER.read_text(), files))
    assert not outcome.error, outcome.message
    for raw, right in zip(outcome.runs[0].outputs, expected.outputs, strict=True):
        compare(np.frombuffer(raw, right.dtype).reshape(right.shape), right, expected.steps)


def compare(got, right, steps):
    if right.dtype.kind == "f":
        assert np.abs(got - right).max() <= FLOAT * np.abs(right).max()
    else:
        assert np.abs(got.astype(np.int64) - right).max() <= steps
