"""python -m tools.loops [--check]: make the modules of loops in viper from their templates.

Nothing that is up to date is written.
"""

from __future__ import annotations

import sys

from tools import arguments

from ..made import update
from .errors import TemplateError
from .module import module, module_path
from .source import templates


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 all is up to date, 1 something is not or cannot be made, 2 wrong usage."""
    parser = arguments.parser_for("loops", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    check = parser.parse_args(argv).check
    try:
        changed = [update(module_path(source), module(source), check) for source in templates()]
    except TemplateError as e:
        print(f"loops: {e}", file=sys.stderr)
        return 1
    return 1 if check and any(changed) else 0


if __name__ == "__main__":
    sys.exit(main())
