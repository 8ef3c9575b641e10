"""Named parameters of loops: what their files declare, and what kernels make of it."""

import ast

import pytest

from mpconnxr import parameters
from mpconnxr.blocks import block, fields
from mpconnxr.parameters import BIAS
from tools import access
from tools.loops import numbered
from tools.loops.errors import LoopError
from tools.loops.numbered import kernel, positions
from tools.loops.parameters import block_of, declared

DECLARATIONS = """
# Parameters of sums, largest
_X_START = const(0)  # the first element [elements] 0..
_STRIDES = const(1)  # of each axis [elements x 3]
_CORNER = const(4)  # of the window [elements, BIAS] -9..9

# Parameters of sums
_FLIP = const(5)  # 128 if x is signed [mask] 0, 128
_SCALE = const(6)  # [multiplier] 2**29..2**30 - 1


def sums(x, w, out, p):
    v = p[_X_START] + p[_STRIDES + 2]  # _X_START is not _X_STARTS
    return p[_SCALE]
"""


def written(folder, text):
    path = folder / str(len(list(folder.iterdir()))) / "some.py"  # a file is read once
    path.parent.mkdir()
    path.write_text(text)
    return path


def test_declarations_are_read(tmp_path):
    result = declared(written(tmp_path, DECLARATIONS))
    assert [each.name for each in result["largest"]] == ["x_start", "strides", "corner"]
    start, strides, corner, flip, scale = result["sums"]
    assert (start.unit, start.meaning, start.low, start.high) == (
        *("elements", "the first element"),
        *(0, None),
    )
    assert (strides.count, strides.is_list, corner.position) == (3, True, 4)
    assert corner.is_biased and not flip.is_biased and corner.may_be(-9) and not corner.may_be(-10)
    assert flip.may_be(128) and not flip.may_be(1)
    assert (scale.low, scale.high) == (1 << 29, (1 << 30) - 1)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("_START = const(1)  # [elements] 0..", "is at 1, not at 0"),
        ("_START = const(0x0)  # [elements]", "is not a position"),
        ("_START = const(0)", "its comment is not"),
        ("_START = const(0)  # the first one", "its comment is not"),
        ("_START = const(0)  # [elements] some", "is not a range"),
        ("_START = const(0)  # [elements] 3..2", "nothing is in it"),
        ("_OUT = const(0)  # [elements]", "means something else"),
        ("_A = const(0)  # [words x n]\n_B = const(1)  # [words]", "which has no end"),
        ("_A = const(0)  # [words]\n_A = const(1)  # [words]", "is there twice"),
        ("_A = const(\n    0\n)  # [words]", "a declaration is one line"),
    ],
)
def test_malformed_declarations_are_refused(tmp_path, line, why):
    with pytest.raises(LoopError, match=why):
        declared(written(tmp_path, f"# Parameters of sums\n{line}\n"))


def test_an_unknown_imported_name_is_refused(tmp_path):
    other = written(tmp_path, DECLARATIONS)
    other.with_name("more.py").write_text("from .some import _COLUMNS, sums\n")
    with pytest.raises(LoopError, match="declares no _COLUMNS"):
        positions(other.with_name("more.py"))


def test_names_become_numbers(tmp_path):
    path = written(tmp_path, DECLARATIONS)
    text = numbered.loops(path)
    assert "p[0] + p[1 + 2]" in text and "_X_STARTS" in text and "const" not in text
    assert len(text.splitlines()) == len(path.read_text().splitlines())
    more = path.with_name("more.py")
    more.write_text("from .some import (\n    _SCALE,\n    sums,\n)\n\nv = p[_SCALE]\n")
    assert numbered.loops(more).split() == ["from", ".some", "import", "sums", "v", "=", "p[6]"]


