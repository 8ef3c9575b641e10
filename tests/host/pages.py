"""The pages of the documentation, and the commands in them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
# What a page may type for a subcommand of `mpconnxr`.
_OF_MODULE = {
    "converter inspect": "inspect",
    "converter report": "report",
    "converter sign": "sign",
    "converter tensor": "tensor",
    "converter quantize": "quantize",
    "converter": "convert",
    "micropython": "targets",
    "cli": "",
}
_OURS = re.compile(r"^(?:\$ )?(mpconnxr|python -m tools\.\w+|python tools/flash\.py) ")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[str]:
    """Return the lines of code blocks, fenced or indented, with continuation lines joined."""
    lines, fenced = [], False
    for line in page.read_text().splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            lines.append(line.strip())
    return re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()


def commands(page: Path) -> list[list[str]]:
    """Return the page's mpconnxr commands, as words behind `mpconnxr`."""
    results = []
    for line in blocks(page):
        if not _OURS.match(line):
            continue
        text = re.sub(r"\s#.*| {2,}[^-].*$", "", line.removeprefix("$ ")).strip()
        results.append(_words(text))
    return results


def _words(text):
    text = text.replace("python tools/flash.py", "mpconnxr flash").removeprefix("mpconnxr").strip()
    if text.startswith("python -m tools."):
        text = text.removeprefix("python -m tools.")
        for module, name in _OF_MODULE.items():
            if text == module or text.startswith(module + " "):
                text = name + text[len(module) :]
                break
    return text.split()


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", head) for head in heads)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in plain}


def links(page: Path) -> list[str]:
    """Return the link targets that are neither on the web nor in code."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)
    result = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target for target in result if "://" not in target]
