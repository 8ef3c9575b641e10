"""python -m tools.playground --serve | --to DIR: a page that runs models in a browser."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path

from tools.errors import ConvertError, UsageError, text_of
from tools.micropython import TargetError

from .assemble import assemble
from .serve import server

_PORT = 8000


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 done, 1 something is missing, 2 usage."""
    args = _arguments(sys.argv[1:] if argv is None else argv)
    try:
        if args.to:
            print(f"playground: {assemble(args.to)} is ready for a web server")
        else:
            _serve(args.port)
    except (ConvertError, TargetError, OSError) as e:
        print(f"playground: {text_of(e)}", file=sys.stderr)
        return 2 if isinstance(e, UsageError) else 1
    return 0


def _serve(port):
    """Until Ctrl-C."""
    with (
        tempfile.TemporaryDirectory(prefix="mpconnxr-playground-") as name,
        server(assemble(Path(name) / "playground"), port) as serving,
        contextlib.suppress(KeyboardInterrupt),
    ):
        address = f"http://localhost:{serving.server_port}/"
        print(f"playground: open {address} in a browser; Ctrl-C ends it", flush=True)
        serving.serve_forever()


def _arguments(argv):
    parser = argparse.ArgumentParser(prog="python -m tools.playground", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--serve", action="store_true", help="serve the page on this computer")
    what.add_argument("--to", type=Path, metavar="DIR", help="write it there, for a web server")
    parser.add_argument(
        "--port", type=int, default=_PORT, help=f"of --serve; 0: any that is free ({_PORT})"
    )
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
