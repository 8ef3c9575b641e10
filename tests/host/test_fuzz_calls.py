"""`python -m tests.fuzz calls` finds planted faults, and no others."""

import shutil

import pytest

from tests.fuzz import calls
from tools import package
from tools.micropython import UNIX_TARGETS

PLANTED = {
    "exception": ("io/values.py", "except (TypeError, LookupError):", "except OSError:"),
    "broken": ("rare.py", 'raise MpconnxrError("the model was closed: load it again")', "pass"),
}


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_the_package_has_no_find(target):
    assert calls.campaign(target, 20, seed=11) == []


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_fault_is_found(target, tmp_path, kind):
    name, right, wrong = PLANTED[kind]
    copy = shutil.copytree(package.folder(), tmp_path / "mpconnxr")
    text = (copy / name).read_text()
    assert right in text
    (copy / name).write_text(text.replace(right, wrong))
    assert kind in {find.kind for find in calls.campaign(target, 40, seed=3, code=copy)}
