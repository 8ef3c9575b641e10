"""docs/fits.md has the figures that the converter estimates today."""

from __future__ import annotations

import re

import pytest

from benchmarks import which_board

PAGE = which_board.PAGE.read_text()
_NEAR = 0.15  # of a figure: the page is written now and then, the code changes in between


def line_in_page(name: str) -> list[str]:
    """Return the cells of a model's line, without its name."""
    [line] = re.findall(rf"^\| (?:\[{name}\]\(.*?\)|{name}) \| (.*) \|$", PAGE, re.M)
    return line.split(" | ")


def number(cell: str) -> float:
    """Return the figure of a cell; 0 if there is none."""
    return float(cell.strip("()*").replace(",", "").replace("–", "0"))


def test_the_page_has_each_board_of_the_table():
    [*_, head] = re.findall(r"^\| model \| (.*) \|$", PAGE, re.M)
    names = [re.sub(r", [\d,]+ KB$", "", cell) for cell in head.split(" | ")[2:]]
    assert names == [board.name for board in which_board.boards()]


@pytest.mark.parametrize("path", which_board.example_models(), ids=which_board.name_of)
def test_an_example_needs_what_the_page_says(path):
    row = which_board.row_of(path)
    cells = which_board.line_of(row).strip("| ").split(" | ")[1:]
    listed = line_in_page(row.name)
    assert cells[0] == listed[0]
    for now, then in zip(cells[1:], listed[1:], strict=True):
        assert abs(number(now) - number(then)) <= _NEAR * number(then), (row.name, now, then)


def test_a_cell_says_how_well_a_model_fits(monkeypatch):
    [path] = [p for p in which_board.example_models() if which_board.name_of(p) == "digits"]
    fit = which_board.row_of(path).fits[0]
    verdicts = {"fits": r"\d+", "may fit": r"\(\d+\)", "weights in place": r"\d+\*"}
    for verdict in (*verdicts, "too large", "flash too small"):
        monkeypatch.setattr(type(fit), "verdict", verdict)
        assert re.fullmatch(verdicts.get(verdict, "–"), which_board._cell(fit)), verdict
