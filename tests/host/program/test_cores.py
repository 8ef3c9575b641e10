"""Programs for two cores give one core's bytes, whichever core is first, and none hangs."""

import numpy as np
import pytest

from mpconnxr import forms
from tests.host import zoo
from tests.host.device import small
from tests.host.device.small import floats, value
from tests.host.loop_calls import calls
from tests.host.ops.recurrent_case import GATES, model_of
from tests.host.program import programs
from tests.host.program.test_models import LONG
from tests.host.test_loop_access import watched
from tools.bench.two_cores import count
from tools.converter.convert import Options, convert
from tools.converter.quantize.settings import Settings
from tools.deploy.errors import DeployError
from tools.deploy.model_file import parse_model
from tools.deploy.modules import Package
from tools.machine import Machine
from tools.program import cores
from tools.program.build import build, plan_deployment
from tools.program.bundle import has_form
from tools.program.call import UNKNOWN, Call, Loop, Part, Place
from tools.program.touched import _EXACT

SCRIPT = (small.SCRIPTS / "cores.py").read_text()
TARGETS = ("unix", "unix32", "unix-plain")
ZOO = {"mlperf_kws_dscnn_int8": 3, "digits_cnn_qdq_s8": 20}
MORE = ("digits_cnn_dynq", "tinymaix_mnist_resnet_int8", "transformer_geltanh_f32")
MORE += ("silero_vad_16k_ifless", "mlperf_vww_mobilenet_int8", "mobilenetv3ish_96_f32")
ZOO |= dict.fromkeys(MORE, 3) if LONG else {}
N_RUNS = 2000 if LONG else 25


def pair_of(data, target, stream=False):
    machine = programs.machine_of(target)
    result = cores.record_pair(data, lambda *form: has_form(machine, *form), stream)
    assert result, "no step of it is cut"
    return result


def made(data, target, stream=False):
    pair = pair_of(data, target, stream)
    return programs.made_for_two(data, programs.machine_of(target), pair)


def network():
    """Return an int8 network: convolutions, some with strides, an average and a Gemm."""
    nodes = [
        ("Conv", "x w0", "a", {"pads": [1, 1, 1, 1]}),
        ("Relu", "a", "b", {}),
        ("Conv", "b w1", "c", {"pads": [1, 1, 1, 1], "group": 12, "strides": [2, 2]}),
        ("Conv", "c w2", "d", {}),
        ("Relu", "d", "e", {}),
        ("Conv", "e w3", "f", {"pads": [1, 1, 1, 1], "group": 12}),
        ("GlobalAveragePool", "f", "g", {}),
        ("Flatten", "g", "h", {}),
        ("Gemm", "h w4", "y", {}),
    ]
    return small.model(
        nodes,
        [value("x", (1, 3, 16, 14))],
        [value("y", (1, 40))],
        w0=floats(12, 3, 3, 3),
        w1=floats(12, 1, 3, 3, seed=2),
        w2=floats(12, 12, 1, 1, seed=3),
        w3=floats(12, 1, 3, 3, seed=4),
        w4=floats(12, 40, seed=5),
    )


SAMPLES = [floats(1, 3, 16, 14, seed=k) for k in range(8)]


def settings():
    return Settings(samples=[{"x": x} for x in SAMPLES])


@pytest.fixture(scope="module")
def model():
    """Return the network's file, and two inputs."""
    converted = convert(network(), Options(strip=True, quantize=settings()))
    return converted.data, [[x] for x in SAMPLES[:2]]


