"""The machines of these tests: `--target NAME` of tools.micropython, or a serial port.

    pytest tests/device --target rp2040 --target virt-rv32
    pytest tests/device --target /dev/ttyACM0

The default is all of TARGETS. The package is compiled for them as tools/flash.py does.
"""

from __future__ import annotations

import os

import pytest

from tests.device.machine import EmulatedMachine, SerialMachine
from tools.micropython import get_target, is_target, target_names

TARGETS = ("mps2-an385", "mps2-an505", "virt-rv32", "sim-de212", "rp2040")


def pytest_addoption(parser):
    parser.addoption(
        "--target",
        action="append",
        metavar="NAME|PORT",
        help="where to run: a target of tools.micropython, or a serial port; may be repeated",
    )


def pytest_generate_tests(metafunc):
    if "machine" in metafunc.fixturenames:
        chosen = os.environ.get("MPCONNXR_TARGETS", "").split() or TARGETS
        known = [name for name in TARGETS if name in target_names() and name in chosen]
        names = metafunc.config.getoption("--target") or known
        metafunc.parametrize("machine", names, indirect=True, scope="session")


@pytest.fixture(scope="session")
def machine(request):
    name = request.param
    if not is_target(name):
        with SerialMachine(name) as board:
            yield board
        return
    target = get_target(name)
    lacking = target.missing()
    if lacking:
        pytest.skip(f"{name} needs system packages: {' '.join(lacking)}")
    yield EmulatedMachine(target)