def test_a_block_is_made_by_names():
    names = [each.name for each in block_of("patches", "patches")]
    numbers = {name: i for i, name in enumerate(names)}
    made = block("patches", **numbers)
    corner = numbers["corner_row"]
    assert made[corner] == corner + BIAS and list(made[:corner]) == list(range(corner))
    assert made == block("patches.patches", **numbers)
    with pytest.raises(TypeError, match="corner_row is missing"):
        block("patches", **{n: v for n, v in numbers.items() if n != "corner_row"})
    with pytest.raises(TypeError, match="has no corner"):
        block("patches", **numbers, corner=1)


def test_a_family_of_several_blocks_needs_a_functions_name():
    with pytest.raises(TypeError, match="which of its functions"):
        fields("qsoftmax")
    assert fields("qsoftmax.powers") != fields("qsoftmax.softmax8")


def test_built_modules_have_the_same_numbers(tmp_path):
    names = [each.name for each in block_of("planes", "planes")]
    keywords = ", ".join(f"{name}={i} if {i} else 7" for i, name in enumerate(names))
    text = f'from ..blocks import block\n\np = block("planes", {keywords})\n'
    made = kernel(written(tmp_path, text)).partition("\n")[2]
    names = {name: i or 7 for i, name in enumerate(names)}
    assert eval(made.strip().removeprefix("p = "), {"block": parameters.block}) == block(
        "planes", **names
    )


def test_arrays_of_parameters_are_lists(tmp_path):
    names = [each.name for each in block_of("block_pieces", "pieces")]
    keywords = ", ".join(f"{name}={i}" for i, name in enumerate(names))
    text = f'from ..blocks import block\n\np = block("block_pieces", {keywords})\n'
    made = kernel(written(tmp_path, text)).partition("p = ")[2]
    assert made.startswith("block_of([0, 1, ") and "] + [" in made
    numbers = {name: i for i, name in enumerate(names)}
    assert eval(made, vars(parameters)) == block("block_pieces", **numbers)


def test_a_parameter_may_be_imported(tmp_path):
    text = (
        "# Parameters of f\n_A = 0  # [elements] 0..\n_B = const(1)  # [flag] 0, 1\n\n_SIZE = 32\n"
    )
    result = declared(written(tmp_path, text))["f"]
    assert [(each.name, each.position) for each in result] == [("a", 0), ("b", 1)]


def test_names_of_parameters_in_kernels_become_numbers(tmp_path):
    text = "from ..loops.patches import _COLUMN, _ROW as _Y\n\np[_Y] = p[_COLUMN]\n"
    assert kernel(written(tmp_path, text)).strip() == "p[16] = p[17]"
    with pytest.raises(LoopError, match="loops/patches.py declares no _ROWZ"):
        kernel(written(tmp_path, "from ..loops.patches import _ROWZ\n"))


def test_parameters_beyond_declared_ranges_are_refused():
    loop = access.loops("planes")["planes"]
    good = {"padding": 255, "flip": 128, "first_row": -3, "planes": 1, "rows": 1}
    good |= {"out_rows": 1, "out_columns": 1, "columns": 1}
    names = [each.name for each in loop.block]
    whole = block("planes", **{name: good.get(name, 0) for name in names})
    assert loop.accesses(whole)
    for name, value in {"padding": 256, "flip": 1, "planes": 0, "x_start": -1}.items():
        with pytest.raises(access.AccessError, match=f"{name} = {value} is beyond its range"):
            loop.accesses(block("planes", **{n: {**good, name: value}.get(n, 0) for n in names}))


@pytest.mark.parametrize("family", access.families())
def test_every_loop_declares_its_block(family):
    for name, loop in access.loops(family).items():
        if "p" in loop.args and not loop.of_others and takes_parameters(loop):
            assert loop.block or name in ("refuse", "zero_point"), name


def takes_parameters(loop):
    """Return True if a loop uses its block of parameters."""
    body = ast.parse(loop.path.read_text()).body
    [function] = [node for node in body if getattr(node, "name", "") == loop.name]
    return any(isinstance(node, ast.Name) and node.id == "p" for node in ast.walk(function))