def check(target, models, stream=False):
    """Compare models {name: (data, samples, runs)} on two cores with the kernels."""
    bundles, files, lines = [], {}, []
    for name, (data, samples, runs) in models.items():
        bundles.append(made(data, target, stream))
        files[f"{name}.bin"] = data
        for k, x in enumerate(samples):
            files[f"{name}.bin.{k}"] = b"".join(np.ascontiguousarray(a).tobytes() for a in x)
        kind = "STREAMED" if stream else "IN_PLACE"
        lines.append(f"{name}.bin {kind} {len(samples)} {runs}\n")
    files["models"] = "".join(lines).encode()
    printed = programs.run(target, SCRIPT, bundles, files)
    assert len(printed) == len(models)
    for line in printed:
        *message, grown = line.split()[1:]
        assert message == ["Program", "one=True", "turned=True", "two=True"], line
        # where words have 32 bits, as on boards, it is machine code that makes the calls
        assert grown == "0" or target.name != "unix32", line


@pytest.mark.parametrize("stream", [False, True], ids=["in_place", "streamed"])
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_two_cores_give_the_bytes_of_the_kernels(target, model, stream):
    check(target, {"network": (*model, 3 if target.name == "unix-plain" else N_RUNS)}, stream)


@zoo.needs_zoo
@pytest.mark.parametrize("target", ("unix", "unix32") if LONG else ("unix32",), indirect=True)
def test_models_of_the_collection_give_the_same_bytes(target):
    check(target, {name: of_zoo(name, runs) for name, runs in ZOO.items()})


def of_zoo(name, runs):
    data = convert(zoo.model_path(name), Options(strip=True)).data
    return data, [zoo.sample(name, 0, "input")], runs * (20 if LONG else 1)


HEAD = """
import mpconnxr
from mpconnxr import cores

def attempt(what, *args, **keywords):
    try:
        return what(*args, **keywords)
    except BaseException as e:
        print(type(e).__name__, e)

data = bytearray(open("model.bin", "rb").read())
x = [open("x%d" % k, "rb").read() for k in range(2)]
one = mpconnxr.load(data)

def right(model):
    wanted = [bytes(one.run(v)[0].view("B")) for v in x]
    return [bytes(model.run(v)[0].view("B")) for v in x] == wanted != [wanted[1]] * 2

"""
FAULTS = """
run, which = cores.run, []

def faulty(what):
    if which and what is which[0]:
        raise which[1]
    return run(what)

cores.run = faulty
model = mpconnxr.load(data, cores=2)
print(right(model))
for what in (model._second, model._what):
    for error in (ValueError("a fault"), KeyboardInterrupt(), mpconnxr.InputError("an input")):
        which[:] = what, error
        attempt(model.run, x[0])
        which.clear()
        print(right(model), cores.shared[3] == cores.shared[4])
which[:] = model._second, MemoryError()
attempt(model.run, x[0])
"""


def run(target, model, script, stream=False):
    data, samples = model
    files = {"model.bin": data, **{f"x{k}": x[0].tobytes() for k, x in enumerate(samples)}}
    return programs.run(target, HEAD + script, [made(data, target, stream)], files)


@pytest.mark.parametrize("target", ("unix", "unix32"), indirect=True)
def test_an_exception_of_either_core_reaches_the_caller(target, model):
    """The next run is right. The script ends while the thread is still there."""
    printed = run(target, model, FAULTS)
    message = ["ModelError a step cannot compute what the file asks for; or a short stack"]
    message += ["KeyboardInterrupt ", "InputError an input"]
    each = [line for error in message for line in (error, "True True")]
    assert printed[:13] == ["True", *each, *each]
    assert printed[13].startswith("UnsupportedError not enough memory") and len(printed) == 14


MODELS = """
print(cores.box[2])
a = mpconnxr.load(data, cores=2)
b = mpconnxr.load(data, cores=2)
print(cores.box[2], right(a), right(b), right(a))
a.close()
attempt(a.run)
print(cores.box[2], right(b))
b.close()
b.close()
print(cores.box[2])
attempt(b.run, x[0])
for _ in range(3):
    a = mpconnxr.load(data, cores=2)
    print(cores.box[2], right(a))
    a.close()
print(cores.box[2], right(one))
"""


