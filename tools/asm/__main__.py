"""python -m tools.asm [--check]: make the machine code of loops, tools/asm/code/FORM.txt.

Each source below tools/asm is assembled, and each module in viper without a source there is
compiled, for all their forms. Files that are up to date stay untouched.
"""

from __future__ import annotations

import sys

from tools import arguments

from ..made import update
from .code import path_of, text_of
from .entries import PATH, entries_text
from .errors import AsmError
from .forms import CORES, FORMS
from .recipes import recipes


def main(argv: list[str] | None = None) -> int:
    """Run the command. Exit status: 0 all is up to date, 1 something differs or failed."""
    parser = arguments.parser_for("asm", description="Make the machine code of loops.")
    parser.add_argument("--check", action="store_true", help="write nothing, print what differs")
    args = parser.parse_args(argv)
    try:
        changed = _make(args.check)
    except AsmError as e:
        print(f"asm: {e}", file=sys.stderr)
        return 1
    return 1 if args.check and changed else 0


def _make(check: bool) -> bool:
    """Make all files; return True if one of them was not up to date.

    Raises:
        AsmError: if a compiler is missing or a source is wrong.
    """
    if lacking := [core.gcc for core in CORES if not core.is_installed]:
        raise AsmError(f"{' and '.join(lacking)} not found: `make loops` installs them")
    changed = [update(PATH, entries_text(), check)]
    for form in FORMS:
        own = [recipe for (_, each), recipe in recipes().items() if each == form]
        changed.append(update(path_of(form), text_of(form, own), check))
    return any(changed)


if __name__ == "__main__":
    sys.exit(main())
