"""A reference whose onnxruntime falsifies products of integers, as a CPU without VNNI does."""

import pytest

from tools.converter.reference import ort_session, self_test

_workers = {"falsified": None}  # one for all tests: starting it takes a second


@pytest.fixture
def falsified(monkeypatch):
    """Let onnxruntime's answers be wrong until the test ends."""
    with monkeypatch.context() as m:
        m.setenv("MPCONNXR_ORT", "falsified")
        m.setattr(ort_session, "_running", _workers["falsified"])
        _forget()
        yield
        _workers["falsified"] = ort_session._running
    _forget()


def _forget():
    self_test.of_reference.cache_clear()
    self_test.of_onnxruntime.cache_clear()