@pytest.mark.parametrize("target", ("unix", "unix32"), indirect=True)
def test_models_share_the_second_core_until_they_are_closed(target, model):
    closed = "MpconnxrError the model was closed: load it again"
    expected = ["0", "1 True True True", closed, "1 True", "0", closed]
    assert run(target, model, MODELS) == [*expected, *["1 True"] * 3, "0 True"]


METHODS = """
from mpconnxr.slices import slices

model = mpconnxr.load(data, cores=2)
wanted = bytes(model.run(x[0])[0].view("B"))
model.run(x[1])
n = len(list(slices(model).run(x[0], 1)))
print(bytes(model.outputs[0].view("B")) == wanted)
model.run(x[1])
found = model.profile(x[0], runs=2)
numbers = [s.step for s in mpconnxr.load(data, prefer="plain").profile(x[0]).steps]
print(bytes(model.outputs[0].view("B")) == wanted, [s.step for s in found.steps] == numbers)
model.run(x[1])
print(model.benchmark(3, x[0]).n, bytes(model.outputs[0].view("B")) == wanted)
model.run(x[0], deadline_us=10)
print(bytes(model.outputs[0].view("B")) == wanted, right(model))
"""


@pytest.mark.parametrize("stream", [False, True], ids=["in_place", "streamed"])
@pytest.mark.parametrize("target", ("unix32",), indirect=True)
def test_all_methods_that_run_use_two_cores(target, model, stream):
    assert run(target, model, METHODS, stream) == ["True", "True True", "3 True", "True True"]


REFUSED = """
attempt(mpconnxr.load, data, cores=3)
attempt(mpconnxr.load, data, cores=2, prefer="plain")
cores._PORTS = ()
attempt(mpconnxr.load, data, cores=2)
cores._PORTS = ("linux",)
model = mpconnxr.load(data, cores=2)
print(right(model))
"""
ONE = """
attempt(mpconnxr.load, data, cores=2)
print(type(mpconnxr.load(data)).__name__)
"""


@pytest.mark.parametrize("target", ("unix", "unix32"), indirect=True)
def test_unsupported_models_are_refused(target, model):
    kernels = "UnsupportedError cores=2: only for a program that was made with --cores 2"
    port = "UnsupportedError cores=2: on an RP2040 or RP2350, not on linux"
    assert run(target, model, REFUSED) == ["InputError cores: 1 or 2", kernels, port, "True"]
    files = {"model.bin": model[0], "x0": b"", "x1": b""}
    one = "UnsupportedError cores=2: the program is for one core: make it with --cores 2"
    program = programs.made(model[0], target)
    assert programs.run(target, HEAD + ONE, [program], files) == [one, "Program"]
    script = HEAD.replace("one = ", "# ") + "attempt(mpconnxr.load, data, cores=2)"
    assert programs.run(target, script, [], files) == [kernels]


@pytest.mark.parametrize(("family", "name", "argument"), _EXACT)
def test_elements_of_strided_tensors_cover_the_accesses(family, name, argument):
    """All accesses of a plain loop are among them, and they are more precise than a range.

    All elements of an output are written, so that copies of it are complete.
    """
    plain, is_apart = getattr(forms.get(family, "plain"), name), False
    for call in calls(family, name, 40):
        buffers: dict = {}
        loop_call = [watched(key, what, buffers) for key, what in call.items()]
        elements = set(_EXACT[family, name, argument](list(call["p"])).tolist())
        plain(*loop_call)
        results = set().union(*buffers[argument].touched.values())
        assert results == elements if argument == "out" else results <= elements, call
        is_apart |= bool(elements) and len(elements) < max(elements) - min(elements) + 1
    assert is_apart


def step(*calls_of):
    """Return calls of a loop that copies bytes: (first of x, first of out, how many)."""
    return [
        Call(
            Loop("lookup", "lookup8"),
            (
                Place("arena", x, "B", 1000),
                Place("file", 0, "B", 256),
                Place("arena", out, "B", 1000),
                Part(0, 0, 2),
            ),
            {0: [0, n]},
        )
        for x, out, n in calls_of
    ]


