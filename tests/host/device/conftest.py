"""Model files that several tests of the device's core use."""

import pytest

from tests.host.device import small


@pytest.fixture(scope="session")
def relu():
    return small.binary(small.relu(), strip=False)


@pytest.fixture(scope="session")
def two_inputs():
    nodes = [("Concat", "a b", "y", {"axis": 0}), ("Relu", "s", "r", {})]
    inputs = [small.value("a", (2,)), small.value("b", (1,)), small.value("s", ())]
    outputs = [small.value("y", (3,)), small.value("r", ())]
    return small.binary(small.model(nodes, inputs, outputs), strip=False)
