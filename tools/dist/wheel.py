"""Build hook of the wheel: give the tools a package of their own.

In a clone the tools import each other as `tools`. In site-packages another project may have this
name, so that the wheel has them as `mpconnxr_host.tools`, with their imports changed.
"""

from __future__ import annotations

import ast
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_HOST = "mpconnxr_host"
_MOVED = ("tools", "examples")  # into it; their modules, and its own, import the first


class WheelHook(BuildHookInterface):
    """Put changed copies of the tools into a wheel; a wheel for an editable install needs none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Copy the files and tell hatchling to take the copies."""
        if version == "editable":
            return
        self._folder = Path(tempfile.mkdtemp())
        root = Path(self.root)
        for name in (_HOST, *_MOVED):
            place = self._folder / (_HOST if name == _HOST else f"{_HOST}/{name}")
            shutil.copytree(
                root / name,
                place,
                ignore=shutil.ignore_patterns("__pycache__"),
                dirs_exist_ok=True,
            )
        for path in self._folder.rglob("*.py"):
            path.write_text(renamed(path.read_text(encoding="utf-8")), encoding="utf-8")
        build_data["force_include"][str(self._folder / _HOST)] = _HOST

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copies."""
        if version != "editable":
            shutil.rmtree(self._folder)


def renamed(source: str) -> str:
    """Return a module's source that imports `mpconnxr_host.tools` where it imported `tools`."""
    lines = source.split("\n")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and not node.level and _is_of_tools(node.module):
            before, _, after = lines[node.lineno - 1].partition("from tools")
            lines[node.lineno - 1] = f"{before}from {_HOST}.tools{after}"
        elif isinstance(node, ast.Import) and any(_is_of_tools(a.name) for a in node.names):
            raise ValueError(f"{ast.unparse(node)}: write `from {node.names[0].name} import …`")
    return "\n".join(lines)


def _is_of_tools(module: str | None) -> bool:
    return (module or "").partition(".")[0] == "tools"
