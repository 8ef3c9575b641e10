"""Names of the package for a Pico, which stay in its heap once a model is loaded."""

import re

import pytest

from tests.device.networks import NETWORKS
from tools.converter.convert import convert
from tools.deploy import boards, code
from tools.deploy.modules import Package
from tools.micropython import get_target

MOST = 5_400  # bytes of names, with the few of the script
RUN = """
import micropython
import mpconnxr
model = mpconnxr.load("model.bin")
micropython.qstr_info()
from mpconnxr import golden
print("verified", golden.verify("model.bin").ok)
"""


@pytest.fixture(scope="module")
def packages():
    """Return the package with the names of the sources, and with those of the firmware."""
    made = (Package(keeps_names=True), Package())
    return [code.whole(package, boards.named("pico").machine) for package in made]


@pytest.mark.parametrize("network", ["digits int8", "LSTM", "random forest", "mlperf kws int8"])
def test_few_names_stay(machine, packages, network):
    if machine.name != "rp2040":
        pytest.skip("the package is for a Pico")
    model, found = {"model.bin": convert(NETWORKS[network]().model).data}, []
    for package in packages:
        done = get_target("rp2040").run(RUN, files=package | model, timeout=600)
        assert done.stdout.endswith("verified True\n"), done.stdout + done.stderr
        found.append(int(re.search(r"n_total_bytes=(\d+)", done.stdout)[1]))
    print(f"{network}: {found[0]} bytes of names, {found[1]} with those of the firmware")
    assert found[1] <= MOST
