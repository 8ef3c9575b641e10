"""The HTML report is well-formed and self-contained, and has the conversion's figures."""

import dataclasses
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.host.device import small
from tools.converter.__main__ import main
from tools.converter.convert import convert
from tools.converter.report import costs, fits, page
from tools.converter.report.graph_drawing import _lanes
from tools.converter.report.rows import step_rows
from tools.converter.report.terminal import print_boards, print_steps, time_text

DIGITS = Path(__file__).parents[4] / "examples" / "digits" / "digits.onnx"


def _model(name="x"):
    rng = np.random.default_rng(0)
    w, v = (rng.normal(size=(4, n, 3, 3)).astype(np.float32) for n in (3, 4))
    nodes = [
        helper.make_node("Conv", [name, "w"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["a", "v"], ["b"], pads=[1, 1, 1, 1]),
        helper.make_node("Mul", ["a", "b"], ["y"]),
    ]
    ends = [small.value(name, [1, 3, 8, 8])], [small.value("y", [1, 4, 8, 8])]
    return small.model(nodes, *ends, w=w, v=v)


def _svgs(html):
    """Yield the page's drawings, parsed."""
    for part in html.split("<svg")[1:]:
        yield ElementTree.fromstring("<svg" + part.split("</svg>")[0] + "</svg>")


def test_each_block_has_a_box_at_its_place():
    converted = convert(_model())
    arena = next(_svgs(page(converted, "a model")))
    boxes = list(arena.iter("rect"))
    assert len(boxes) == len(converted.plan.blocks)
    tops = [float(box.get("y")) for box in boxes]
    by_end = sorted(zip(converted.plan.blocks, tops, strict=True), key=lambda p: p[1])
    ends = [block.offset + block.nbytes for block, _ in by_end]
    assert ends == sorted(ends, reverse=True)  # the higher in memory, the higher in the picture


def test_rows_have_the_figures_of_the_conversion():
    converted = convert(_model())
    rows, report = step_rows(converted), converted.report()
    assert sum(row.macs for row in rows) == report["macs"] == 8 * 8 * 27 * 4 + 8 * 8 * 36 * 4
    assert max(row.live_bytes for row in rows) <= report["arena_bytes"]
    assert sum(row.weight_bytes for row in rows) == report["weight_bytes"]
    assert [row.index for row in rows if row.is_peak]


def test_names_are_escaped():
    html = page(convert(_model("<script>alert(1)</script>")), "<b>title</b>")
    assert "<script" not in html and "<b>title" not in html
    assert "&lt;script&gt;" in html


def test_the_page_needs_no_network():
    html = page(convert(_model()), "t")
    assert "http" not in html and "src=" not in html and "@import" not in html


@pytest.mark.parametrize(
    ("edges", "lanes"),
    [
        ([(0, 1), (1, 2)], [0, 0]),
        ([(0, 2), (2, 4)], [1, 1]),
        ([(0, 3), (1, 4)], [1, 2]),
    ],
)
def test_lines_beside_the_boxes_do_not_cross(edges, lanes):
    assert [lane for *_, lane in _lanes(edges)] == lanes


def test_boards_count_code_weights_and_arena():
    converted = convert(_model())
    report = converted.report()
    for fit in fits.fits(converted):
        assert fit.plan.is_program and 20_000 < fit.code_bytes < 100_000
        assert fit.file_bytes == fit.code_bytes + report["file_bytes"]
        held = report["streamed_arena_bytes"] + report["held_bytes"] - report["arena_bytes"]
        assert fit.needs.total - fit.in_place.total == held
        assert fit.in_place.total > report["arena_bytes"] + 5_000


def test_verdicts_follow_the_free_heap():
    pico = next(fit for fit in fits.fits(convert(_model())) if fit.board.name == "pico")
    likely, most = pico.needs.total, round(pico.needs.total * 1.1) + 1

    def verdict(**changes):
        return dataclasses.replace(pico, board=dataclasses.replace(pico.board, **changes)).verdict

    assert verdict(free_heap_bytes=most) == "fits"
    assert verdict(free_heap_bytes=likely + 1) == "may fit"
    assert verdict(free_heap_bytes=likely - 1) == "weights in place"
    assert verdict(free_heap_bytes=likely - 1, platform="esp32") == "too large"
    assert verdict(free_heap_bytes=1000) == "too large"
    assert verdict(free_heap_bytes=None) == "heap not known"
    assert verdict(unable="a reason") == "not able"
    assert set(fits.VERDICTS.values()) == {"yes", "partly", "no"}


def test_a_heap_that_is_estimated_is_marked(capsys):
    converted = convert(_model())
    print_boards(converted)
    for shown in (capsys.readouterr().out, page(converted, "t")):
        assert "about 180,000" in shown and "209,936" in shown and "about 209,936" not in shown


def test_time_follows_clock_and_cycles():
    converted = convert(_model())
    seconds = {fit.board.name: fit.seconds for fit in fits.fits(converted)}
    boards = {fit.board.name: fit.board for fit in fits.fits(converted)}
    assert seconds["xiao-samd21"] is None
    assert seconds["pico"] == seconds["pico-w"]
    for name, of in seconds.items():
        if of:
            least, most = boards[name].cycles_per_instruction
            counted = costs.model_instructions(converted.graph.steps, boards[name].counted_on)
            assert of.least == pytest.approx(counted.least * least / boards[name].clock_hz)
            assert of.most == pytest.approx(counted.most * most / boards[name].clock_hz)
            assert of.least < of.likely < of.most


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3.21, "3.2 s"), (0.0421, "42 ms"), (0.0042, "4.2 ms"), (1e-5, "10 µs"), (1e-7, "0.1 µs")],
)
def test_times_are_printed_with_short_units(seconds, text):
    assert time_text(seconds) == text


def test_command_writes_the_page_and_the_table(tmp_path, capsys):
    path = tmp_path / "net.onnx"
    onnx.save(_model(), path)
    assert main(["report", str(path)]) == 0
    assert "net.onnx</h1>" in path.with_suffix(".html").read_text()
    capsys.readouterr()
    assert main([str(path), str(tmp_path / "net.bin"), "--summary"]) == 0
    printed = capsys.readouterr().out
    assert "in the arena" in printed and "conv" in printed
    assert "pico2-riscv" in printed and "on a board: as a program" in printed


def test_names_of_kernels_and_figures_are_whole_in_a_narrow_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    converted = convert(DIGITS)
    print_steps(converted)
    lines = capsys.readouterr().out.splitlines()
    for row in step_rows(converted):
        line = next(line for line in lines if line.startswith(f"{row.index} "))
        assert line.split()[1] == row.kernel and line.split()[-1] == f"{row.live_bytes:,}"
