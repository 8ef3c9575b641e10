"""A power cut at any file operation of an update leaves the old model or the new one.

Old is the old model with the old code, new the new one with the new code; the package's modules
detect by themselves if they are of two versions (see generations).
"""

import os
import shutil
from collections import Counter

import pytest

from tests.host.fake_board import Journal
from tests.host.releases import EARLIER, OLD, UPDATES

LONG = bool(os.environ.get("MPCONNXR_LONG"))
EVERY = 1 if LONG else 60  # of the points before the last ones those that are recovered from
LAST = 9  # file operations, the switch among them
HISTORIES = {"first": (OLD,), "later": (EARLIER, OLD)}


KINDS = [
    pytest.param(update, history, fat, id=f"{update}-{history}" + "-fat" * fat)
    for update in UPDATES
    for history in HISTORIES
    for fat in (False, True)
    if LONG or not fat or update == "format"
]


@pytest.mark.slow
@pytest.mark.parametrize(("update", "history", "fat"), KINDS)
def test_a_power_cut_at_any_operation_leaves_a_model(update, history, fat, bench, capsys):
    new = UPDATES[update]
    before = bench.begin(*HISTORIES[history])
    path = bench.folder.with_name("journal")
    assert bench.flash(new, fat=fat, journal=path) == 0
    assert bench.prints() == new.prints
    shutil.copytree(before, now := bench.folder.with_name("now"))
    journal, seen, recovered = Journal(path, bench.folder), [], 0
    for n, operation, converted in journal.states(now):
        seen.append(bench.prints(now))
        assert seen[-1] in (OLD.prints, new.prints), (n, operation, converted)
        if n % EVERY == 0 or n > len(journal.operations) - LAST and converted:
            bench.set(now)
            assert bench.flash(new, fat=fat) == 0, (n, operation, converted)
            assert bench.prints() == new.prints, (n, operation, converted)
            recovered += 1
    capsys.readouterr()
    print(f"{len(seen)} states: {Counter(seen)}, recovered from {recovered}")
    assert len(seen) >= 8 and recovered >= 8
    assert (seen[0], seen[-1]) == (OLD.prints, new.prints)
