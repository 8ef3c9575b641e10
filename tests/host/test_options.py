"""Options that must not change a model's outputs do not change a bit of them.

Random models are converted with other options, and run in all modes: see tests/device/options.py.
Their outputs are right, too: in the default mode they are onnxruntime's.
"""

import os
import re

import pytest

from tests.host.device import small
from tests.host.option_models import RANDOM, Subject, layers
from tests.host.program import programs
from tools.converter.kernel_list import kernels
from tools.program import cores
from tools.program.bundle import has_form
from tools.program.call import CannotRecord

LONG = os.environ.get("MPCONNXR_LONG") == "1"
SCRIPT = (small.SCRIPTS / "options.py").read_text()
TARGETS = ("unix", "unix32", "unix-plain")
A_PROCESS = 40  # models
HEAP = 64 << 20


def program_of(subject: Subject, target):
    """Return (program, True if it is for two cores); None if there is none."""
    machine, data = programs.machine_of(target), subject.files[""]
    try:
        pair = cores.record_pair(data, lambda *form: has_form(machine, *form))
        if pair:
            return programs.made_for_two(data, machine, pair), True
        return programs.made(data, target), False
    except CannotRecord:
        return None


def digests(target, subjects: list[Subject]) -> dict[str, dict[str, str]]:
    """Return {name: {mode: digest}} as a target prints it, models run in one process."""
    bundles, files, lines = {}, {}, []
    for each in subjects:
        modes = [mode for mode in each.files if mode]
        if made := program_of(each, target):
            bundles[made[0].name] = made[0]
            modes += ["cores"] * made[1]
        for mode, data in each.files.items():
            files[f"{each.name}.{mode}.bin" if mode else f"{each.name}.bin"] = data
        files[f"{each.name}.x"] = each.raw
        lines.append(" ".join([each.name, *modes]))
    files["models"] = "\n".join(lines).encode()
    files["mpconnxr"] = programs.package(list(bundles.values()))
    completed = target.run(SCRIPT, files=files, timeout=600, heap=HEAP)
    assert completed.returncode == 0 and not completed.stderr, (
        completed.stdout[-2000:] + completed.stderr
    )
    result: dict[str, dict[str, str]] = {each.name: {} for each in subjects}
    for line in completed.stdout.splitlines():
        name, mode, digest = line.split(" ", 2)
        result[name][mode] = digest
    return result


def faults_of(each: Subject, results: dict[str, str]) -> list[str]:
    """Return the modes whose bits differ from a run in place, and "right" if that is wrong."""
    expected = results["in-place"]
    wrong = [mode for mode in results if results[mode] != (expected if mode != "right" else "yes")]
    return [f"{each.name} {sorted(each.kernels)}: {mode}: {results[mode]}" for mode in wrong]


def in_batches(subjects):
    batch = []
    for each in subjects:
        batch.append(each)
        if len(batch) == A_PROCESS:
            yield batch
            batch = []
    if batch:
        yield batch


def check(targets, subjects: list[Subject]) -> None:
    """Run models in all modes on all targets, and check that these agree."""
    faults, n = [], 0
    for batch in in_batches(subjects):
        results = {t.name: digests(t, batch) for t in targets}
        for each in batch:
            of_targets = {name: printed[each.name] for name, printed in results.items()}
            for name, printed in of_targets.items():
                n += len(printed) - 1
                faults += [f"{name}: {fault}" for fault in faults_of(each, printed)]
            faults += disagreements(each, {k: v["in-place"] for k, v in of_targets.items()})
    print(f"{n} comparisons")
    assert not faults, "\n".join(faults)


def disagreements(each: Subject, results: dict[str, str]) -> list[str]:
    """Return the targets whose digests differ from the first one's."""
    if each.kernels & BY_FLOATS or any(lacks_doubles(d) for d in results.values()):
        results = {name: d for name, d in results.items() if name != "unix32"}
    # messages show floats of as many digits as the firmware's floats have
    first, *others = ((name, _short_floats(d)) for name, d in results.items())
    wrong = [other for other in others if other[1] != first[1]]
    return [f"{each.name} {sorted(each.kernels)}: {first} but {other}" for other in wrong]


def _short_floats(text: str) -> str:
    return re.sub(r"\d+\.\d+", lambda m: f"{float(m[0]):.5g}", text)


def lacks_doubles(digest: str) -> bool:
    return digest.startswith("UnsupportedError needs float64")


# Kernels of no file that is run here.
UNREACHED = {
    # strings and maps are Python's objects
    "dict_vectorizer",
    "string_format",
    "string_gather",
    "string_join",
    "string_match",
    "string_normalizer",
    "string_parse",
    "string_pick",
    "string_reshape",
    "string_select",
    "string_split",
    "string_tokenize",
    "zip_map",
}
FEW = ("floats", "layer-conv", "convs", "unrolled")


# They compute with MicroPython's floats in some uses: of 64 bits on unix, of 32 on boards. All
# others give the same bits everywhere.
BY_FLOATS = {
    *("activation", "average_pool", "class_pair", "conv", "deform_conv", "det", "dynamic_lstm"),
    *("formula", "gemm", "gru", "lstm", "matmul_nbits", "normalize", "power", "random", "rnn"),
    *("score_transform", "svm_proba", "unary", "window"),
}


@pytest.fixture
def targets(ready_target):
    return [ready_target(name) for name in TARGETS]


@pytest.mark.slow
def test_random_models_keep_their_bits(targets):
    seeds = range(5) if LONG else (2,)
    check(targets, [RANDOM[name](seed) for seed in seeds for name in (RANDOM if LONG else FEW)])


@pytest.mark.slow
def test_layers_of_each_kernel_keep_their_bits(targets):
    """A few of each kernel run, and one that gathers its output in parts."""
    results = list(layers(4 if LONG else 1))
    last = [each for each in results if "non_max_suppression" in each.kernels]
    check(targets, results if LONG else [*results[::20], *last[:1]])


def test_layers_reach_all_kernels():
    reached = set().union(*(each.kernels for each in layers(16)))
    assert set(kernels()) - reached == UNREACHED
