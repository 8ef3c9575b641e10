"""`python -m tools.micropython build|path|run|list|packages`."""

import argparse
import sys
from pathlib import Path

from . import Target, TargetError, get_target, target_names
from .packages import install


def do_build(args: argparse.Namespace) -> int:
    for target in _targets(args):
        lacking = target.missing()
        if args.available and lacking:
            print(f"micropython: leaving out {target.name}, install: {' '.join(lacking)}")
        else:
            target.build()
    return 0


def do_path(args: argparse.Namespace) -> int:
    print(get_target(args.target).build())
    return 0


def do_run(args: argparse.Namespace) -> int:
    target = get_target(args.target)
    done = target.run(
        args.script,
        files=dict(_named(text) for text in args.file),
        args=args.args,
        timeout=args.timeout,
        heap=args.heap,
        icount=args.icount,
        on_line=lambda line: print(line, flush=True),
    )
    sys.stderr.write(done.stderr)
    return done.returncode


def do_list(args: argparse.Namespace) -> int:
    for name in target_names():
        target = get_target(name)
        lacking = target.missing()
        if lacking:
            state = f"needs {' '.join(lacking)}"
        else:
            state = "built" if target.path().is_file() else "can be built"
        print(f"{name:12} {state:14} {target.about}")
    return 0


def do_packages(args: argparse.Namespace) -> int:
    lacking = list(dict.fromkeys(name for t in _targets(args) for name in t.missing()))
    if lacking and args.install:
        install(lacking)
        lacking = list(dict.fromkeys(name for t in _targets(args) for name in t.missing()))
        if lacking:
            raise TargetError(f"still missing after the installation: {' '.join(lacking)}")
    if lacking:
        print("\n".join(lacking))
    return 0


def _targets(args: argparse.Namespace) -> list[Target]:
    return [get_target(name) for name in args.targets or target_names()]


def _named(text: str) -> tuple[str, Path]:
    """`NAME=PATH`, or a path whose last part is the name."""
    name, equals, path = text.partition("=")
    return (name, Path(path)) if equals else (Path(text).resolve().name, Path(text))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.micropython")
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(do, about: str) -> argparse.ArgumentParser:
        sub = verbs.add_parser(do.__name__.removeprefix("do_"), help=about, description=about)
        sub.set_defaults(do=do)
        return sub

    build = verb(do_build, "build targets, all if none is named")
    build.add_argument("targets", nargs="*", metavar="TARGET")
    build.add_argument("--available", action="store_true", help="leave out what lacks packages")
    path = verb(do_path, "build a target and print where its executable or firmware is")
    path.add_argument("target")
    _add_run(verb(do_run, "run a script on a target"))
    verb(do_list, "list the targets and whether they are built")
    packages = verb(do_packages, "print the system packages that targets lack")
    packages.add_argument("targets", nargs="*", metavar="TARGET")
    packages.add_argument("--install", action="store_true", help="install them with apt-get")
    return parser.parse_args()


def _add_run(run: argparse.ArgumentParser) -> None:
    run.add_argument("target")
    run.add_argument(
        "--file",
        action="append",
        default=[],
        metavar="[NAME=]PATH",
        help="a file or folder that the script finds in its current folder",
    )
    run.add_argument("--timeout", type=float, default=60, metavar="SECONDS")
    run.add_argument("--heap", type=int, metavar="BYTES", help="unix targets only")
    run.add_argument("--icount", action="store_true", help="count instructions, QEMU only")
    run.add_argument("script", type=Path)
    run.add_argument("args", nargs=argparse.REMAINDER)


def main() -> int:
    args = parse_arguments()
    try:
        return args.do(args)
    except (TargetError, OSError) as error:
        print(f"micropython: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
