"""python -m tools.loops FAMILY [FORM]: print what the build makes of a family's loops.

FORM: one of those that the family has (default: the plain form, which may be viper as well).
"""

from __future__ import annotations

import sys

from tools import arguments, store

from .errors import LoopError


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 printed, 1 it cannot be made, 2 wrong usage."""
    parser = arguments.parser_for("loops", description=__doc__.partition(":")[2])
    parser.add_argument("family", metavar="FAMILY", help="such as qdot")
    parser.add_argument("form", metavar="FORM", nargs="?", default="plain", help="such as thumb")
    args = parser.parse_args(argv)
    try:
        modules = store.loops().modules(args.family)
    except LoopError as e:
        print(f"loops: {e}", file=sys.stderr)
        return 1
    if args.form not in modules:
        known = " ".join(modules) or "there is no such family"
        parser.error(f"no {args.family} in the form {args.form}: {known}")
    print(modules[args.form].read_text(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
