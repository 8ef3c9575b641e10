"""python -m tools.dist [ARCH ...] [--to FOLDER]: what `mip install` takes, as .py and as .mpy.

Writes package.json, which lists the source, and for each architecture package-ARCH.json and
dist/ARCH_VERSION/mpconnxr/*.mpy. Without ARCH: for all of the boards in boards/.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.deploy.errors import DeployError

from .build import ROOT, machines, write_compiled, write_source


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 written, 1 not, 2 wrong usage."""
    known = machines()
    archs = list(known)
    parser = argparse.ArgumentParser("python -m tools.dist", description=__doc__.partition(":")[2])
    parser.add_argument("archs", nargs="*", metavar="ARCH", help=f"of {' '.join(archs)}")
    parser.add_argument(
        "--to", type=Path, default=ROOT, metavar="FOLDER", help="(default: this one)"
    )
    parser.add_argument("--source", action="store_true", help="package.json alone")
    args = parser.parse_args(argv)
    if unknown := set(args.archs) - set(archs):
        parser.error(f"no architecture {' '.join(sorted(unknown))}: there are {' '.join(archs)}")
    args.to.mkdir(parents=True, exist_ok=True)
    try:
        write_source(args.to)
        for arch in [] if args.source else args.archs or archs:
            names = write_compiled(args.to, known[arch])
            print(f"package-{arch}.json: {len(names)} modules")
    except DeployError as e:
        print(f"dist: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
