"""The command `mpconnxr playground --serve | --to DIR`: a page that runs models in a browser."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from pathlib import Path

from tools import arguments
from tools.errors import ConvertError, UsageError, text_of
from tools.micropython import TargetError

_PORT = 8000


def main(argv: list[str] | None = None) -> int:
    """Run the command. Exit status: 0 success, 1 something is missing, 2 usage."""
    args = parser().parse_args(argv)
    from .assemble import assemble

    try:
        if args.to:
            folder = assemble(args.to)
            _report(args, {"folder": str(folder)}, f"{folder} is ready for a web server")
        else:
            _serve(args)
    except (ConvertError, TargetError, OSError) as e:
        print(f"playground: {text_of(e)}", file=sys.stderr)
        return 2 if isinstance(e, UsageError) else 1
    return 0


def _report(args, about, text):
    print(json.dumps(about) if args.json else f"playground: {text}", flush=True)


def _serve(args):
    """Serve the page until Ctrl-C."""
    from .assemble import assemble
    from .serve import server

    with (
        tempfile.TemporaryDirectory(prefix="mpconnxr-playground-") as name,
        server(assemble(Path(name) / "playground"), args.port) as serving,
        contextlib.suppress(KeyboardInterrupt),
    ):
        address = f"http://localhost:{serving.server_port}/"
        _report(args, {"address": address}, f"open {address} in a browser; Ctrl-C ends it")
        serving.serve_forever()


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = arguments.parser_for(
        "playground",
        description="Make a page that runs models in a browser.",
        example="mpconnxr playground --serve",
        page="playground",
    )
    action = result.add_mutually_exclusive_group(required=True)
    action.add_argument("--serve", action="store_true", help="serve the page on this computer")
    action.add_argument(
        "--to", type=Path, metavar="DIR", help="write the page there, for a web server"
    )
    result.add_argument(
        "--port",
        type=arguments.port,
        default=_PORT,
        help=f"port for --serve; 0 for any free port ({_PORT})",
    )
    result.add_argument("--json", action="store_true", help="print one JSON object")
    return result


if __name__ == "__main__":
    sys.exit(main())
