"""A program's bytes say what its calls take: all forms of loops/program read the same of them."""

import random

import pytest

from tests.host.device import small
from tools import package
from tools.program.call import (
    UNKNOWN,
    Call,
    CannotRecord,
    Loop,
    Part,
    Place,
    Read,
    Recording,
    Step,
)
from tools.program.encode import encode
from tools.program.layout import Layout

SCRIPT = (small.SCRIPTS / "program_forms.py").read_text()
TARGETS = ("unix", "unix32", "unix-plain", "mps2-an385", "mps2-an385-v6m", "virt-rv32")


def recording(steps):
    return Recording(
        [Step(str(i), calls) for i, calls in enumerate(steps)], 0, 0, (0, 0), (), (), 0
    )


def call(name, items, words, changed=(), block=0):
    """A call of a loop with views of float32 that begin at these items, and a block of words."""
    places = tuple(Place("arena", 4 * item, "f", 9) for item in items)
    block_of = Part(block, 0, len(words))
    arguments = (*places, block_of)
    return Call(Loop("family", name), arguments, {block: list(words)}, {block: list(changed)})


def random_steps(rng):
    """Steps whose calls repeat, grow by constants, or keep what a loop wrote."""
    steps = []
    for _ in range(rng.randint(1, 6)):
        calls = []
        base = [rng.choice([rng.randint(-70, 70), rng.randint(-(1 << 31), (1 << 31) - 1)])]
        base += [rng.randint(0, 1 << 29) for _ in range(rng.randint(0, 40))]
        items = [rng.randint(0, 1 << 20) for _ in range(3)]
        growth = [rng.randint(-3, 3) for _ in base]
        for k in range(rng.randint(1, 30)):
            words = [wrapped(b + k * g) for b, g in zip(base, growth, strict=True)]
            if k and rng.random() < 0.2:
                words[0] = UNKNOWN
            changed = [0] if rng.random() < 0.3 or words[0] is UNKNOWN else []
            calls.append(call(f"loop{len(base)}", [i + k for i in items], words, changed))
            if rng.random() < 0.1:
                calls.append(Read(rng.randint(0, 60000)))
        if calls[0].words[0][0] is not UNKNOWN:
            calls[0].changed[0] = [0]  # so that all calls share a slot that lasts
        steps.append(calls)
    return steps


def wrapped(value):
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def expected(layout):
    """(entry, numbers of its views and of its words, None where a loop wrote) of each call."""
    firsts = [sum(layout.slots[:i]) for i in range(len(layout.slots))]
    for made in [m for step in layout.steps for m in step]:
        if isinstance(made, Read):
            yield 256 + made.chunk, {}, {}
            continue
        views = {layout.views[v]: item for v, item in made.views.items()}
        words = {
            firsts[slot] + i: None if word is UNKNOWN else word
            for slot, values in made.slots.items()
            for i, word in enumerate(values)
        }
        yield layout.entries[made.entry], views, words


def of_all_runs(layout, printed):
    """Compares what a board printed of each call, in two runs, with what was recorded."""
    runs = iter(printed)
    for _ in range(2):
        for k, views, words in expected(layout):
            fields = [int(f) for f in next(runs).split()]
            assert fields[0] == k
            for i, item in views.items():
                assert fields[1 + i] == item
            for i, word in words.items():
                assert word is None or fields[1 + len(layout.views) + i] == word
        assert next(runs) == "255"
    assert not list(runs)


@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_forms_read_what_was_written(target):
    rng = random.Random(17)
    layouts = [Layout(recording(random_steps(rng))) for _ in range(40)]
    files, lines = {"mpconnxr": package.folder()}, []
    for i, layout in enumerate(layouts):
        files[f"{i}.code"] = encode(layout)
        calls = sum(len(step) for step in layout.steps)
        lines.append(f"{i}.code {len(layout.views)} {sum(layout.slots)} {calls}\n")
    files["programs"] = "".join(lines).encode()
    printed = small.run(target, SCRIPT, files, timeout=600).splitlines()
    assert printed[0] in ("plain", "viper64", "viper", "thumb")
    parts = "\n".join(printed[1:]).split("\nend")
    for layout, part in zip(layouts, parts, strict=False):
        of_all_runs(layout, part.strip("\n").splitlines())


def test_what_repeats_stands_there_once():
    calls = [call("a", [k, 2 * k, 0], [5, 3 * k]) for k in range(1000)]
    code = encode(Layout(recording([calls])))
    assert len(code) < 40
    inner = [call("a", [k % 7, 0, 0], [k // 7]) for k in range(7 * 300)]
    assert len(encode(Layout(recording([inner])))) < 120


def test_words_that_a_loop_wrote_are_set_anew():
    calls = [call("a", [0, 0, 0], [1, 2], changed=[1]), call("a", [0, 0, 0], [1, 2])]
    layout = Layout(recording([calls]))
    [first, second] = [m.slots[0] for m in layout.steps[0]]
    assert first == second == [1, 2]
    assert len(encode(layout)) > len(encode(Layout(recording([[calls[1]] * 2]))))


def test_what_a_loop_wrote_is_lost_to_another_block():
    kept = [call("a", [0, 0, 0], [1, 2], changed=[1]), call("a", [0, 0, 0], [1, UNKNOWN])]
    other = call("a", [0, 0, 0], [1, 7], block=1)
    layout = Layout(recording([[kept[0], other, kept[1]]]))
    with_both = encode(layout)  # another block has a slot of its own
    assert len(layout.slots) == 2 and with_both


def test_too_many_kinds_of_calls_are_refused():
    calls = [call(f"loop{i}", [0, 0, 0], [0]) for i in range(241)]
    with pytest.raises(CannotRecord, match="241 kinds"):
        encode(Layout(recording([calls])))


def test_numbers_are_what_the_docstring_says():
    code = encode(Layout(recording([[call("a", [0, 0, 0], [-1])]])))
    # entry 0; two numbers follow: its views are one, at 0, then the word; the end of both
    assert code == bytes([0, 2, 1, 3, 0, 255])
