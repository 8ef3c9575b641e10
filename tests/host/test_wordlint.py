"""tools.wordlint refuses what docs/glossary.md bans, and accepts what it asks for."""

from __future__ import annotations

import pytest

from tools import wordlint

RULES = wordlint.Rules(
    """# Glossary

## Words in the code

| use | for | not |
|---|---|---|
| element | a value | `item`, "stand-in" |
| skip | not to do | `leave_out` |

## How a docstring starts

Never with *the* or *of*.
"""
)


def problems(source):
    return [text for _, text in RULES.problems(source)]


@pytest.mark.parametrize(
    "source",
    [
        "item = 1",
        "def first_item(): pass",
        "def f(item): pass",
        "class ItemOf: pass",
        "x.item = 1",
        "for i, item in y: pass",
        "def leave_out_node(): pass",
        'def f():\n    """Return a stand-in."""',
        'def f():\n    """The rows."""',
        'def f(a, b):\n    """Return a.\n\n    Args:\n        a: one.\n    """',
        'def f(a):\n    """Return a.\n\n    Args:\n        a: one.\n        b: two.\n    """',
    ],
)
def test_a_banned_word_is_refused(source):
    assert len(problems(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "x.items()",
        "items = 1",  # another word
        "print(item)",  # not defined here
        "def leave(out): pass",
        'class F:\n    """The rows."""',
        'def f(a, *b, c=1, **d):\n    """Do.\n\n    Args:\n        a: 1.\n        *b: 2.\n'
        '        c (int): 3.\n        **d: 4.\n    """',
        'class F:\n    def f(self, a):\n        """Do.\n\n        Args:\n            a: 1.\n'
        '        """',
    ],
)
def test_other_words_are_accepted(source):
    assert problems(source) == []


def test_the_glossary_has_all_three_lists():
    rules = wordlint.Rules(wordlint.GLOSSARY.read_text(encoding="utf-8"))
    assert rules.names["item"].startswith("element")
    assert "stand-in" in rules.phrases
    assert {"the", "of", "what"} <= rules.starts
