"""mpconnxr ops [MODEL.onnx]: the operators that can be converted, or those that a model has."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from onnx import defs

from tools import arguments, limits
from tools.converter import ops
from tools.converter.context import PLAIN
from tools.converter.errors import ConvertError, text_of
from tools.converter.load import load, missing
from tools.converter.protos import nodes_of, operator_of

_OF = {"": "ai.onnx"}  # a domain's name, where ONNX writes none


@dataclass
class Row:
    """operator: with its domain, but for ONNX's own; how: "kernel", "function" (of kernels), or
    why it is not supported; nodes: how many a model has.
    """

    operator: str
    how: str
    supported: bool = True
    nodes: int = 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = arguments.parser_for(
        "cli ops", description="List the operators that can be converted, or those of a model."
    )
    found.add_argument("model", nargs="?", type=Path, metavar="MODEL.onnx")
    found.add_argument("--json", action="store_true", help="print one JSON array")
    limits.add_limit_options(found)
    return found


def limited(argv: list[str] | None = None) -> int:
    """`main` where a model cannot take memory or time without end."""
    return limits.run(lambda: main(argv), "ops")


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 all are supported, 1 some are not or the model cannot be read, 2 usage."""
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
    """Every operator that has a lowering, or that ONNX defines by operators which have one."""
    found = {_named(domain, name): "kernel" for domain, name in ops.known()}
    for schema in defs.get_all_schemas():
        if schema.has_function or schema.has_context_dependent_function:
            found.setdefault(_named(schema.domain, schema.name), "function")
    return [Row(name, found[name]) for name in sorted(found)]


def rows_of(path: Path) -> list[Row]:
    """A model's operators, those without a kernel first. Raises ConvertError."""
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
