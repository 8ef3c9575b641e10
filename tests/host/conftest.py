"""Fixtures of tests that update a board through several releases."""

import pytest

from tests.host import generations, releases
from tools.deploy import device as devices


@pytest.fixture(scope="session")
def models():
    """Return a model.bin of each operator."""
    return {operator: releases.model_of(operator) for operator in releases.RESULTS}


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """Return the package's sources by generation and format."""
    folder = tmp_path_factory.mktemp("packages")
    kinds = {(r.generation, r.version) for r in releases.ALL}
    return {k: generations.package_of(folder / f"{k[0]}-{k[1]}", *k) for k in kinds}


@pytest.fixture
def bench(ready_target, tmp_path, models, packages, monkeypatch):
    """Return a releases.Bench, whose boards use one file system one after another."""
    monkeypatch.setattr(devices, "_SILENCE", 3)
    executable = ready_target("unix32").build()
    return releases.Bench(executable, tmp_path, models, packages, monkeypatch)
