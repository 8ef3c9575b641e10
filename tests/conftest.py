"""Fixtures of tests that run scripts on a target of tools.micropython."""

import gc
import os
import signal
import tempfile

import pytest

from tools.cache import cache_folder
from tools.converter.reference import cpu
from tools.converter.verify import ENVIRONMENT
from tools.micropython import Target, get_target, source
from tools.micropython.recipe import Recipe
from tools.micropython.versions import split

# Every pass of every conversion is verified, in subprocesses too; 0 leaves it out.
os.environ.setdefault(ENVIRONMENT, "1")


# Of tests.host.zoo; this process makes the folder, and those of pytest-xdist inherit it.
_CONVERSIONS = "MPCONNXR_TEST_CONVERSIONS"


def pytest_configure(config) -> None:
    """Make the folder for conversions that tests share, once a run."""
    if _CONVERSIONS not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="mpconnxr-conversions-")
        os.environ[_CONVERSIONS] = folder.name
        config.add_cleanup(folder.cleanup)
        # A run that is ended from outside prints its failures, as after Ctrl-C.
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Freeze all imported objects: each garbage collection would walk them again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def pytest_runtest_logreport(report) -> None:
    """Print a failure at once: the whole report may be an hour away."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = crash.message.partition("\n")[0] if crash else ""
        print(f"\n{report.nodeid} failed after {report.duration:.0f} s: {reason}", flush=True)


def pytest_report_header() -> str:
    """Return a line with the CPU and MPCONNXR_ORT, which onnxruntime's answers depend on."""
    return f"CPU: {cpu.description()}, MPCONNXR_ORT={os.environ.get('MPCONNXR_ORT', 'exact')}"


_states = {}  # of modules' generators of random numbers, by id, before the first test


@pytest.fixture(autouse=True)
def same_numbers(request):
    """Reset the module's random generator, so that the order of tests does not matter."""
    for name in ("rng", "RNG"):
        made = getattr(getattr(request, "module", None), name, None)
        if made is not None:
            bits = made.bit_generator
            bits.state = _states.setdefault(id(made), bits.state)


@pytest.fixture
def ready_target():
    """Return a function that returns a target by its name, built, or skips the test."""
    chosen = os.environ.get("MPCONNXR_TARGETS", "").split()  # empty: all

    def get(name: str) -> Target:
        target, version = get_target(name), split(name)[1]
        if chosen and name not in ("cpython", *chosen):
            pytest.skip(f"{name} is not in MPCONNXR_TARGETS: make test-all")
        from_source = version and isinstance(target.recipe, Recipe)
        if from_source and version not in source.SUITES and not source.archive_of(version):
            pytest.skip(f"no source of MicroPython {version}: set MICROPYTHON_SOURCES")
        lacking = target.missing()
        if lacking:
            pytest.skip(f"{name} needs system packages: {' '.join(lacking)}")
        target.build()
        return target

    return get


@pytest.fixture
def new_boards(tmp_path, monkeypatch):
    """Return a cache folder with what is built, and without the flash of emulated boards."""
    cache = tmp_path / "cache"
    cache.mkdir()
    for entry in cache_folder().iterdir():
        if entry.suffix != ".flash":
            (cache / entry.name).symlink_to(entry)
    monkeypatch.setenv("MPCONNXR_CACHE", str(cache))
    return cache


@pytest.fixture
def target(request, ready_target) -> Target:
    """Return `unix`, or the target of @pytest.mark.parametrize("target", NAMES, indirect=True)."""
    return ready_target(getattr(request, "param", "unix"))
