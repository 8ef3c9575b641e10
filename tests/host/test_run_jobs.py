"""tools.harness runs jobs in batches; a bad job does not harm the others."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.shape_fixing import shape_fixing_inputs
from tools.harness import Job, batch, run_jobs
from tools.micropython import TargetError

# Stands in for the package on the device: a model is a word that says what is to happen.
FAKE_PACKAGE = """
import sys

class Tensor:
    def __init__(self, data):
        self.data = data
        self.nbytes = len(data)
        self.shape = (len(data),)
    def view(self, code):
        return memoryview(self.data)

class Model:
    def __init__(self, word):
        self.word = word
        self.inputs = [Tensor(bytearray(2))]
    def run(self):
        if self.word == b"hang":
            while True:
                pass
        if self.word == b"exit":
            sys.exit(3)
        if self.word == b"raise":
            raise ValueError("it is \\"bad\\"")
        return [Tensor(b""), Tensor(bytes(self.inputs[0].data) * 1000)]

def load(path):
    with open(path, "rb") as f:
        return Model(f.read())
"""


@pytest.fixture
def fake_package(tmp_path, monkeypatch):
    (tmp_path / "__init__.py").write_text(FAKE_PACKAGE)
    monkeypatch.setattr(batch.package, "folder", lambda: tmp_path)


def job(word, *samples):
    return Job(word, [[x] for x in samples or [b"ab"]])


def test_a_bad_job_costs_only_itself(target, fake_package):
    words = [b"good", b"hang", b"good", b"exit", b"exit", b"raise", b"good"]
    outcomes = run_jobs(target, [job(word) for word in words], timeout=1.5, workers=1)
    assert [o.error for o in outcomes] == ["", "timeout", "", "crash", "crash", "ValueError", ""]
    assert outcomes[1].message == "no end within 1.5 s"
    assert "status 3" in outcomes[3].message
    assert outcomes[5].message == 'it is "bad"'
    for o in outcomes:
        assert [run.outputs for run in o.runs] == ([] if o.error else [[b"", b"ab" * 1000]])


def test_samples_run_with_progress(target, fake_package):
    counts = {"runs": 0, "jobs": 0}
    jobs = [job(b"good", b"ab", b"cd")] * 5

    def count(what):
        counts[what] += 1

    outcomes = run_jobs(
        target,
        jobs,
        jobs_a_process=2,
        on_run=lambda: count("runs"),
        on_job=lambda: count("jobs"),
    )
    assert counts == {"runs": 10, "jobs": 5}
    for outcome in outcomes:
        assert [run.outputs[1][:2] for run in outcome.runs] == [b"ab", b"cd"]
        assert all(run.seconds >= 0 for run in outcome.runs)


def test_a_wrong_input_size_is_an_error(target, fake_package):
    assert run_jobs(target, [job(b"good", b"abc")])[0].error == "ValueError"
    assert run_jobs(target, [job(b"good", b"a")])[0].error == "ValueError"


def test_a_target_that_cannot_run_is_not_a_jobs_error(target, tmp_path, monkeypatch):
    (tmp_path / "__init__.py").write_text("no python")
    monkeypatch.setattr(batch.package, "folder", lambda: tmp_path)
    with pytest.raises(TargetError, match="jobs cannot be run.*SyntaxError"):
        run_jobs(target, [job(b"good")])


def relu_model(width=500):
    return small.relu((2, width))


@pytest.mark.parametrize("target", ["unix", "unix32", "unix-plain", "mps2-an385"], indirect=True)
def test_a_model_runs_on_every_target(target):
    x = np.linspace(-1, 1, 1000, dtype=np.float32)
    jobs = [
        Job(convert(relu_model(), Options(strip=True)).data, [[x.tobytes()], [(-x).tobytes()]])
    ]
    (outcome,) = run_jobs(target, jobs)
    assert (outcome.error, outcome.message) == ("", "")
    for run, value in zip(outcome.runs, (x, -x), strict=True):
        got = np.frombuffer(run.outputs[0], np.float32)
        np.testing.assert_array_equal(got, np.maximum(value, 0))


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
def test_a_small_heap_suffices(target, monkeypatch):
    monkeypatch.setattr(batch, "_heap", lambda *_: 200 << 10)
    x = np.arange(10_000, dtype=np.float32)
    data = convert(relu_model(len(x) // 2), Options(strip=True)).data
    for outcome in run_jobs(target, [Job(data, [[x.tobytes()]])] * 3):
        assert (outcome.error, outcome.message) == ("", "")
        assert outcome.runs[0].outputs == [x.tobytes()]


def shape_fixing(nodes, **inputs):
    """Return shape_fixing_inputs of a graph with output y; inputs: {name: (dtype, shape)}."""
    infos = [helper.make_tensor_value_info(n, *kind) for n, kind in inputs.items()]
    return shape_fixing_inputs(small.model(nodes, infos, [small.value("y", ["a", "b"])]))


def test_inputs_that_reach_a_shape_fix_it():
    nodes = [
        helper.make_node("Cast", ["size"], ["size64"], to=TensorProto.INT64),
        helper.make_node("Concat", ["size64", "rest"], ["shape"], axis=0),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    x, rest = (TensorProto.FLOAT, [2, 3]), (TensorProto.INT64, [1])
    assert shape_fixing(nodes, x=x, size=(TensorProto.INT32, [1]), rest=rest) == ["size", "rest"]


def test_the_shape_of_data_does_not_fix_the_data():
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Reshape", ["z", "shape"], ["y"]),
    ]
    assert shape_fixing(nodes, x=(TensorProto.INT64, [2]), z=(TensorProto.FLOAT, [6, 1])) == []


def test_only_small_integers_fix_a_shape_by_arithmetic():
    nodes = [
        helper.make_node("Gather", ["table", "at"], ["row"]),
        helper.make_node("Mul", ["row", "two"], ["shape"]),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    x, at, two = (TensorProto.FLOAT, [2, 3]), (TensorProto.INT64, []), (TensorProto.INT64, [2])
    table = (TensorProto.INT64, [4, 2])
    assert shape_fixing(nodes, x=x, table=table, at=at, two=two) == ["two"]


def test_branches_pass_on_inputs_that_fix_a_shape():
    def branch(name, node):
        out = helper.make_tensor_value_info(node.output[0], TensorProto.INT64, [2])
        return helper.make_graph([node], name, [], [out])

    nodes = [
        helper.make_node(
            "If",
            ["flag"],
            ["shape"],
            then_branch=branch("yes", helper.make_node("Identity", ["size"], ["a"])),
            else_branch=branch("no", helper.make_node("Add", ["size", "more"], ["b"])),
        ),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    x, sizes = (TensorProto.FLOAT, [2, 3]), (TensorProto.INT64, [2])
    result = shape_fixing(nodes, x=x, size=sizes, more=sizes, flag=(TensorProto.BOOL, []))
    assert result == ["size", "more"]


def test_inputs_that_decide_an_optional_are_found():
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [2]))

    def branch(node):
        return helper.make_graph([node], "b", [], [helper.make_value_info(node.output[0], kind)])

    nodes = [
        helper.make_node(
            "If",
            ["flag"],
            ["found"],
            then_branch=branch(helper.make_node("Optional", ["x"], ["a"])),
            else_branch=branch(
                helper.make_node("Optional", [], ["b"], type=kind.optional_type.elem_type)
            ),
        ),
        helper.make_node("OptionalGetElement", ["found"], ["y"]),
    ]
    assert shape_fixing(nodes, x=(TensorProto.FLOAT, [2]), flag=(TensorProto.BOOL, [])) == ["flag"]


def test_data_of_a_kernel_does_not_fix_a_shape():
    node = helper.make_node("Range", ["start", "limit", "step"], ["y"])
    infos = [helper.make_tensor_value_info(n, TensorProto.INT64, []) for n in node.input]
    out = helper.make_tensor_value_info("y", TensorProto.INT64, ["n"])
    model = helper.make_model(helper.make_graph([node], "g", infos, [out]))
    assert shape_fixing_inputs(model) == ["start", "limit", "step"]
    assert shape_fixing_inputs(model, at_run_time=True) == []
