"""Estimates of heap are near what loading and the first run take on a Pico.

All models of the collection that fit, with MPCONNXR_LONG=1; else some of every kind.
"""

import os
from pathlib import Path

import pytest

from tests.device.machine import COPY
from tests.host import zoo
from tools.converter.convert import Options, convert
from tools.deploy import on_board_verify
from tools.deploy.fit import needs_of
from tools.deploy.model_file import parse_model
from tools.deploy.modules import Package
from tools.program.build import plan_deployment

OFF = 0.1
HEAP = 215_000  # bytes: free before the script has its own
BOTH = ("program", "kernels")
SAMPLE = {
    "digits_cnn_f32": BOTH,
    "digits_cnn_qdq_s8": ("program",),
    "digits_cnn_dynq": ("kernels",),
    "gesture_bilstm_f32": ("kernels",),
    "gesture_gru_f32": ("program",),
    "har_cnn1d_f32": ("kernels",),
    "mlperf_kws_dscnn_int8": ("program",),
    "sensor_features_f32": ("program",),
    "skl_gbr_diabetes": ("kernels",),
    "skl_rf_digits": ("program",),
    "skl_rf_wine_zipmap": ("kernels",),
    "skl_voting_wine": ("program",),
    "tflm_hello_world_f32": ("program",),
}
CASES = dict.fromkeys(zoo.models(), BOTH) if os.environ.get("MPCONNXR_LONG") else SAMPLE
FUNCTIONS = Path(on_board_verify.__file__).read_text()
SCRIPT = (
    COPY
    + """
copy("mpconnxr")
copy("model.bin")
gc.collect()
places, sizes = painted()
gc.collect()
painted_nbytes = sum(sizes)
unpainted = gc.mem_free() - painted_nbytes
gc.threshold(GARBAGE)
sys.path.insert(0, "/")
sys.modules["gc"] = Often()
import mpconnxr
model = mpconnxr.load("/model.bin")
try:
    model.run()
except mpconnxr.InputError:  # zeros are no input of some models
    pass
used = touched(places, sizes)
print(used + used * unpainted // painted_nbytes)
"""
)
pytestmark = zoo.needs_zoo


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mode"), [(n, mode) for n, modes in CASES.items() for mode in modes]
)
def test_a_model_takes_the_estimated_heap(machine, name, mode):
    if machine.name != "rp2040":
        pytest.skip("another heap, or one of unknown size")
    converted = convert(zoo.model_path(name), Options(shapes=zoo.shapes(name)))
    model = parse_model("model.bin", converted.data)
    why = "--interpret" if mode == "kernels" else ""
    lies = plan_deployment(model, Package(), machine.kind, False, why)
    if lies.is_program != (mode == "program"):
        pytest.skip(lies.summary)
    needs = needs_of(model, lies.files, False, program_for=lies.program_for)
    if needs.total > HEAP:
        pytest.skip(f"{needs.total} bytes of heap needed")
    files = {f.path: f.data for f in lies.files} | {"model.bin": model.data}
    used = int(machine.run(FUNCTIONS + SCRIPT, files).split()[-1])
    print(f"{name} {mode}: {needs.total} bytes estimated ({needs}), {used} in use at most")
    assert (1 - OFF) * used <= needs.total <= (1 + OFF) * used
