"""onnxruntime runs in a process of its own: its crash does not end the caller."""

import gc
import os
import signal

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.host.device import small
from tools.converter.convert import convert
from tools.converter.reference import golden, ort_session
from tools.converter.reference.ort_session import OrtError, open_session


def relu(op_type="Relu"):
    return small.model([(op_type, "x", "y", {})], [small.value("x", [3])], [small.value("y", [3])])


X = np.array([-1, 0, 2], np.float32)


def test_a_session_has_names_and_values():
    session = open_session(relu())
    assert (session.inputs, session.outputs) == (["x"], ["y"])
    assert session.run(None, {"x": X})[0].tolist() == [0, 0, 2]
    assert session.run(["y"], {"x": X})[0].dtype == np.float32


def test_refusals_of_onnxruntime_keep_kind_and_message():
    with pytest.raises(OrtError) as e:
        open_session(relu("Teleport"))
    assert e.value.kind in ("Fail", "InvalidGraph") and "Teleport" in str(e.value)
    with pytest.raises(OrtError, match="x"):
        open_session(relu()).run(None, {"x": X[:2]})


def test_a_crash_is_an_error_and_the_next_session_works():
    session = open_session(relu())
    os.kill(session._worker._child.pid, signal.SIGABRT)
    session._worker._child.wait()
    with pytest.raises(OrtError, match="SIGABRT") as e:
        session.run(None, {"x": X})
    assert e.value.kind == "Crash"
    assert open_session(relu()).run(None, {"x": X})[0].tolist() == [0, 0, 2]


def test_the_current_directory_decides_nothing(tmp_path, monkeypatch):
    for name in ("tools", "mpconnxr_host"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('of another project')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ort_session, "_running", None)
    assert open_session(relu()).run(None, {"x": X})[0].tolist() == [0, 0, 2]


def test_a_crash_costs_the_golden_vector_not_the_conversion(monkeypatch):
    def crashing(self, names, feed):
        os.kill(self._worker._child.pid, signal.SIGABRT)
        return self._worker.ask("run", self._number, (names, dict(feed)))

    monkeypatch.setattr(ort_session.Session, "run", crashing)
    converted = convert(relu())
    (note,) = (n for n in converted.notes if "test vector" in n)
    assert "SIGABRT" in note
    assert golden.reference(relu(), [X]) is None


def test_unreferenced_sessions_are_closed():
    first = open_session(relu())
    worker, number = first._worker, first._number
    del first
    gc.collect()
    open_session(relu())
    with pytest.raises(OrtError) as e:
        worker.ask("run", number, (None, {"x": X}))
    assert e.value.kind == "KeyError"


def test_strings_and_maps_pass_between_the_processes():
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            helper.make_node(
                "ZipMap", ["x"], ["m"], domain="ai.onnx.ml", classlabels_strings=["a", "b"]
            )
        ],
        "g",
        [value("x", TensorProto.FLOAT, [1, 2])],
        [helper.make_empty_tensor_value_info("m")],
    )
    t = graph.output[0].type.sequence_type.elem_type.map_type
    t.key_type = TensorProto.STRING
    t.value_type.tensor_type.elem_type = TensorProto.FLOAT
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets)
    onnx.checker.check_model(model)
    (maps,) = open_session(model).run(None, {"x": np.array([[1, 2]], np.float32)})
    assert maps == [{"a": 1.0, "b": 2.0}]
