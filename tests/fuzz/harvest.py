"""A pytest plugin that keeps the model files which tests convert, and runs none of the files.

    MPCONNXR_HARVEST=FOLDER pytest -p tests.fuzz.harvest tests/host/ops

A new kernel's own tests thus make the fuzzer's seeds; see seeds.py.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tools.converter.file import writer
from tools.micropython import get_target, target_names

LARGEST = 16000  # bytes of a file: damage to a larger one seldom meets what decides


def pytest_configure():
    folder = Path(os.environ["MPCONNXR_HARVEST"])
    made = writer.model_bytes

    def keeping(*args, **options):
        data = made(*args, **options)
        if len(data) <= LARGEST:
            (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
        return data

    writer.model_bytes = keeping
    for kind in {type(get_target(name)) for name in target_names()}:
        kind.run = _not_run


def pytest_collection_modifyitems(items):
    """Keep one of several tests that differ only in the target: they convert the same file."""
    kept = {}
    for element in items:
        params = getattr(getattr(element, "callspec", None), "params", {})
        others = [(name, repr(value)) for name, value in params.items() if name != "target"]
        kept.setdefault((element.path, element.originalname, element.cls, *others), element)
    items[:] = kept.values()


def _not_run(*_, **__):
    pytest.skip("only its files are wanted")
