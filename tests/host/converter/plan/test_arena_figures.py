"""Arenas have the sizes that docs/memory.md states."""

import re

import pytest

from tests.host import zoo

PAGE = (zoo.ROOT / "docs" / "memory.md").read_text()
FIGURES = re.findall(r"^\| (\w+)(, `--keep-inputs`)? \| ([\d,]+) \|", PAGE, re.MULTILINE)

pytestmark = zoo.needs_zoo


@pytest.mark.parametrize("name, kept, nbytes", FIGURES)
def test_arena_is_no_larger_than_the_page_says(name, kept, nbytes):
    converted = zoo.converted(name, keep_inputs=bool(kept))
    assert converted.plan.arena_bytes <= int(nbytes.replace(",", ""))


def test_the_page_states_figures():
    assert len(FIGURES) >= 5 and any(kept for _, kept, _ in FIGURES)
