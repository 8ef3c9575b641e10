"""What a model takes of a Pico's heap beyond its arena stays within measured bounds."""

import pytest

from tests.device.networks import NETWORKS
from tests.host.device import small
from tools.converter.convert import convert
from tools.deploy.code import code_for
from tools.deploy.model_file import parse_model, read_model
from tools.deploy.modules import Package

MOST = 25_000  # bytes, with garbage but without code
MOST_OF_CODE = 18 * 1024  # bytes: modules in a file system, once the model is loaded
KEPT = {  # network, streamed, and the most bytes that stay with its kernels' table
    "kws_in_place": ("mlperf kws int8", False, 27_800),
    "kws_streamed": ("mlperf kws int8", True, 40_000),
    "digits_streamed": ("digits float32", True, 42_000),
    "forest_in_place": ("random forest", False, 12_700),
}
LAYOUTS = 4  # where things lie decides what an old pointer on the stack holds
SCRIPT = '''
import gc


def copy(name):
    with open(name, "rb") as file, open("/" + name, "wb") as target:
        while piece := file.read(512):
            target.write(piece)


def kept(depth, source):
    if depth:  # so that no pointer of loading is left where the caller looks
        return kept(depth - 1, source)
    import mpconnxr

    model = mpconnxr.load(source)
    model.run()
    return model


if STREAMED:
    copy("model.bin")
gc.collect()
before = gc.mem_alloc()
def others(depth):
    """Overwrite the words of the stack that loading left, as any call of a program does."""
    if depth:
        others(depth - 1)


model = kept(3, "/model.bin" if STREAMED else "model.bin")
others(3)
gc.collect()
print(gc.mem_alloc() - before)
'''


@pytest.mark.slow
@pytest.mark.parametrize("case", KEPT)
def test_a_model_keeps_a_bounded_part_of_the_heap(machine, case):
    """Count the arena, and all that load and run leave behind: code, names, the table."""
    if machine.name != "rp2040":
        pytest.skip("another heap, or one of unknown size")
    network, streamed, most = KEPT[case]
    data = convert(NETWORKS[network]().model).data
    code = code_for(parse_model("model.bin", data), Package(), machine.kind)
    files = {f.path: f.data for f in code} | {"model.bin": data}
    script = SCRIPT.replace("STREAMED", str(streamed))
    results = [int(machine.run("x = 1\n" * n + script, files)) for n in range(LAYOUTS)]
    print(f"{case}: {min(results)} bytes kept, of {LAYOUTS} layouts {results}")
    assert 0.75 * most < min(results) <= most


@pytest.mark.slow
def test_peak_heap_beyond_the_arena_is_bounded(machine, tmp_path):
    if machine.name != "rp2040":
        pytest.skip("another heap, or one of unknown size")
    path = tmp_path / "model.bin"
    path.write_bytes(convert(NETWORKS["mlperf kws int8"]().model).data)
    code = code_for(read_model(path), Package(), machine.kind)
    files = {f.path: f.data for f in code} | {"model.bin": path.read_bytes()}
    printed = machine.run((small.SCRIPTS / "heap.py").read_text(), files)
    [of_code], streamed, in_place = ([int(n) for n in s.split()] for s in printed.splitlines())
    print(f"arena, peak and kept beyond it: streamed {streamed}, in place {in_place}")
    print(f"code {of_code}")
    for arena, peak, kept in (streamed, in_place):
        assert 0 < kept <= peak <= MOST, f"{peak} and {kept} bytes beyond the arena's {arena}"
    assert in_place[0] < streamed[0]
    assert 14_000 < of_code <= MOST_OF_CODE
