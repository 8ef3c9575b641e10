"""Links in the pages lead somewhere, and their commands exist."""

import pytest

from tests.host.pages import PAGES, anchors, commands, links, name_of
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
