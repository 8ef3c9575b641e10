"""Loading, tensors, arenas and sessions behave as docs/api.md says, on each target."""

import pytest

from tests.host.device import small
from tests.host.device.binfile import File
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
RELU = "[1.0, 0.0, 3.0, 0.0, 5.0, 0.0]"


@every_target
def test_a_model_loads_from_each_kind_of_source(target, relu):
    script = """
import mpconnxr
data = open("m.bin", "rb").read()
shifted = bytearray(b"?" * 3 + data)
for source in ("m.bin", data, bytearray(data), memoryview(data), memoryview(shifted)[3:]):
    print(list(mpconnxr.load(source).run([1, -2, 3, -4, 5, -6])[0].data))
for source in (5, None):
    try:
        mpconnxr.load(source)
    except mpconnxr.InputError as e:
        print(e)
try:
    mpconnxr.load("absent.bin")
except OSError:
    print("absent")
"""
    refusals = ["source: a path, a buffer or a file is needed"] * 2 + ["absent"]
    assert small.lines(target, script, m=relu) == [RELU] * 5 + refusals


@every_target
def test_tensors_have_names_shapes_and_dtypes(target, relu):
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
for t in m.inputs + m.outputs:
    print(t.name, t.dtype, t.shape, t.nelem, t.nbytes, len(t.data))
m.inputs[0].data[1] = 7.5
print(m.run() is m.outputs, m.outputs[0].data[1], m.arena_nbytes)
"""
    printed = small.lines(target, script, m=relu)
    assert printed[:2] == ["x float32 (2, 3) 6 24 6", "y float32 (2, 3) 6 24 6"]
    assert printed[2].startswith("True 7.5 ")


def test_a_stripped_file_has_numbered_names(target):
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
print(m.inputs[0].name, m.outputs[0].name)
"""
    assert small.lines(target, script, m=small.binary(small.relu())) == ["input_0 output_0"]


@every_target
def test_the_caller_may_provide_the_arena(target, relu):
    script = """
import mpconnxr
n = mpconnxr.load("m.bin").arena_nbytes
x = [1, -2, 3, -4, 5, -6]
for arena in (bytearray(n), bytearray(n + 100), memoryview(bytearray(n + 16))[16:]):
    print(list(mpconnxr.load("m.bin", arena=arena).run(x)[0].data))
try:
    mpconnxr.load("m.bin", arena=bytearray(n - 1))
except mpconnxr.ArenaError as e:
    print(e.needed == n, e.available == n - 1, str(n) in str(e), str(n - 1) in str(e))
for arena in (memoryview(bytearray(n + 3))[3:], memoryview(bytes(n))):
    try:
        mpconnxr.load("m.bin", arena=arena)
    except mpconnxr.ArenaError as e:
        print(str(e).split(", ")[-1])
for arena in (bytes(n), 5):
    try:
        mpconnxr.load("m.bin", arena=arena)
    except mpconnxr.InputError as e:
        print(e)
"""
    assert small.lines(target, script, m=relu) == [
        *[RELU] * 3,
        "True True True True",
        "but the buffer does not start at a multiple of 8",
        "but the buffer is read-only",
        *["arena: a bytearray or a memoryview of one is needed"] * 2,
    ]


def test_an_arena_larger_than_the_heap_is_refused(target):
    data = File(small.binary(small.relu())).changed((0, 1 << 30), (1, 1 << 30))
    script = """
import mpconnxr
try:
    mpconnxr.load("m.bin", verify=False)
except mpconnxr.ArenaError as e:
    print(e.needed, 0 < e.available < 64 << 20)
"""
    assert small.lines(target, script, m=data) == [f"{1 << 30} True"]


@every_target
def test_two_models_share_an_arena(target, relu, two_inputs):
    script = """
import mpconnxr
arena = bytearray(256)
a = mpconnxr.load("a.bin", arena=arena)
b = mpconnxr.load("b.bin", arena=arena)
for _ in range(2):
    print(list(a.run([1, -2, 3, -4, 5, -6])[0].data))
    print(list(b.run([[1, 2], [3], 4])[0].data))
"""
    assert small.lines(target, script, a=relu, b=two_inputs) == [RELU, "[1.0, 2.0, 3.0]"] * 2


@every_target
def test_load_all_shares_the_largest_arena(target, relu, two_inputs):
    script = """
import mpconnxr
from mpconnxr.sharing import load_all
for names in (("a.bin", "b.bin"), ["b.bin", "a.bin"]):
    models = load_all(names)
    print(len(models), models[0]._arena is models[1]._arena)
    n = max([mpconnxr.load(name).arena_nbytes for name in names])
    print(len(models[0]._arena) == n > 0)
    a, b = models if names[0] == "a.bin" else reversed(models)
    print(list(a.run([1, -2, 3, -4, 5, -6])[0].data))
    print(list(b.run([[1, 2], [3], 4])[0].data))
try:
    load_all(("a.bin", "absent.bin"))
except OSError:
    print("absent")
"""
    each = ["2 True", "True", RELU, "[1.0, 2.0, 3.0]"]
    assert small.lines(target, script, a=relu, b=two_inputs) == [*each, *each, "absent"]


