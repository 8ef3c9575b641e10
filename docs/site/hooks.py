"""Hooks with which MkDocs builds the site (`make docs`) from pages that a git host shows as well.

Pages are in several folders, and link to each other, to folders and to source files by relative
paths. In the site they keep their paths, and links that only a git host can follow are changed.
"""

from __future__ import annotations

import logging
import re
import shutil
from collections import Counter
from pathlib import Path
from posixpath import basename, dirname, join, normpath, relpath

from markdown_it import MarkdownIt
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
_PAGES = (
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("docs/*.md", "examples/**/README.md"),
)
_BESIDE = ("docs/*.png", "docs/*.svg", "docs/pictures/*.*g", "examples/pictures/*.svg")
_ASSETS = ("docs/site/*.js", "docs/site/*.css")
_CODE_OR_LINK = re.compile(r"```.*?```|`[^`]*`|(?<!!)\[([^]]*)\]\(([^)\s]+)\)", re.S)
_BLOCKS = re.compile(r"<(h[1-6]|li|ol|ul|td|th|tr|pre|blockquote)\b")
_log = logging.getLogger("mkdocs.hooks.site")


def on_startup(command, dirty):
    """Copy the device's package to where mkdocstrings looks for it.

    griffe, which reads docstrings for it, passes over folders without __init__.py, as the rooms of
    the package are. The copy has them, and the types of typings/.
    """
    folder = ROOT / "build" / "docs" / "mpconnxr"
    shutil.rmtree(folder, ignore_errors=True)
    without = shutil.ignore_patterns("loops", "ops", "build", "__pycache__")
    shutil.copytree(ROOT / "mpconnxr", folder, ignore=without)
    shutil.copytree(ROOT / "typings" / "mpconnxr", folder, dirs_exist_ok=True)
    for room in ("inspect", "io", "signal"):
        (folder / room / "__init__.py").touch()


def on_files(files, config):
    """Replace the files of docs/ by the pages of all folders and what they show."""
    results = [file for file in files if file.src_dir != config.docs_dir]  # of the theme
    for pattern in (*_PAGES, *_BESIDE, *_ASSETS):
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            results.append(File(name, str(ROOT), config.site_dir, config.use_directory_urls))
    return Files(results)


def on_page_markdown(markdown, page, config, files):
    """Change the page's links to folders and source files."""

    def change(match):
        if match[2] is None:  # code
            return match[0]
        return _link(match[1], match[2], page.file.src_uri, config.repo_url, files)

    return _CODE_OR_LINK.sub(change, markdown)


def _link(text, target, page, repo_url, files):
    """Return a link that the site can follow: to a page, to the repository, or its text alone.

    The text of a link to a page is the page's title if it was the file's name.
    """
    path, _, anchor = target.partition("#")
    if path and "://" not in target:
        path = normpath(join(dirname(page), path))
        if (ROOT / path / "README.md").is_file():
            path = f"{path}/README.md"
        if files.get_file_from_path(path):
            if text == basename(path):  # a file's name says nothing here
                text = (ROOT / path).read_text().partition("\n")[0].removeprefix("# ")
            target = relpath(path, dirname(page) or ".") + (f"#{anchor}" if anchor else "")
        elif (ROOT / path).exists():
            return f"[{text}]({repo_url.rstrip('/')}/blob/main/{path})" if repo_url else text
    return f"[{text}]({target})"  # MkDocs warns if nothing is there


def on_page_content(html, page, config, files):
    """Warn if a git host, which reads Markdown as GFM, divides the page in other ways."""
    if "\n::: " in page.markdown:  # filled in by mkdocstrings
        return
    ours = Counter(_BLOCKS.findall(html))
    rendered = MarkdownIt("gfm-like", {"linkify": False}).render(page.markdown)
    theirs = Counter(_BLOCKS.findall(rendered))
    if ours != theirs:
        different = {tag: (theirs[tag], ours[tag]) for tag in sorted(ours | theirs)}
        _log.warning(f"{page.file.src_uri}: blocks on a git host, and here: {different}")
