"""The HTML report: well-formed, self-contained, and its figures are the conversion's."""

from xml.etree import ElementTree

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tools.converter.__main__ import main
from tools.converter.convert import convert
from tools.converter.report import fits, page
from tools.converter.report.graph_drawing import _lanes
from tools.converter.report.rows import step_rows


def _model(name="x"):
    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.normal(size=s).astype(np.float32), n)
        for n, s in (("w", (4, 3, 3, 3)), ("v", (4, 4, 3, 3)))
    ]
    nodes = [
        helper.make_node("Conv", [name, "w"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["a", "v"], ["b"], pads=[1, 1, 1, 1]),
        helper.make_node("Mul", ["a", "b"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 8, 8])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def _svgs(html):
    """The page's drawings, parsed."""
    for part in html.split("<svg")[1:]:
        yield ElementTree.fromstring("<svg" + part.split("</svg>")[0] + "</svg>")


def test_a_box_for_each_block_at_its_place():
    done = convert(_model())
    arena = next(_svgs(page(done, "a model")))
    boxes = list(arena.iter("rect"))
    assert len(boxes) == len(done.plan.blocks)
    tops = [float(box.get("y")) for box in boxes]
    by_end = sorted(zip(done.plan.blocks, tops, strict=True), key=lambda p: p[1])
    ends = [block.offset + block.nbytes for block, _ in by_end]
    assert ends == sorted(ends, reverse=True)  # the higher in memory, the higher in the picture


def test_rows_are_what_the_conversion_says():
    done = convert(_model())
    rows, report = step_rows(done), done.report()
    assert sum(row.macs for row in rows) == report["macs"] == 8 * 8 * 27 * 4 + 8 * 8 * 36 * 4
    assert max(row.live_bytes for row in rows) <= report["arena_bytes"]
    assert sum(row.weight_bytes for row in rows) == report["weight_bytes"]
    assert [row.index for row in rows if row.is_peak]


def test_a_name_is_text_and_nothing_else():
    html = page(convert(_model("<script>alert(1)</script>")), "<b>title</b>")
    assert "<script" not in html and "<b>title" not in html
    assert "&lt;script&gt;" in html


def test_needs_no_network():
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
    done = convert(_model())
    report = done.report()
    for fit in fits.fits(done):
        assert fit.code_bytes > 10_000
        assert fit.ram_bytes - fit.in_place_bytes == report["weight_bytes"]
        assert fit.in_place_bytes > report["arena_bytes"] + fit.code_bytes
        assert fit.verdict == (
            "fits" if fit.ram_bytes < fit.board.free_heap_bytes else "too large"
        )


def test_command_writes_the_page_and_the_table(tmp_path, capsys):
    path = tmp_path / "net.onnx"
    onnx.save(_model(), path)
    assert main(["report", str(path)]) == 0
    assert "net.onnx</h1>" in path.with_suffix(".html").read_text()
    capsys.readouterr()
    assert main([str(path), str(tmp_path / "net.bin"), "--summary"]) == 0
    printed = capsys.readouterr().out
    assert "in the arena" in printed and "conv" in printed
