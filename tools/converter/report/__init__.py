"""Render a converted model as one HTML page: its steps, its memory over time, and where it fits.

The page is self-contained: no network, no script, and drawings in inline SVG.
"""

from __future__ import annotations

from pathlib import Path

import jinja2

from ..converted import Converted
from . import arena_map, fits, graph_drawing, integers, python_floats, rows
from .terminal import time_text

_TEMPLATE = Path(__file__).parent


def page(converted: Converted, title: str) -> str:
    """Return the HTML of the page, with this title."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["n"] = lambda value: f"{value:,}"
    environment.filters["time"] = time_text
    table = rows.step_rows(converted)
    boards = fits.fits(converted)
    return environment.get_template("page.html").render(
        title=title,
        report=converted.report(),
        floats=python_floats.of(converted),
        rows=table,
        total_macs=sum(row.macs for row in table) or 1,
        arena=arena_map.draw(converted.plan, len(table)),
        graph=graph_drawing.draw(converted.graph),
        boards=boards,
        way=boards[0].plan.summary,
        verdicts=fits.VERDICTS,
        quantization=integers.quantization(converted),
        guessed=sorted({kernel for fit in boards for kernel in fit.guessed}),
        log=converted.log,
    )
