"""Links in the pages lead somewhere, and their commands exist."""

import ast
import re

import pytest

from tests.host.pages import PAGES, ROOT, anchors, commands, links, name_of
from tools.cli.commands import COMMANDS


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_of_a_page_lead_to_a_file_and_a_heading(page):
    for target in links(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_of_a_page_have_existing_options(page):
    for words in commands(page):
        parser = COMMANDS[words[0]].parser()
        if any(mark in word for word in words for mark in ("[", "…", "...", "$(")):
            continue  # a pattern for commands, not one of them
        if words[0] == "run" and "--" in words:
            words = words[: words.index("--")]
        try:
            parser.parse_args(words[1:])
        except SystemExit as e:
            assert e.code == 0, words  # `convert --passes` prints and ends


def test_the_pages_have_commands():
    assert sum(len(commands(page)) for page in PAGES) > 40


# Pages for people with a clone; each may name the modules.
_FOR_CLONES = ("docs/cli.md", "docs/kernels.md", "docs/architecture.md", "docs/glossary.md")
_MODULES = re.compile(r"(?<!tools/)flash\.py|python tools/flash\.py|python -m tools\.(\w+)")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_for_users_names_the_installed_command(page):
    if name_of(page) in _FOR_CLONES:
        return
    lines = [line for line in page.read_text().splitlines() if _MODULES.search(line)]
    # which no subcommand of mpconnxr does
    assert not [line for line in lines if "tools.micropython.emulated_pico" not in line]


def test_messages_name_the_installed_command():
    """Docstrings are for people with a clone; what else is text may be printed."""
    own = {"tools/arguments.py", "tools/flash.py", "tools/micropython/emulated_pico.py"}
    named = []
    for path in sorted((ROOT / "tools").rglob("*.py")):
        name = name_of(path)
        if name not in own and not name.startswith(("tools/asm/", "tools/loops/")):
            named += [f"{name}: {text}" for text in _texts(path) if _MODULES.search(text)]
    assert not named


def _texts(path):
    """Return the strings of a module that are no docstrings."""
    tree = ast.parse(path.read_text())
    nodes = [
        n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    docs = {id(n.body[0].value) for n in nodes if n.body and isinstance(n.body[0], ast.Expr)}
    constants = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in docs]
    return [n.value for n in constants if isinstance(n.value, str)]
