"""The console script `mpconnxr`, with a subcommand for each tool: `mpconnxr convert model.onnx`.

A subcommand is the `main` of a module in tools/, which `python -m tools.NAME` calls as well. It is
imported when it is called, since some tools take a second to import.
"""

from __future__ import annotations

import difflib
import sys

from tools import arguments

from . import versions
from .commands import COMMANDS, GROUPS


def main(argv: list[str] | None = None) -> int:
    """Run one subcommand; return 0 if done, 1 if refused or failed, 2 for wrong usage."""
    argv = sys.argv[1:] if argv is None else argv
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(usage())
        return 0 if argv else 2
    if argv[0] in ("-V", "--version"):
        return _version(argv[1:])
    command = COMMANDS.get(argv[0])
    if not command:
        print(_unknown(argv[0]), file=sys.stderr)
        return 2
    arguments.called_as(f"mpconnxr {argv[0]}")
    try:
        return command.main([*command.first, *argv[1:]])
    except BrokenPipeError:  # the reader of the output has closed it
        sys.stdout = None  # so that nothing is flushed at exit
        return 1
    except KeyboardInterrupt:
        print(f"mpconnxr {argv[0]}: interrupted", file=sys.stderr)
        return 130


def _version(rest):
    if rest not in ([], ["-v"], ["--verbose"]):
        print("mpconnxr: --version takes --verbose and nothing else", file=sys.stderr)
        return 2
    print(versions.text(is_verbose=bool(rest)))
    return 0


def usage() -> str:
    """Return the list of all subcommands, by purpose."""
    lines = ["usage: mpconnxr COMMAND ...", ""]
    for title, names in GROUPS.items():
        lines += [f"{title}:", *(f"  {n:12} {COMMANDS[n].about}" for n in names), ""]
    lines += ["mpconnxr COMMAND --help lists a command's options."]
    lines += ["mpconnxr --version --verbose shows versions, the CPU, and onnxruntime's self-test."]
    return "\n".join(lines)


def _unknown(name):
    near = difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean {near[0]}?" if near else "mpconnxr --help lists them"
    return f"mpconnxr: unknown command {name}: {hint}"
