"""The site of `make docs`: its navigation, its pictures, and in the long run the site itself."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
import tomllib
from functools import reduce
from pathlib import Path

import pytest
import yaml

from examples.gallery import PICTURES, picture
from tests.host import chromium
from tools.cache import cache_folder, locked

ROOT = Path(__file__).parents[2]
LONG = os.environ.get("MPCONNXR_LONG") == "1"
MODULES = (ROOT / "docs" / "modules.md").read_text()


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml without the values of tags that only MkDocs knows."""


Loader.add_multi_constructor("", lambda *_: None)


def navigated(entries) -> list[str]:
    """Return the paths of a navigation, in order."""
    if isinstance(entries, str):
        return [entries]
    parts = entries.values() if isinstance(entries, dict) else entries
    return [path for part in parts for path in navigated(part)]


CONFIGURATION = yaml.load((ROOT / "mkdocs.yml").read_text(), Loader)
NAVIGATION = navigated(CONFIGURATION["nav"])


def test_the_navigation_has_each_page_once():
    pages = [
        ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
    ]
    pages += [*ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/README.md")]
    assert sorted(NAVIGATION) == sorted(page.relative_to(ROOT).as_posix() for page in pages)


def test_files_that_the_configuration_names_exist():
    for name in (*CONFIGURATION["hooks"], *CONFIGURATION["watch"]):
        assert (ROOT / name).exists(), name
    for name in (*CONFIGURATION["extra"]["polyfills"], *CONFIGURATION["extra_css"]):
        assert (ROOT / name).is_file(), name


@pytest.mark.parametrize("name", re.findall(r"^::: ([\w.]+)$", MODULES, re.M))
def test_what_the_page_of_modules_shows_has_a_docstring(name):
    assert _resolved(name).__doc__


def _resolved(name):
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:n]))
        except ImportError:
            continue
        return reduce(getattr, parts[n:], module)
    raise AssertionError(name)


def test_the_page_of_modules_shows_all_that_programs_import():
    """Public classes and functions of typings/, and the methods of Model."""
    declared = set()
    for path in (ROOT / "typings" / "mpconnxr").rglob("*.pyi"):
        for node in ast.parse(path.read_text()).body:
            declared |= {getattr(node, "name", "_")}
            if getattr(node, "name", "") == "Model":
                declared |= {method.name for method in node.body if hasattr(method, "name")}
    public = {name for name in declared if not name.startswith("_")}
    shown = {name.split(".")[-1] for name in re.findall(r"^::: ([\w.]+)$", MODULES, re.M)}
    shown |= set(re.findall(r"\w+", " ".join(re.findall(r"members: \[(.*)\]", MODULES))))
    assert public - shown == {"fail", "save", "StepTime"}  # of tools, and of Profile's rows


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/pictures/*.dot")), ids=lambda p: p.stem)
def test_a_drawing_has_the_labels_of_its_source(path):
    drawn = re.findall(r"<text .*?>(.*?)</text>", path.with_suffix(".svg").read_text())
    labels = " ".join(re.findall(r'\blabel="(.*?)"', path.read_text())).replace("\\n", " ")
    assert sorted(" ".join(drawn).replace("&#45;", "-").split()) == sorted(labels.split())


def test_each_picture_of_the_gallery_is_on_two_pages():
    gallery = (ROOT / "examples" / "README.md").read_text()
    names = {path.stem for path in ROOT.glob("examples/pictures/*.svg")}
    assert names == set(PICTURES)
    for name in names:
        assert f"(pictures/{name}.svg)" in gallery
        assert f"(../pictures/{name}.svg)" in (ROOT / "examples" / name / "README.md").read_text()


def test_pictures_of_the_gallery_have_a_panel_for_each_class():
    for name, draw in PICTURES.items():
        labels = [label for label, _ in draw()]
        assert re.findall(r"<text.*?>(.*?)</text>", picture(draw())) == labels
        saved = (ROOT / "examples" / "pictures" / f"{name}.svg").read_text()
        assert re.findall(r"<text.*?>(.*?)</text>", saved) == labels


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of a site that was built strictly, as `make docs` does."""
    if not LONG:
        pytest.skip("installs MkDocs: set MPCONNXR_LONG=1")
    requirements = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = requirements["optional-dependencies"]["docs"]
    python = cache_folder() / "docs" / "bin" / "python"
    with locked("docs"):
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *requirements], check=True)
    folder = tmp_path_factory.mktemp("site")
    command = [python, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.mark.slow
def test_pages_of_the_site_load_nothing_from_other_hosts(site):
    for path in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*", path.read_text())
        assert not [tag for tag in loaded if "//" in tag], path


@pytest.mark.slow
def test_the_site_has_the_docstrings(site):
    text = (site / "docs" / "modules.html").read_text()
    assert "Load a model and make it ready to run." in text
    assert ":::" not in text


@pytest.mark.slow
def test_links_to_pages_have_titles_and_links_to_sources_are_text(site):
    text = (site / "docs" / "index.html").read_text()
    assert '<a href="convert.html">Converting a model</a>' in text
    assert "<td>tools/converter</td>" in text


@pytest.mark.slow
def test_the_search_works_without_a_server(site, tmp_path):
    if not chromium.executable():
        pytest.skip("there is no Chromium: install chromium")
    with chromium.Chromium(tmp_path) as browser:
        browser.open((site / "index.html").as_uri())
        browser.value(
            "document.querySelector('[data-md-toggle=search]').click();"
            "document.querySelector('.md-search__input').value = 'requantization';"
            "document.querySelector('.md-search__input').dispatchEvent(new Event('keyup'))"
        )
        browser.wait("document.querySelectorAll('.md-search-result__item').length > 0")
        links = browser.value(
            "[...document.querySelectorAll('.md-search-result__link')].map((link) => link.href)"
        )
        assert any("docs/quantization.html" in link for link in links)
        assert not browser.errors
