"""The pages that people read, and the commands in them."""

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
    """Lines of code blocks, fenced or indented, as one text a line with continuations joined."""
    lines, fenced = [], False
    for line in page.read_text().splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            lines.append(line.strip())
    return re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()


def commands(page: Path) -> list[list[str]]:
    """Our own commands of a page, as words after `mpconnxr`."""
    found = []
    for line in blocks(page):
        if not _OURS.match(line):
            continue
        text = re.sub(r"\s#.*| {2,}[^-].*$", "", line.removeprefix("$ ")).strip()
        found.append(_words(text))
    return found


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
    """Of a page's headings, as they are made from their texts."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", head) for head in heads)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in plain}


def links(page: Path) -> list[str]:
    """Targets that are neither on the web nor in code."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target for target in found if "://" not in target]
