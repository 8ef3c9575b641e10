"""Names of the package for a Pico take little of its heap once a model is loaded."""

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


@pytest.mark.slow
@pytest.mark.parametrize("network", ["digits int8", "LSTM", "random forest", "mlperf kws int8"])
def test_few_names_stay_in_the_heap(machine, packages, network):
    if machine.name != "rp2040":
        pytest.skip("the package is for a Pico")
    model, results = {"model.bin": convert(NETWORKS[network]().model).data}, []
    for package in packages:
        completed = get_target("rp2040").run(RUN, files=package | model, timeout=600)
        assert completed.stdout.endswith("verified True\n"), completed.stdout + completed.stderr
        results.append(int(re.search(r"n_total_bytes=(\d+)", completed.stdout)[1]))
    print(f"{network}: {results[0]} bytes of names, {results[1]} with those of the firmware")
    assert results[1] <= MOST
