"""Which options of tools/flash.py go together."""

from __future__ import annotations

from collections.abc import Collection

_NEEDS = {"flash": "target"}
# Of each pair one would be ignored, or do what the other rules out.
_APART = {
    "to": (
        *("port", "target", "dir", "reserve", "romfs", "dry_run", "rollback", "firmware"),
        *("older", "overwrite", "strand"),
    ),
    "board": ("source",),
    "target": ("port", "firmware"),
    "romfs": ("reserve", "older", "overwrite", "strand"),
    "rollback": ("overwrite", "source"),
    "dry_run": ("rollback", "firmware"),
    "cores": ("source", "interpret", "rollback"),
}


def problem(given: Collection[str]) -> str:
    """What is wrong with these options, named as argparse's dest; "" if they go together."""
    for name, needed in _NEEDS.items():
        if name in given and needed not in given:
            return f"{_option(name)} goes with {_option(needed)}"
    for name, others in _APART.items():
        for other in others:
            if name in given and other in given:
                return f"give {_option(name)} or {_option(other)}, not both"
    return ""


def _option(name):
    return "--" + name.replace("_", "-")