@every_target
def test_weights_stay_in_the_callers_bytes(target):
    w = small.floats(4)
    proto = small.model(
        [("Relu", "x", "y", {})],
        [small.value("x", (1,))],
        [small.value("y", (1,)), small.value("w", (4,))],
        w=w,
    )
    script = """
import struct, uctypes
import mpconnxr
data = open("m.bin", "rb").read()
m = mpconnxr.load(data)
at = uctypes.addressof(m.outputs[1].view("B")) - uctypes.addressof(data)
print(at, struct.unpack_from("<4f", data, at) == tuple(m.outputs[1].data))
shifted = bytearray(1) + data
m = mpconnxr.load(memoryview(shifted)[1:])
at = uctypes.addressof(m.outputs[1].view("B")) - uctypes.addressof(shifted)
print(0 <= at < len(shifted), len(m.outputs[1].data))
"""
    data = small.binary(proto)
    assert small.lines(target, script, m=data) == [f"{data.find(w.tobytes())} True", "False 4"]


@every_target
def test_views_keep_the_arena_alive(target, relu):
    script = """
import gc
import mpconnxr
def outputs():
    return mpconnxr.load("m.bin").run([1, -2, 3, -4, 5, -6])[0].data
views = [outputs() for _ in range(20)]
gc.collect()
rubbish = [bytearray(b"\\xff" * 64) for _ in range(2000)]
print(set([str(list(v)) for v in views]))
"""
    assert small.lines(target, script, m=relu) == [f"{{'{RELU}'}}"]


@every_target
def test_an_inference_session_runs_like_onnxruntimes(target, two_inputs):
    script = """
import mpconnxr
s = mpconnxr.InferenceSession("m.bin")
print([t.name for t in s.get_inputs()], [t.name for t in s.get_outputs()])
feed = {"a": [1, 2], "b": [3], "s": 4}
print([list(v) for v in s.run(["r", "y"], feed)], [list(v) for v in s.run(None, feed)])
try:
    s.run(["z"], feed)
except mpconnxr.InputError as e:
    print(e)
"""
    assert small.lines(target, script, m=two_inputs) == [
        "['a', 'b', 's'] ['y', 'r']",
        "[[4.0], [1.0, 2.0, 3.0]] [[1.0, 2.0, 3.0], [4.0]]",
        "no output z; there are y, r",
    ]


@every_target
def test_a_model_imports_only_what_it_needs(target, relu):
    script = """
import sys
import mpconnxr
print(sorted([n for n in sys.modules if n.startswith("mpconnxr")]))
mpconnxr.load("m.bin").run([0] * 6)
files = [n for n in sys.modules if hasattr(sys.modules[n], "__file__")]  # folders have none
print(sorted([n for n in files if n.startswith(("mpconnxr.ops.", "mpconnxr.loops."))]))
print("mpconnxr.inspect.golden" in sys.modules, "mpconnxr.io.session" in sys.modules)
"""
    first, kernels, others = small.lines(target, script, m=relu)
    assert first == "['mpconnxr', 'mpconnxr.turn']"
    # Loops that are written once have no module in their plain form: forms compiles the source.
    program = {"unix": "viper64.program", "unix32": "viper.program"}
    loops = ["relu"] if target.viper else []
    loops.append(program.get(target.name, "program"))
    results = [f"mpconnxr.loops.{name}" for name in loops] + ["mpconnxr.ops.relu"]
    assert kernels == str(sorted(results))
    assert others == "False False"


@every_target
@pytest.mark.parametrize(
    "source", ["'m.bin'", "open('m.bin', 'rb')", "open('m.bin', 'rb').read()"]
)
def test_every_call_of_a_closed_model_is_refused(target, source):
    script = f"""
import mpconnxr
x = [0.0] * 60
m = mpconnxr.load({source})
m.run(x)
m.close()
m.close()
def done(id, result):
    raise result
def submitted():
    m.submit(x, 1, done)
    while m.poll():
        pass
for call in (
    lambda: m.run(x), lambda: m.run(), lambda: m.run(x, 1000), lambda: m.benchmark(1),
    lambda: m.profile(x), lambda: m.run_async(x).send(None), submitted,
):
    try:
        call()
        print("ran")
    except mpconnxr.UnsupportedError as e:
        print(e)
    except mpconnxr.MpconnxrError as e:
        print(type(e).__name__, str(e))
m.reset()
print(m.inputs[0].shape, len(mpconnxr.load("m.bin").run(x)))
"""
    data = small.binary(small.mixed(), strip=False)
    *printed, last = small.lines(target, script, m=data)
    allowed = {"MpconnxrError the model was closed: load it again", "this firmware has no asyncio"}
    assert len(printed) == 7 and set(printed) <= allowed and last == "(1, 2, 5, 6) 1"


@every_target
def test_a_closed_file_is_named(target):
    script = """
import mpconnxr
file = open("m.bin", "rb")
m = mpconnxr.load(file)
m.run([0.0] * 60)
file.close()
try:
    m.run([0.0] * 60)
except mpconnxr.MpconnxrError as e:
    print(e)
"""
    data = small.binary(small.mixed(), strip=False)
    assert small.lines(target, script, m=data) == ["the model's file was closed"]
