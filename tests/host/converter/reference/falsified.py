"""A reference whose onnxruntime computes products of integers wrongly, as without VNNI."""

import pytest

from tools.converter.reference import ort_session, self_test

_workers = {"falsified": None}  # one for all tests: starting it takes a second


@pytest.fixture
def falsified(monkeypatch):
    """Make onnxruntime's answers wrong until the test ends."""
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
