"""mpconnxr ops [MODEL.onnx]: list the operators that can be converted, or those of a model."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from tools import arguments, limits
from tools.converter.errors import ConvertError, text_of

_OF = {"": "ai.onnx"}  # domains that are omitted in the list


@dataclass
class Row:
    """An operator in the list.

    Attributes:
        operator: name, with the domain unless it is ONNX's own.
        how: "kernel", "function" (of operators with kernels), or why it is not supported.
        nodes: number of its nodes in the model.
    """

    operator: str
    how: str
    supported: bool = True
    nodes: int = 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    cli = arguments.parser_for(
        "cli ops",
        description="List the operators that can be converted, or those of a model.",
        example="mpconnxr ops model.onnx",
        page="operators",
    )
    cli.add_argument("model", nargs="?", type=Path, metavar="MODEL.onnx")
    cli.add_argument("--json", action="store_true", help="print one JSON array")
    limits.add_limit_options(cli)
    return cli


def limited(argv: list[str] | None = None) -> int:
    """Call `main` in a process whose memory and time are limited, for untrusted models."""
    if parser().parse_args(argv).model:  # --help and wrong usage end here
        from tools.converter import load  # noqa: F401 (shared with the process: no --memory)

    return limits.run(lambda: main(argv), "ops")


def main(argv: list[str] | None = None) -> int:
    """Run the command; return the exit status.

    It is 0 if all operators are supported, 1 if not or if the model cannot be read, 2 for wrong
    usage.
    """
    args = parser().parse_args(argv)
    limits.apply(args)
    try:
        rows = rows_of(args.model) if args.model else all_rows()
    except (ConvertError, OSError) as e:
        print(f"ops: {text_of(e)}", file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        for row in rows:
            print(f"{row.operator:44} {row.nodes or '':>5} {row.how}".rstrip())
    return int(not all(row.supported for row in rows))


def all_rows() -> list[Row]:
    """Return every operator with a lowering, or that ONNX defines by such operators."""
    from onnx import defs

    from tools.converter import ops

    support = {_named(domain, name): "kernel" for domain, name in ops.known()}
    for schema in defs.get_all_schemas():
        if schema.has_function or schema.has_context_dependent_function:
            support.setdefault(_named(schema.domain, schema.name), "function")
    return [Row(name, support[name]) for name in sorted(support)]


def rows_of(path: Path) -> list[Row]:
    """Return a model's operators, unsupported ones first.

    Raises:
        ConvertError: if the model cannot be read.
    """
    from tools.converter.context import PLAIN
    from tools.converter.load import load, missing
    from tools.converter.protos import nodes_of, operator_of

    model = load(path)
    counts = Counter(operator_of(node) for node in nodes_of(model.graph))
    problems = {f.what.partition(" (")[0]: f.problem for f in missing.operators(model, PLAIN)}
    known = {row.operator: row.how for row in all_rows()}
    rows = [Row(name, known.get(name, "kernel"), True, n) for name, n in counts.items()]
    for name, problem in problems.items():
        rows = [row for row in rows if row.operator != name]
        rows.append(Row(name, str(problem), False, counts.get(name, 0)))
    return sorted(rows, key=lambda row: (row.supported, row.operator))


def _named(domain, name):
    return name if domain in _OF else f"{domain}::{name}"
