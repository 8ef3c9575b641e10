"""python -m tools.asm [--check]: make the machine code of loops, tools/asm/code/FORM.txt.

Each source below tools/asm is assembled, and each module in viper that has none there is compiled,
for all their forms. No file is written that is up to date.
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
    """Exit status: 0 all is up to date, 1 something is not or cannot be made, 2 wrong usage."""
    parser = arguments.parser_for("asm", description=__doc__.partition(":")[2])
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    args = parser.parse_args(argv)
    try:
        changed = _make(args.check)
    except AsmError as e:
        print(f"asm: {e}", file=sys.stderr)
        return 1
    return 1 if args.check and changed else 0


def _make(check: bool) -> bool:
    """Whether something was not up to date. Raises AsmError."""
    if lacking := [core.gcc for core in CORES if not core.is_here]:
        raise AsmError(f"{' and '.join(lacking)} not found: `make loops` installs them")
    changed = [update(PATH, entries_text(), check)]
    for form in FORMS:
        wanted = [recipe for (_, each), recipe in recipes().items() if each == form]
        changed.append(update(path_of(form), text_of(form, wanted), check))
    return any(changed)


if __name__ == "__main__":
    sys.exit(main())
