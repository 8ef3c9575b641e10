"""The power cut at each file operation of an update: the old model or the new one, never neither.

Old is the old model with the old code, new the new one with the new code; the package's modules
notice for themselves if they are of two versions (see generations).
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


@pytest.mark.parametrize(("update", "history", "fat"), KINDS)
def test_power_lost_at_each_point(update, history, fat, bench, capsys):
    new = UPDATES[update]
    before = bench.begin(*HISTORIES[history])
    path = bench.folder.with_name("journal")
    assert bench.flash(new, fat=fat, journal=path) == 0
    assert bench.says() == new.says
    shutil.copytree(before, now := bench.folder.with_name("now"))
    journal, seen, recovered = Journal(path, bench.folder), [], 0
    for n, operation, done in journal.states(now):
        seen.append(bench.says(now))
        assert seen[-1] in (OLD.says, new.says), (n, operation, done)
        if n % EVERY == 0 or n > len(journal.operations) - LAST and done:
            bench.set(now)
            assert bench.flash(new, fat=fat) == 0, (n, operation, done)
            assert bench.says() == new.says, (n, operation, done)
            recovered += 1
    capsys.readouterr()
    print(f"{len(seen)} states: {Counter(seen)}, recovered from {recovered}")
    assert len(seen) >= 8 and recovered >= 8
    assert (seen[0], seen[-1]) == (OLD.says, new.says)
