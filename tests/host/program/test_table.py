"""Programs as bytes: what is encoded, and what forms of loops/program and boards make of it.

1. All forms of loops/program read the same arguments of calls from a program's bytes.
2. Sizes, bytes and errors are what the docstring of tools/program/table.py says.
3. A board makes the same table of a model as the host.
4. A table makes the calls that were recorded, which are those that were proved.
"""

import random
from struct import calcsize

import pytest

from mpconnxr.build.loader import Loader
from mpconnxr.build.reader import Reader
from mpconnxr.errors import MpconnxrError
from mpconnxr.loops.program import advance
from tests.device import tables as of_boards
from tests.fuzz import seeds
from tests.host.device import small
from tools import package
from tools.machine import Machine
from tools.program.bundle import has_form
from tools.program.call import (
    UNKNOWN,
    Call,
    CannotRecord,
    Loop,
    Part,
    Place,
    Read,
    Recording,
    StepCalls,
    Value,
)
from tools.program.record import record
from tools.program.table import MEMORIES, Slice, View, table, table_of

SCRIPT = (small.SCRIPTS / "program_forms.py").read_text()
TARGETS = ("unix", "unix32", "unix-plain", "mps2-an385", "mps2-an385-v6m", "virt-rv32")


def recording(steps):
    return Recording(
        [StepCalls(str(i), calls) for i, calls in enumerate(steps)], 0, 0, (0, 0), (), (), 0
    )


def call(name, elements, words, block=0, listed=(), changed=()):
    """Return a call of a loop with views of float32 and a block of words.

    Views begin at `items`; with views in a list, which begin at `listed`, the loop is a driver. It
    writes the words `changed`.
    """
    places = tuple(Place("arena", 4 * element, "f", 9) for element in (*elements, *listed))
    whole = Part(block, 0, len(words))
    arguments = (whole, (whole, *places)) if listed else (*places, whole)
    return Call(Loop("family", name), arguments, {block: list(words)}, {block: list(changed)})


def random_steps(rng):
    """Return steps whose calls repeat, grow by constants, or keep what a loop wrote."""
    steps = []
    for _ in range(rng.randint(1, 6)):
        calls = []
        base = [rng.choice([rng.randint(-70, 70), rng.randint(-(1 << 31), (1 << 31) - 1)])]
        base += [rng.randint(0, 1 << 29) for _ in range(rng.randint(0, 40))]
        elements = [rng.randint(0, 1 << 20) for _ in range(3)]
        listed = [rng.randint(0, 1 << 20) for _ in range(rng.choice((0, 0, 1, 2, 5)))]
        growth = [rng.randint(-3, 3) for _ in base]
        for k in range(rng.randint(1, 30)):
            block, words = (
                k,
                [
                    wrapped(b + i * g)
                    for b, g, i in zip(base, growth, [k] * len(base), strict=True)
                ],
            )
            if k and not listed and rng.random() < 0.2:
                block = next(iter(calls[-1].words)) if isinstance(calls[-1], Call) else k
            if block != k:  # that of the call before
                words = [UNKNOWN, *calls[-1].words[block][1:]]
            changed = [0] if listed and rng.random() < 0.5 else []
            results = [i + k * rng.choice((0, 1)) for i in listed]
            places = [i + k for i in elements]
            calls.append(call(f"loop{len(base)}", places, words, block, results, changed))
            if rng.random() < 0.1:
                calls.append(Read(rng.randint(0, 60000)))
        steps.append(calls)
    return steps


