"""python -m tools.asm [NAME ...] [--check]: make the modules of loops that are machine code.

Of each source below tools/asm and each module in viper that has none there, or of those that are
named, one module a form. Nothing that is up to date is written.
"""

from __future__ import annotations

import sys

from tools import arguments

from ..made import update
from .compiled import Compiled, compiled_sources
from .entries import PATH, entries_text
from .errors import AsmError
from .forms import CORES, module_path
from .module import module
from .source import Source, sources


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 all is up to date, 1 something is not or cannot be made, 2 wrong usage."""
    parser = arguments.parser_for("asm", description=__doc__.partition(":")[2])
    parser.add_argument("names", nargs="*", metavar="NAME", help="families (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    args = parser.parse_args(argv)
    try:
        return _make(args.names, args.check)
    except AsmError as e:
        print(f"asm: {e}", file=sys.stderr)
        return 1


def _make(names: list[str], check: bool) -> int:
    if lacking := [core.gcc for core in CORES if not core.is_here]:
        raise AsmError(f"{' and '.join(lacking)} not found: `make loops` installs them")
    known = [*sources(), *compiled_sources()]
    if unknown := set(names) - {source.name for source in known}:
        raise AsmError(f"no source of {' '.join(sorted(unknown))}")
    changed = 0
    for source in known:
        for form in source.forms if not names or source.name in names else ():
            changed += update(module_path(source.name, form), _text(source, form), check)
    if not names:
        changed += update(PATH, entries_text(), check)
    return 1 if check and changed else 0


def _text(source: Source | Compiled, form: str) -> str:
    return source.module() if isinstance(source, Compiled) else module(source, form)


if __name__ == "__main__":
    sys.exit(main())
