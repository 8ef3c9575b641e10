"""Real float models allocate nothing in a run, except known ones in known steps."""

import re

import pytest

from tests.host import zoo
from tests.host.device import small
from tools.converter.report import python_floats

# Integer ones have a test of their own; this one's weights take 3 MB.
OTHERS = re.compile("_qdq_|_qop_|_dynq$|_int8$|_qtdnn$|^cifar10net")
ALLOCATING = {"sensor_features_f32", "skl_rf_wine_zipmap"}  # integers of 64 bits, maps
OBJECTS = {"skl_rf_wine_zipmap"}  # its maps allocate, no floats do
MODELS = [n for n in zoo.models() if not OTHERS.search(n) and n not in ALLOCATING]
SLOW_MACS = 1_000_000
RUNS = 2

pytestmark = zoo.needs_zoo


@pytest.mark.parametrize("name", MODELS)
def test_a_run_allocates_nothing(ready_target, name):
    first, converted = converted_with_input(name)
    assert not python_floats.of(converted).steps
    runs = 1 if converted.report()["macs"] > SLOW_MACS else RUNS
    script = (small.SCRIPTS / "allocation.py").read_text().replace("n = 50", f"n = {runs}")
    files = {"model.bin": converted.data, "x.bin": first.tobytes()}
    printed = small.run(ready_target("unix32"), script, files)
    assert printed.split()[0] == "0"


def converted_with_input(name):
    """Return the first input of a model's first sample, and the model for such inputs."""
    return zoo.sample(name, 0, "input")[0], zoo.converted(name, keep_inputs=True)


@pytest.mark.parametrize("name", sorted(ALLOCATING - OBJECTS))
def test_the_converter_names_steps_that_allocate(name):
    _, converted = converted_with_input(name)
    assert python_floats.of(converted).steps
