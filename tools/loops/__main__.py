"""python -m tools.loops FAMILY [FORM]: print the module that the build makes of a family's source.

FORM is viper or viper64 for hand-tuned sources (default: the plain form, which includes viper if
the family is written once).
"""

from __future__ import annotations

import sys

from tools import arguments

from . import python
from .errors import LoopError


def main(argv: list[str] | None = None) -> int:
    """Print the module. Return 0 if that succeeds, 1 if it cannot be made, 2 for wrong usage."""
    parser = arguments.parser_for("loops", description=__doc__.partition(":")[2])
    parser.add_argument("family", metavar="FAMILY", help="such as qdot")
    parser.add_argument("form", metavar="FORM", nargs="?", default="plain", help="such as viper")
    args = parser.parse_args(argv)
    try:
        modules = python.modules()
    except LoopError as e:
        print(f"loops: {e}", file=sys.stderr)
        return 1
    if (args.family, args.form) not in modules:
        forms = [form for family, form in modules if family == args.family]
        known = f"it has {' '.join(forms)}" if forms else "there is no such family"
        parser.error(f"no {args.family} in the form {args.form}: {known}")
    print(modules[args.family, args.form].text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
