"""python -m tools.wordlint [FILE ...]: hold names and docstrings to docs/glossary.md.

`make lint` calls it. Three rules, for Python files of the package, the tools, boards, examples and
the helpers of tests:

1. No identifier contains a word of the glossary's column "not" that stands there in backticks.
2. No docstring contains a phrase that stands there in quotes, and the docstring of a function
   does not start with one of the words that the glossary lists under "How a docstring starts".
3. A section `Args:` names the arguments of its function, all of them, in their order.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (*_FUNCTIONS, ast.ClassDef, ast.Module)
_RECEIVERS = ("self", "cls")
_ARGUMENT = re.compile(r"    (\*{0,2}\w+)(?: \([^)]*\))?: ")


@dataclass(frozen=True)
class Rules:
    """The banned words of a glossary page.

    Attributes:
        page: the text of docs/glossary.md.
    """

    page: str

    @cached_property
    def names(self) -> dict[str, str]:
        """Return the replacement of each banned word of an identifier."""
        return dict(self._banned(r"`([^`]+)`"))

    @cached_property
    def phrases(self) -> dict[str, str]:
        """Return the replacement of each banned phrase of a docstring."""
        return dict(self._banned(r'"([^"]+)"'))

    @cached_property
    def starts(self) -> frozenset[str]:
        """Return the words that a function's docstring may not start with."""
        section = self.page.partition("## How a docstring starts")[2].partition("\n## ")[0]
        return frozenset(re.findall(r"\*(\w+)\*", section))

    def _banned(self, pattern):
        section = self.page.partition("## Words in the code")[2].partition("\n## ")[0]
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) == 3:
                for banned in re.findall(pattern, cells[2]):
                    yield banned, cells[0]

    def problems(self, source: str) -> Iterator[tuple[int, str]]:
        """Yield (line, text) for each place in a module's source that breaks a rule."""
        tree = ast.parse(source)
        seen = set()
        for node in ast.walk(tree):
            for name in _names_bound_by(node):
                if (name, node.lineno) not in seen:
                    seen.add((name, node.lineno))
                    yield from self._in_name(node.lineno, name)
            if isinstance(node, _DOCUMENTED) and (text := ast.get_docstring(node)):
                yield from self._in_docstring(node, text)

    def _in_name(self, line, name):
        words = _words_of(name)
        for banned, instead in self.names.items():
            parts = banned.split("_")
            if any(words[i : i + len(parts)] == parts for i in range(len(words))):
                yield line, f"{name}: use {instead} in place of {banned}"

    def _in_docstring(self, node, text):
        line = getattr(node, "lineno", 1)
        for phrase, instead in self.phrases.items():
            if re.search(rf"\b{re.escape(phrase)}\b", text, re.IGNORECASE):
                yield line, f'docstring: use {instead} in place of "{phrase}"'
        if isinstance(node, _FUNCTIONS):
            first = re.match(r"\w*", text)[0]
            if first.lower() in self.starts and not _is_property(node):
                yield line, f"docstring of {node.name}: starts with {first}, not with a verb"
            yield from _arguments_that_differ(node, text, line)


def _names_bound_by(node):
    """Return the identifiers that a syntax node defines."""
    if isinstance(node, ast.ClassDef):
        return [node.name]
    if isinstance(node, _FUNCTIONS):
        is_hook = node.name.startswith("pytest_")  # whose arguments have pytest's names
        return [node.name, *(arg.arg for arg in _arguments(node) if not is_hook)]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return [node.attr]
    return []


def _is_property(node):
    """Return True for an attribute that a function computes: a noun may describe it."""
    return any(ast.unparse(each).endswith("property") for each in node.decorator_list)


def _words_of(name):
    """Return the words of an identifier in snake_case or CamelCase, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)]


def _arguments(function):
    a = function.args
    arguments = [*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg]
    return [argument for argument in arguments if argument]


def _arguments_that_differ(node, text, line):
    section = re.search(r"^Args:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    if not section:
        return
    documented = re.findall(r"^" + _ARGUMENT.pattern, section[1], re.MULTILINE)
    names = [argument.arg for argument in _arguments(node)]
    documented = [name.lstrip("*") for name in documented]
    if documented != names and documented != [name for name in names if name not in _RECEIVERS]:
        yield line, f"docstring of {node.name}: Args has {documented}, the function {names}"


def files() -> list[Path]:
    """Return the files that the rules are for: those in git, except tests themselves."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    return [path for path in paths if path.exists() and not path.name.startswith("test_")]


def main(argv: list[str] | None = None) -> int:
    """Print the places that break a rule. Exit status: 0 none, 1 some."""
    argv = sys.argv[1:] if argv is None else argv
    rules = Rules(GLOSSARY.read_text(encoding="utf-8"))
    n_problems = 0
    paths = [Path(arg).resolve() for arg in argv] or files()
    for path in paths:
        for line, text in rules.problems(path.read_text(encoding="utf-8")):
            print(f"{path.relative_to(ROOT)}:{line}: {text}")
            n_problems += 1
    if not n_problems:
        print(f"wordlint: {len(paths)} files are fine")
    return 1 if n_problems else 0


if __name__ == "__main__":
    sys.exit(main())
