"""What names of the package for a Pico stay in its heap for ever, once a model is loaded."""

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
def package():
    return code.whole(Package(), boards.named("pico").machine)


@pytest.mark.parametrize("network", ["digits int8", "LSTM", "mlperf kws int8"])
def test_few_names_stay(machine, package, network):
    if machine.name != "rp2040":
        pytest.skip("the package is for a Pico")
    files = package | {"model.bin": convert(NETWORKS[network]().model).data}
    done = get_target("rp2040").run(RUN, files=files, timeout=600)
    assert done.stdout.endswith("verified True\n"), done.stdout + done.stderr
    nbytes = int(re.search(r"n_total_bytes=(\d+)", done.stdout)[1])
    print(f"{network}: {nbytes} bytes of names")
    assert nbytes <= MOST
