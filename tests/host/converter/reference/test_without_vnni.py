"""The reference is exact on an emulated Haswell, whose onnxruntime saturates."""

import shutil

import pytest

from tests.host.converter.reference.test_exact import (
    SATURATING,
    extreme,
    integer_models,
    open_plain,
    open_session,
    result,
)
from tools.converter.reference import ort_session, self_test

QEMU = shutil.which("qemu-x86_64")

pytestmark = pytest.mark.skipif(not QEMU, reason="needs qemu-x86_64 (Debian: qemu-user)")


@pytest.fixture
def haswell(monkeypatch):
    """Run onnxruntime on a CPU that has AVX2 but not VNNI."""
    python = [QEMU, "-cpu", "Haswell", *ort_session._PYTHON]
    monkeypatch.setattr(ort_session, "_PYTHON", python)
    monkeypatch.setattr(ort_session, "_running", None)
    _forget()
    yield
    _forget()


def _forget():
    self_test.of_reference.cache_clear()
    self_test.of_onnxruntime.cache_clear()


def test_falsified_answers_are_those_of_a_haswell(haswell):
    for operator in self_test.operators():
        alone = self_test.of_onnxruntime(operator, open_plain)
        wrong = {name for name, is_exact in alone.items() if not is_exact}
        assert wrong == SATURATING & alone.keys()
        assert all(self_test.of_reference(operator, open_plain).values())
    model, feed, expected = extreme()
    assert open_plain(model).run(None, feed)[0].item() == 32 * 32767
    assert open_session(model).run(None, feed)[0].item() == expected


def test_the_reference_agrees_with_this_computer(request):
    models = list(integer_models())
    expected = [result(model, feed).tobytes() for model, feed in models]
    request.getfixturevalue("haswell")
    assert [result(model, feed).tobytes() for model, feed in models] == expected
