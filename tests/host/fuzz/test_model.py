"""Damaged model files end in an error at worst, and the fuzzer finds planted faults."""

import json
import subprocess
import sys
from random import Random

import pytest

from tests.fuzz import batch, campaign, modelfile, programs, seeds
from tests.fuzz.campaign import Plan
from tests.fuzz.case_format import BENEATH, LETTERS
from tests.host.device import small
from tests.host.fuzz import planted
from tools.micropython import GUARD_TARGETS, get_target

CASES = 960  # on each target, some ten a kernel
guard_targets = pytest.mark.parametrize("target", GUARD_TARGETS[:2], indirect=True)


@pytest.fixture(scope="module")
def collection():
    return seeds.collection()


def test_every_kernel_has_seeds(collection):
    assert set(collection) == set(seeds.kernels())
    assert all(kernel in s.kernels for kernel, some in collection.items() for s in some)


def test_files_are_written_as_they_were_read(collection):
    all_seeds = {s.name: s.data for some in collection.values() for s in some}
    for name, data in all_seeds.items():
        file = modelfile.read(data)
        whole = file.data()
        assert modelfile.read(whole) == file, name
        assert whole == data, name


def test_the_same_seed_makes_the_same_cases(collection):
    seed = collection["block_gemm"][0].data
    some, again, others = (batch.make_cases(seed, 50, Random(n)) for n in (1, 1, 2))
    assert some == again != others
    assert len({case.data for case in some}) > 40


@pytest.mark.slow
@guard_targets
@pytest.mark.parametrize("kernel", planted.KERNELS)
def test_planted_faults_are_found(target, tmp_path, kernel):
    seed = planted.model(kernel)
    n = 400 if kernel == "planted_endless" else 1000  # an endless one takes its time each time
    cases = batch.make_cases(seed, n, Random(kernel))
    ended = batch.run(target, seed, cases, planted.package(tmp_path), limit_ms=300)
    assert not ended.seed_fault and len(ended.letters) == len(cases)
    results = {fault.kind for fault in ended.faults if fault.where == f"run 0 {kernel}"}
    if LETTERS[BENEATH] in ended.letters:
        results.add(planted.BENEATH)
    assert results & planted.KERNELS[kernel][2], ended


@guard_targets
def test_a_fault_is_saved_and_repeated(target, tmp_path):
    seed = planted.model("planted_after")
    cases = batch.make_cases(seed, 200, Random(1))
    package = planted.package(tmp_path)
    ended = batch.run(target, seed, cases, package)
    fault = ended.faults[0]
    task = campaign.Task(Plan(target.name, 200), "0-0-0", "planted_after", None, 200)
    result = campaign.Result()
    result.add(task, cases, ended)
    paths = campaign.save_finds(result.finds, tmp_path / "finds")
    about = json.loads(paths[0].with_suffix(".json").read_text())
    assert about["case"]["changes"] and about["fault"]["kind"] == result.finds[0].fault.kind
    again = batch.run(target, seed, [batch.Case(paths[0].read_bytes(), **about["case"])], package)
    assert [f.kind for f in again.faults] == [fault.kind] or fault.number != 0


@pytest.mark.slow
@guard_targets
def test_damaged_files_do_no_harm(target, collection, tmp_path):
    result = campaign.run_part(Plan(target.name, CASES, seed=1), 0, collection)
    campaign.save_finds(result.finds, tmp_path)
    assert not result.classes and not result.seed_faults, f"see {tmp_path}"
    total = campaign.summed([result.as_json()])["total"]
    assert total["cases"] == CASES
    # Both ends are reached: checks refuse, and what they let pass really runs. Of many cases 22 %
    # run, of so few as these that minus or plus 1.3 %: a sixth is four times that below.
    assert total["ran"] > CASES // 6 and total["refused_at_load"] > CASES // 6


@guard_targets
def test_damaged_programs_do_no_harm(target, tmp_path):
    data = small.binary(small.mixed())
    package = tmp_path / "mpconnxr"
    cases, faults = programs.deployed(
        batch.make_cases(data, 90, Random(1)), target, package, Random(2)
    )
    made = list((package / "programs").glob("*.py"))
    assert not faults and len(made) > 10
    ended = batch.run(target, data, cases, package)
    assert not ended.faults and not ended.seed_fault
    letters = {change: set() for case in cases for change in case.changes}
    for case, letter in zip(cases, ended.letters, strict=True):
        for change in case.changes:
            letters[change].add(letter)
    assert letters[programs.ANOTHER] == {LETTERS[1]} and LETTERS[0] in ended.letters


@pytest.mark.slow
def test_parts_are_resumed_and_summed(ready_target, tmp_path):
    ready_target("unix-guard")
    command = [
        *(sys.executable, "-m", "tests.fuzz", "model", "--kernel", "relu", "--cases", "120"),
        *("--parts", "2", "--results", str(tmp_path), "--resume"),
    ]
    first = subprocess.run(command, capture_output=True, text=True)
    assert first.returncode == 0, first.stdout + first.stderr
    files = sorted(tmp_path.glob("*.json"))
    assert len(files) == 2
    written = [path.stat().st_mtime_ns for path in files]
    subprocess.run(command, check=True, capture_output=True)
    assert [path.stat().st_mtime_ns for path in files] == written
    command = [sys.executable, "-m", "tests.fuzz", "summary", *map(str, files)]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "fuzz: 120 cases of 1 kernels" in completed.stdout


def test_boards_run_cases_in_one_process(ready_target, collection):
    """A crash costs one case, not those behind it."""
    target = ready_target("mps2-an385")
    seed = collection["relu"][0].data
    cases = batch.make_cases(seed, 20, Random(3))
    ended = batch.run(target, seed, cases)
    assert len(ended.letters) == 20 and not ended.faults
    on_unix = batch.run(get_target("unix-guard"), seed, cases)
    assert set(ended.letters) == set(on_unix.letters)