@pytest.mark.parametrize(
    ("one", "two", "are_apart"),
    [
        ((0, 100, 10), (10, 110, 10), True),
        ((0, 100, 10), (10, 109, 10), False),  # both write
        ((0, 100, 10), (100, 110, 10), False),  # the second one reads what the first one writes
        ((0, 100, 10), (10, 5, 5), False),  # and the other way around
        ((0, 100, 10), (0, 110, 10), True),  # both read
    ],
)
def test_overlapping_halves_are_found(one, two, are_apart):
    assert cores._are_independent([step(one)], [step(two)]) is are_apart
    assert (
        cores._are_independent([step(one), step(one)], [step((0, 500, 1)), step(two)]) is are_apart
    )


def test_undeclared_accesses_count_as_overlapping():
    unknown = step((0, 100, 10))
    unknown[0].words[0][1] = UNKNOWN
    assert not cores._are_independent([unknown], [step((10, 110, 10))])
    driver = Call(Loop("pieces", "pieces"), (Part(0, 0, 16), ()), {0: [0] * 16})
    assert not cores._are_independent([[driver]], [step((10, 110, 10))])


def test_scratch_of_the_other_half_is_not_read():
    scratch = [(200, 20), (240, 10)]
    fill, use = (0, 200, 20), (200, 300, 20)
    assert cores._reads_own_scratch([step(fill, use), step(fill, use, use)], scratch)
    assert not cores._reads_own_scratch([step(use, fill)], scratch)
    assert not cores._reads_own_scratch([step(fill, use), step(use)], scratch)
    assert not cores._reads_own_scratch([step((0, 200, 19), use)], scratch)
    assert not cores._reads_own_scratch([step(fill, (245, 300, 1))], scratch)
    assert cores._reads_own_scratch([step((220, 300, 20))], scratch)
    assert cores._reads_own_scratch([step(fill, use)], [])


def emitted(*calls):
    """Return calls of step(), each with its place among those that a kernel emitted."""
    made = step(*[call for _, call in calls])
    for call, (nth, _) in zip(made, calls, strict=True):
        call.origin = (0, nth, 0)
    return made


def test_a_part_begins_with_one_cores_state():
    """Each part computes the initial state, which some elements may change."""
    scratch = [(200, 30)]
    begin = 0, (0, 200, 10)
    one, two = (1, (200, 300, 10)), (2, (200, 310, 10))
    changed = 1, (50, 200, 10)
    assert cores._find_same_scratch([emitted(begin, one), emitted(begin, two)], scratch)
    assert not cores._find_same_scratch([emitted(begin, changed), emitted(begin, two)], scratch)
    beside = 1, (50, 210, 10)
    assert cores._find_same_scratch([emitted(begin, beside), emitted(begin, two)], scratch)
    both = 2, (205, 310, 10)  # a half of it what the first part left
    assert not cores._find_same_scratch([emitted(begin, beside), emitted(begin, both)], scratch)
    from_begin = 2, (200, 215, 5)
    assert cores._find_same_scratch(
        [emitted(begin, from_begin), emitted(begin, from_begin)], scratch
    )
    parts = [emitted(begin, changed, from_begin), emitted(begin, from_begin, two)]
    assert not cores._find_same_scratch(parts, scratch)
    assert cores._find_same_scratch([step(begin[1]), step(begin[1])], scratch)  # emits none