def wrapped(value):
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def expected(steps):
    """Yield (loop, elements of its buffers, words: None if a loop wrote it); a read's code."""
    for each in [each for calls in steps for each in calls]:
        if isinstance(each, Read):
            yield 256 + each.chunk
            continue
        [words] = each.words.values()
        places = [a for b in each.arguments for a in (b if isinstance(b, tuple) else (b,))]
        elements = [place.offset // 4 for place in places if isinstance(place, Place)]
        yield each.loop, elements, [None if word is UNKNOWN else word for word in words]


def read_from(made, line):
    """Return the call that a board printed in a line, in the form of expected()."""
    k, *numbers = [int(field) for field in line.split()]
    if k > 239:
        return k
    places, words = numbers[: len(made.views)], numbers[len(made.views) :]
    loop, *arguments = made.entries[k]
    if loop.name == "of_two":  # of a driver: it calls loop(block, (block, *views))
        block, (_, *views), loop, _ = arguments
    else:
        *views, block = arguments
    elements = [places[view.number] for view in views if isinstance(view, View)]
    return loop, elements, words[block.first : block.last]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_forms_read_what_was_written(target):
    rng = random.Random(17)
    files, lines, tables = {"mpconnxr": package.folder()}, [], []
    for i in range(40):
        steps = random_steps(rng)
        made = table_of(recording(steps))
        tables.append((steps, made))
        files[f"{i}.code"] = made.code
        files[f"{i}.before"] = made.before
        calls = sum(map(len, steps))
        lines.append(f"{i} {len(made.views)} {made.n_words} {calls}\n")
    files["programs"] = "".join(lines).encode()
    printed = small.run(target, SCRIPT, files, timeout=600).splitlines()
    assert printed[0] in ("plain", "viper64", "viper", "thumb")
    parts = "\n".join(printed[1:]).split("\nend")
    for (steps, made), part in zip(tables, parts, strict=False):
        runs = iter(part.strip("\n").splitlines())
        for _ in range(2):
            for written in expected(steps):
                result = read_from(made, next(runs))
                if isinstance(written, tuple):
                    words = zip(written[2], result[2], strict=True)
                    assert result[:2] == written[:2] and all(a in (None, b) for a, b in words)
                else:
                    assert result == written
            assert next(runs) == "255"
        assert not list(runs)


def code_of(*steps):
    return table_of(recording(steps)).code


def test_repeated_calls_are_stored_once():
    calls = [call("a", [k, 2 * k, 0], [5, 3 * k], k) for k in range(1000)]
    assert len(code_of(calls)) < 50
    inner = [call("a", [k % 7, 0, 0], [k // 7], k) for k in range(7 * 300)]
    assert len(code_of(inner)) < 130


def test_words_that_a_driver_leaves_are_set_again():
    left = [call("a", [], [1, 2], k, listed=[0], changed=[1]) for k in range(2)]
    kept = [call("a", [], [1, 2], k, listed=[0]) for k in range(2)]
    assert len(code_of(left)) > len(code_of(kept))


def test_a_block_that_nobody_has_set_is_refused():
    with pytest.raises(CannotRecord, match="that another call's loop wrote"):
        code_of([call("a", [0, 0, 0], [1, UNKNOWN])])


def test_too_many_kinds_of_calls_are_refused():
    calls = [call(f"loop{i}", [0, 0, 0], [0], i) for i in range(241)]
    with pytest.raises(CannotRecord, match="more kinds of calls"):
        code_of(calls)


def test_bytes_are_encoded_as_the_docstring_says():
    made = table_of(recording([[call("a", [3, 3, 5], [-1]), call("a", [3, 3, 5], [-2], 1)]]))
    # A run begins with what changes: words 0 and 1 are of views, 2 is unused, 3 is the block's;
    # entry 0 as it is at first, the end of that; then -1 more; the end of both
    assert made.code == bytes([252, 49, 3, 0, 0, 0, 0, 49, 2, 0, 255])
    # Two views and a word, with what sets them absolutely: 3 << 8, 5 << 8; one stays; -1
    assert made.before == bytes([252, 2, 129, 24, 129, 40, 17, 3, 0, 255]) and made.n_words == 2
    assert made.entries == [(Loop("family", "a"), View(0), View(0), View(1), Slice(1, 2))]


def test_an_entry_without_buffers_has_numbers():
    made = table_of(
        recording([[Call(Loop("f", "g"), (Value(1),) * 3 + (Part(0, 0, 1),), {0: [7]})]])
    )
    assert made.entries == [(Loop("f", "g"), Value(1), Value(1), Value(1), Slice(1, 2))]


def _lies_in_the_file(data):
    """Return True if all buffers lie in the arena, the state or the file.

    Places of others, such as constants that a kernel makes, differ from board to board.
    """
    loader = Loader(Reader(bytearray(data), False))
    return loader._known_memories and not any(
        is_loose for _, _, is_loose, _ in loader._known_memories.spans
    )


@pytest.mark.slow
@pytest.mark.parametrize("target", ("unix", "unix32", "unix-plain"), indirect=True)
def test_boards_and_the_host_make_the_same_tables(target):
    script, files, expected = (small.SCRIPTS / "tables.py").read_text(), {}, []
    for seed in [seed for some in seeds.collection().values() for seed in some]:
        try:
            is_known = _lies_in_the_file(seed.data)
        except MpconnxrError:
            continue
        if is_known:
            results = [part for made in of_boards.tables(bytearray(seed.data)) for part in made]
            expected.append(" ".join([seed.name, *map(of_boards.digest, results)]))
            files[seed.name] = seed.data
    files["models"] = "\n".join(files).encode()
    printed = small.run(target, script, {"mpconnxr": package.folder(), **files}, timeout=600)
    printed = [line for line in printed.splitlines() if not line.endswith("refused")]
    assert set(printed) <= set(expected) and len(printed) > 100


def calls_of(made):
    """Yield what a program's calls take, in the form of expected(), with places of any kind."""
    views = [[0, 0] for _ in made.views]
    words = [0] * (8 + len(views) + made.n_words)
    words[1], words[2] = 1, len(views)
    assert advance(made.before, words, views) == 255
    words[:2] = 0, 1 << 28
    while (k := advance(made.code, words, views)) != 255:
        if k > 255:
            yield k
            continue
        loop, *arguments = made.entries[k]
        if loop.name == "of_two":  # as in read_from
            block, listed, loop, _ = arguments
            arguments = [listed]
        else:
            *arguments, block = arguments
        used = [a.number for a in flat(arguments) if isinstance(a, View)]
        places = [(*made.views[i], views[i][1] >> 8) for i in used]
        first = 8 + len(views) + block.first
        yield loop, places, words[first : first + len(block)]


def flat(things):
    return [each for t in things for each in (flat(t) if isinstance(t, list | tuple) else [t])]


def place_of(place):
    return MEMORIES.index(place.memory), place.code, place.offset // calcsize(place.code)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ("armv6m", "armv7emsp"))
@pytest.mark.parametrize("stream", (False, True))
def test_a_table_makes_the_proved_calls(arch, stream):
    """Proofs apply to the recording, but kernels emit the program's calls once more."""
    machine, n_calls = Machine.for_arch(arch), 0

    def runs(family, form):
        return has_form(machine, family, form)

    for seed in [seed for some in seeds.collection().values() for seed in some]:
        try:
            recorded = record(seed.data, runs, stream)
        except CannotRecord:
            continue
        result = calls_of(table(seed.data, runs, stream))
        for call in [call for step in recorded.steps for call in step.calls]:
            if isinstance(call, Read):
                assert next(result) == 256 + call.chunk, seed.name
                continue
            [words] = call.words.values()
            places = [place_of(a) for a in flat(call.arguments) if isinstance(a, Place)]
            loop, made, made_words = next(result)
            assert (loop, len(words)) == (call.loop, len(made_words)), seed.name
            assert all(a is UNKNOWN or a == b for a, b in zip(words, made_words, strict=True))
            # constants that a kernel makes are an array there, and lie in a memory here
            assert [p for p in made if p[0] < 3] == places, (seed.name, loop)
            n_calls += 1
        assert next(result, None) is None, seed.name
    assert n_calls > 1_000
