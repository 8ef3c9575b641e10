"""Pages and messages contain none of the phrases in words.toml."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tests.host.pages import PAGES, ROOT, name_of

BANNED = tomllib.loads(Path(__file__).with_name("words.toml").read_text())["banned"]
GENERATED = {"operators.md", "benchmarks.md"}
TEXTS = [p for p in [*PAGES, ROOT / "CHANGELOG.md"] if p.name not in GENERATED]
CODE = [*sorted((ROOT / "tools").rglob("*.py")), *sorted((ROOT / "mpconnxr").rglob("*.py"))]


def banned_phrases(text):
    """Return (phrase, replacement) for each banned phrase in the text."""
    return [
        (match[0], instead)
        for phrase, instead in BANNED.items()
        for match in re.finditer(phrase, text, re.I | re.M)
    ]


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_pages_have_no_banned_phrase(page):
    assert not banned_phrases(prose_of(page.read_text()))


def prose_of(text):
    """Return the text without code: fenced, indented, or within a line."""
    return re.sub(r"```.*?```|`[^`\n]*`|^ {4}[^\n]*$", "", text, flags=re.S | re.M)


def test_prose_continues_behind_code():
    text = "One `a`.\n\n    two\n\nThree.\n\n```\nfour\n```\nFive."
    assert prose_of(text).split() == ["One", ".", "Three.", "Five."]


def messages(path):
    """Yield (line, text) of a module's strings that are not docstrings."""
    tree = ast.parse(path.read_text())
    named = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(n.body[0].value)
        for n in ast.walk(tree)
        if isinstance(n, named) and n.body and isinstance(n.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and " " in node.value and id(node) not in docstrings:
            yield node.lineno, node.value


def test_messages_have_no_banned_phrase():
    results = [
        (path.relative_to(ROOT).as_posix(), line, phrases)
        for path in CODE
        for line, text in messages(path)
        if (phrases := banned_phrases(text))
    ]
    assert not results


@pytest.mark.parametrize(
    "text", ["x is no folder", "None unless told", "It lets them be", "e.g. 3"]
)
def test_banned_phrases_are_found(text):
    assert banned_phrases(text)


def test_other_texts_are_accepted():
    assert not banned_phrases(
        "x is not a folder. There is nothing in folder x. The usual one by default."
    )


def test_an_entry_of_the_changelog_is_one_line():
    _, *lines = re.split(r"^(?=## )", (ROOT / "CHANGELOG.md").read_text(), maxsplit=1, flags=re.M)
    lines = "".join(lines).splitlines()
    assert lines and all(line.startswith(("* ", "#")) or not line for line in lines)
    assert not [line for line in lines if len(line) > 130]


def test_the_changelog_has_the_form_of_keep_a_changelog():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert text.startswith("# Changelog\n") and "\n## [Unreleased]\n\n### " in text
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)", text, re.M)) <= kinds
    before = re.findall(r"^(.*)\n\n\* ", text, re.M)
    assert all(line.startswith("### ") for line in before), before
    versions = re.findall(r"^## (.*)", text, re.M)[1:]
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", v) for v in versions)