@pytest.mark.parametrize("n_steps", [1, 4])
@pytest.mark.parametrize("op", GATES)
def test_the_last_states_of_a_batch_are_not_split(ready_target, op, n_steps):
    """They are copied behind the last sequence, from scratch that all sequences wrote."""
    x, w, r = floats(n_steps, 3, 8), floats(1, 24 * GATES[op], 8), floats(1, 24 * GATES[op], 24)
    values = {"X": x, "W": w, "R": r}  # weights that a run brings are multiplied as floats
    model = model_of(op, values, [], ["", "Y_h"], 14, {"hidden_size": 24})
    data = convert(model, Options(strip=True)).data
    machine = programs.machine_of(ready_target("unix"))
    pair = cores.record_pair(data, lambda *form: has_form(machine, *form))
    assert pair is None or 0 not in pair.cut


def test_words_written_in_the_other_half_are_not_needed():
    one, two = step((0, 100, 10)), step((10, 110, 10))
    assert cores._have_same_parameters(([one], [two]), [one, two])
    changed = step((10, 110, 10))
    changed[0].words[0][1] = UNKNOWN
    assert not cores._have_same_parameters(([one], [two]), [one, changed])
    assert cores._have_same_parameters(([one], [changed]), [one, changed])


def test_an_output_over_its_input_is_split_in_waves():
    """Elements of 4 bytes become single bytes: each wave is four times as long as the last."""
    units = [step((4 * i, 1000 + 4 * i, 4), (1000 + 4 * i, i, 1)) for i in range(64)]
    assert cores._divide_into_waves(units, []) == [(0, 1, 1), (1, 3, 4), (4, 10, 16), (16, 40, 64)]
    units[9] += step((0, 2000, 1))  # reads what the first item wrote, long before
    assert cores._divide_into_waves(units, [])[:3] == [(0, 1, 1), (1, 3, 4), (4, 10, 16)]
    behind = [step((4 * i, 1000 + i, 4)) for i in range(64)]
    assert cores._divide_into_waves(behind, []) == [
        (0, 64, 64)
    ]  # each writes what the next one does


def test_units_cover_a_long_extent():
    """They are contiguous, and not too many to examine."""
    for n in (1, 511, 512, 513, 1025, 74_867):
        units = cores._Units(0, {0: cores._Plan()}, 0, 0).parts(0, n)
        assert [end for _, end in units[:-1]] == [first for first, _ in units[1:]]
        assert (units[0][0], units[-1][1]) == (0, n) and len(units) <= 512


@pytest.mark.slow
@pytest.mark.parametrize("name", ["network", "mlperf_kws_dscnn_int8", "mlperf_vww_mobilenet_int8"])
def test_the_longest_path_is_shorter_than_one_core(ready_target, name):
    """Counts instructions of ARMv6-M; in the small network a step in waves counts more."""
    ready_target("mps2-an385-v6m")
    if name == "network":
        converted = convert(network(), Options(strip=True, quantize=settings()))
    elif name in zoo.models():
        converted = convert(zoo.model_path(name), Options(strip=True))
    else:
        pytest.skip("the model collection is absent")
    result = count(converted, "mps2-an385-v6m")
    print(f"{name}: {result.critical} of {result.one}, {result.hand_over} of them to hand over")
    assert result.hand_over < 32_000
    assert result.critical <= (0.68 if name == "network" else 0.56) * result.one


def test_a_board_gets_the_files_for_two_cores(model):
    """The board is a Pico; a model that cannot use two cores gets the files for one."""
    machine = Machine.for_arch("armv6m")
    files = build(model[0], machine, stream=True, n_cores=2).files
    one = build(model[0], machine, stream=True).files
    assert set(files) == set(one) | {"mpconnxr/cores.mpy"}
    deployment = plan_deployment(
        parse_model("m.bin", model[0]), Package(), machine, False, n_cores=2
    )
    assert deployment.is_program and "on 2 cores" in deployment.summary
    floats_alone = parse_model("m.bin", convert(small.relu((1, 1)), Options(strip=True)).data)
    for given, why in ((machine, "no step can be cut"), (None, "sources")):
        with pytest.raises(DeployError, match=f"cannot run on 2 cores.*{why}"):
            plan_deployment(floats_alone, Package(), given, False, n_cores=2)
