"""The command `mpconnxr targets`: list, install, build and run MicroPython targets."""

import argparse
import json
import sys
from pathlib import Path

from tools import arguments
from tools.errors import text_of

from . import Target, TargetError, TargetTimeout, get_target, target_names
from .packages import Package, install, missing_of


def do_build(args: argparse.Namespace) -> int:
    """Build targets. Exit status: 0 built."""
    for target in _targets(args):
        lacking = target.missing()
        if args.available and lacking:
            print(f"micropython: skipping {target.name}, which needs: {' '.join(lacking)}")
        else:
            _build(target)
    return 0


def _build(target):
    """Build a target if needed, and print what was done."""
    was_built = target.path().is_file()
    path = target.build()
    print(f"{target.name:15} {'was built already' if was_built else 'built'}: {path}")


def do_path(args: argparse.Namespace) -> int:
    """Print the path of a target's executable or firmware. Exit status: 0 printed."""
    print(get_target(args.target).build())
    return 0


def do_run(args: argparse.Namespace) -> int:
    """Run a script. Exit status: the script's own."""
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
    """Print the targets. Exit status: 0 printed."""
    rows = [_about(get_target(name)) for name in target_names()]
    if args.json:
        print(json.dumps(rows))
        return 0
    for row in rows:
        state = f"needs {' '.join(row['needs'])}" if row["needs"] else "can be built"
        print(f"{row['name']:15} {'built' if row['built'] else state:14} {row['about']}")
    return 0


def _about(target):
    """Return a target's entry in the list; `needs` are the system packages that it lacks."""
    lacking = target.missing()
    built = not lacking and target.path().is_file()
    return {"name": target.name, "built": built, "needs": lacking, "about": target.about}


def do_install(args: argparse.Namespace) -> int:
    """Install packages and build targets. Exit status: 0 installed."""
    args.install, args.available = True, False
    return do_packages(args) or do_build(args)


def do_packages(args: argparse.Namespace) -> int:
    """Print or install the missing system packages."""
    lacking = _lacking(args)
    if lacking and args.install:
        install(lacking)
        lacking = _lacking(args)
        if lacking:
            raise TargetError(f"still missing after the installation: {' '.join(lacking)}")
    if lacking:
        print("\n".join(lacking))
    return 0


def _lacking(args):
    names = [name for t in _targets(args) for name in t.missing()]
    names += missing_of(Package(name, (name, "--version")) for name in args.program)
    return list(dict.fromkeys(names))


def _targets(args: argparse.Namespace) -> list[Target]:
    return [get_target(name) for name in args.targets or target_names()]


def _named(text: str) -> tuple[str, Path]:
    """Parse `NAME=PATH`, or a path whose last part is the name."""
    name, equals, where = text.partition("=")
    path = Path(where if equals else text)
    name = name if equals else path.resolve().name
    if not path.exists():
        todo = "; mpconnxr package --to FOLDER writes it" if path.name == "mpconnxr" else ""
        raise TargetError(f"--file {text}: no such file or folder{todo}")
    return name, path


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = arguments.parser_for(
        "micropython",
        description="MicroPython targets.",
        example="mpconnxr targets install unix",
        page="targets",
    )
    result.set_defaults(do=do_list, json=False, program=[])
    verbs = result.add_subparsers(metavar="VERB")

    def verb(do, about: str) -> argparse.ArgumentParser:
        sub = verbs.add_parser(do.__name__.removeprefix("do_"), help=about, description=about)
        sub.set_defaults(do=do)
        return sub

    install = verb(do_install, "install what targets need (as root or with sudo) and build them")
    install.add_argument("targets", nargs="+", metavar="TARGET")
    build = verb(do_build, "build targets (default: all)")
    build.add_argument("targets", nargs="*", metavar="TARGET")
    build.add_argument(
        "--available", action="store_true", help="skip targets with missing packages"
    )
    path = verb(do_path, "build a target and print the path of its executable or firmware")
    path.add_argument("target")
    _add_run(verb(do_run, "run a script on a target"))
    listed = verb(do_list, "list the targets and their state (the default VERB)")
    listed.add_argument("--json", action="store_true", help="print one JSON array")
    packages = verb(do_packages, "print the missing system packages of targets")
    packages.add_argument("targets", nargs="*", metavar="TARGET")
    packages.add_argument("--install", action="store_true", help="install them with apt-get")
    packages.add_argument(
        "--program",
        action="append",
        default=[],
        metavar="NAME",
        help="also a program that tests need, by the name of its Debian package: chromium",
    )
    return result


def _add_run(run: argparse.ArgumentParser) -> None:
    run.add_argument("target")
    run.add_argument(
        "--file",
        action="append",
        default=[],
        metavar="[NAME=]PATH",
        help="copy this file or folder to the script's current folder",
    )
    run.add_argument(
        "--timeout",
        type=arguments.seconds,
        default=60,
        metavar="SECONDS",
        help="time limit (60)",
    )
    run.add_argument("--heap", type=int, metavar="BYTES", help="unix targets only")
    run.add_argument("--icount", action="store_true", help="count instructions, QEMU targets only")
    run.add_argument("script", type=Path)
    run.add_argument("args", nargs=argparse.REMAINDER)


def main(argv: list[str] | None = None) -> int:
    """Run the command. Exit status: 0 succeeded, 1 failed, 2 usage; `run` returns the script's."""
    args = parser().parse_args(argv)
    try:
        return args.do(args)
    except (TargetError, OSError) as error:
        hint = ": --timeout SECONDS allows more" if isinstance(error, TargetTimeout) else ""
        print(f"micropython: {text_of(error)}{hint}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
