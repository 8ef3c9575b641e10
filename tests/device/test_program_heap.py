"""What programs take of a Pico's heap, code and arena included, stays within measured bounds."""

import pytest

from tests.device.networks import NETWORKS
from tests.host.device import small
from tools.converter.convert import convert
from tools.deploy.fit import needs_of
from tools.deploy.model_file import parse_model
from tools.deploy.modules import Package
from tools.program.build import CORE, build, plan_deployment

FUNCTIONS = (small.SCRIPTS / "heap.py").read_text().partition('\ncopy("mpconnxr")')[0]
# Prints the arena, what is in use at most from the first import to the end of a run, what stays.
SCRIPT = """
copy("mpconnxr")
if STREAMED:
    copy("model.bin")
sys.path.insert(0, "/")
addresses, sizes, held = array("I", [0] * 900), array("H", [0] * 900), [None] * 900
gc.collect()
painted(addresses, sizes, held)
gc.collect()
arena, kept = used("/model.bin" if STREAMED else "model.bin")
blocks = sum([touched(addresses[i] * BLOCK, sizes[i]) for i in range(len(sizes))])
print(arena, blocks * BLOCK, kept)
"""
LAYOUTS = 4
CASES = {  # network, streamed, and the most bytes that stay, in use at any time, of .mpy files
    "kws_in_place": ("mlperf kws int8", False, 23_300, 27_200, 12_250),
    "kws_streamed": ("mlperf kws int8", True, 33_100, 36_900, 12_450),
    "digits_streamed": ("digits float32", True, 37_100, 39_200, 14_850),
    "forest_in_place": ("random forest", False, 9_100, 12_900, 8_500),
    "lstm_in_place": ("LSTM", False, 20_100, 22_700, 16_650),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_program_takes_a_bounded_part_of_the_heap(machine, case):
    if machine.name != "rp2040":
        pytest.skip("another heap, or one of unknown size")
    network, streamed, most_kept, most_used, most_code = CASES[case]
    data = convert(NETWORKS[network]().model).data
    made = build(data, machine.kind, streamed)
    loaded = [made.module, *(f"mpconnxr/{name}.mpy" for name in CORE)]
    code = sum(len(made.files[path]) for path in loaded)
    files = {**made.files, "model.bin": data}
    script, result = f"STREAMED = {streamed}\n{FUNCTIONS}\n{SCRIPT}", []
    for n in range(LAYOUTS):  # what is left of a pointer may hold more, by where all things lie
        before = f"lies_before = bytearray({48 * n})\n" if n else ""
        arena, *nbytes = map(int, machine.run(before + script, files).split())
        result.append(nbytes)
        used, kept = map(min, zip(*result, strict=True))
        if kept <= most_kept and used <= most_used:
            break
    print(f"{case}: {kept} bytes stay, {used} in use at most, arena {arena}, .mpy {code}")
    assert arena < kept <= most_kept and kept <= used <= most_used and code <= most_code
    # what flash.py says before
    model = parse_model("model.bin", data)
    files = plan_deployment(model, Package(), machine.kind, not streamed).files
    needs = needs_of(model, files, not streamed, program_for=machine.kind)
    assert abs(needs.total - used) <= 0.1 * used
