"""Named parameters of kernels: what a declaration says, and that steps are made by it."""

import ast

import numpy as np
import pytest

from tools import package
from tools.converter import kernel_list, kernel_parameters
from tools.converter.ir import Step
from tools.converter.kernel_parameters import DeclarationError, ParameterError, declaration_of

NOTHING = kernel_parameters.Declaration("nothing")
CONV = """
\"\"\"conv: an example.\"\"\"

# params
_N = const(0)
_STRIDES = const(1)  # [y, x]
_PADS = const(3)  # [2] signed: at the begin, which may be
#     less than 0
_LIMIT = const(5)  # float
_N_PARAMS = const(6)

_OTHER = 3
"""
WALK = """
# params
_OP = const(0)  # flag
_RANK = const(1)
_DIMS = const(2)  # [rank] of x
# then steps: [2 * rank - op] signed
# then count: [?] dim
"""
OUTER = """
# params, or none
_LAST = const(0)  # flag
_CONV = const(1)  # [conv]
_MORE = const(7)  # [*] any
"""


@pytest.fixture
def declared(tmp_path):
    """Return declare(name, text), the declaration of a module with that text."""

    def declare(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        return declaration_of(name, tmp_path)

    return declare


def test_parameters_are_listed_in_order(declared):
    conv = declared("conv", CONV)
    assert conv.length == 6
    params = conv.listed({"pads": [-1, 2], "n": 1, "limit": 0x40C00000, "strides": (2, 3)})
    assert params == [1, 2, 3, -1, 2, 0x40C00000]
    others = {"strides": np.array([2, 3]), "pads": iter([-1, 2])}
    assert conv.listed({"n": 1, "limit": 0x40C00000, **others}) == params
    assert conv.text(params) == "n=1 strides=[2, 3] pads=[-1, 2] limit=6"
    paths = [place.path for place in conv.singles(params)]
    assert paths == ["n", "strides.y", "strides.x", "pads.0", "pads.1", "limit"]
    kinds = [place.field.kind for place in conv.singles(params)]
    assert kinds == ["extent", "extent", "extent", "signed", "signed", "float"]


def test_lengths_follow_from_other_parameters(declared):
    walk = declared("walk", WALK)
    assert walk.length is None
    values = {"op": 1, "rank": 2, "dims": [5, 6], "steps": [1, 2, 3], "count": []}
    assert walk.listed(values) == [1, 2, 5, 6, 1, 2, 3]
    assert walk.listed({**values, "count": [9]})[-1] == 9
    assert walk.place([0, 1, 4, 7, 8, 9], "count").at == 5
    with pytest.raises(ValueError, match="of dims"):
        walk.listed({**values, "dims": [5], "steps": [1, 2, 3, 4]})
    for params in ([], [0], [0, 1 << 28, 3], [0, -1], [0, 1, 4, 7, 8, 9, 9]):
        with pytest.raises(ValueError):
            walk.places(params)


def test_a_group_may_be_declared_in_another_module(declared):
    declared("conv", CONV)
    outer = declared("outer", OUTER)
    conv = {"n": 1, "strides": [2, 3], "pads": [4, 5], "limit": 6}
    params = outer.listed({"last": 0, "conv": conv, "more": [7, 8]})
    assert params == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert outer.place(params, "conv.strides.x").at == 3
    assert outer.listed({}) == []
    del conv["limit"]
    with pytest.raises(ParameterError, match="lacks limit"):
        outer.listed({"last": 0, "conv": conv, "more": []})
    same = declared("same", "# params: as conv\n")
    assert same.fields == declared("conv", CONV).fields and same.kernel == "same"
    assert declared("nothing", "# params: none\n").listed({}) == []
    assert declared("helper", "x = 1\n") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# params\n_A = const(1)\n", "position 0"),
        ("# params\n_A = const(0)  # [y, x]\n_B = const(1)\n", "position 2"),
        ("# params\n_A = const(0)  # [*]\n_B = const(1)\n", "B|b has position|behind"),
        ("# params\n_A = const(0)\n_N_PARAMS = const(2)\n", "n_params"),
        ("# params\n_A = const(0)  # [b]\n_B = const(1)\n", "module b"),
        ("# params\n_A = const(0)  # [2 * b]\n", "not known"),
        ("# params\n_A = const(0)\n_A = const(1)\n", "name a"),
        ("# params\n_ROWS = const(0)\n", "name rows"),
        ("# params\nA = const(0)\n", "underscore"),
        ("# params\n# what is this\n", "line 2"),
        ("# params: some\n", "heading"),
        ("# params\n_A = const(0)\n\n# params\n_B = const(0)\n", "two"),
    ],
)
def test_malformed_declarations_are_refused(declared, text, why):
    with pytest.raises(DeclarationError, match=why):
        declared("kernel", text)


def test_steps_know_their_parameters_by_name():
    names = {"batches": [1, 1], "m": 2, "n": 3, "k": 4, "has_bias": 0, "w_steps": [5, 6]}
    step = Step.of("gemm", [], [], **names, a_steps=[7, 8], node="here")
    assert (step["n"], step["w_steps"], step["w_steps.1"], step.node) == (3, [5, 6], 6, "here")
    other = step.with_params(n=9, w_steps=[0, 0])
    assert (other["n"], other["w_steps"], step["n"]) == (9, [0, 0], 3)
    step["a_steps.1"] = 1
    assert step["a_steps"] == [7, 1]
    for wrong in ({**names}, {**names, "a_steps": [0, 0], "out": 1}, {**names, "a_steps": 0}):
        with pytest.raises(ParameterError):
            Step.of("gemm", [], [], **wrong)
    with pytest.raises(ValueError):
        Step.of("gemm", [], [], **names, a_steps=[7, 8, 9])
    for name in ("nn", "w_steps.2", "w_steps.y"):
        with pytest.raises(ParameterError, match="gemm has no parameter"):
            step[name]
    with pytest.raises(ParameterError):
        step["a_steps"] = [1]
    with pytest.raises(ParameterError, match="by name"):
        kernel_parameters.listed(declaration_of("gemm"), "gemm", {}, [1, 2])
    with pytest.raises(ParameterError, match="declares no"):
        kernel_parameters.listed(None, "own", {"a": 1}, [])


def test_every_kernel_declares_its_parameters():
    names = kernel_list.kernels()
    assert len(names) > 90
    assert [name for name in names if declaration_of(name) is None] == []


def test_a_name_means_one_thing():
    """MicroPython refuses a second value for a constant."""
    for path in package.KERNELS.glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text()))
        stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        names = [f"_{f.name.upper()}" for f in (declaration_of(path.stem) or NOTHING).fields]
        assert [name for name in names if stored.count(name) > 1] == [], path


def test_the_page_lists_all_parameters():
    page = kernel_list.PAGE.read_text()
    assert page == kernel_list.page_with_list(page), "python -m tools.converter.kernel_list"


def test_no_parameter_is_accessed_by_position():
    """Positions occur only in declarations."""
    root, result = kernel_list.PAGE.parents[1], []
    for path in [*(root / "tools").rglob("*.py"), *(root / "mpconnxr/ops").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Attribute(attr="emit"), args=args):
                    is_list = len(args) > 3 or "params" in [k.arg for k in node.keywords]
                case ast.Call(func=ast.Attribute(attr="extents" | "signed"), args=[first, _]):
                    is_list = isinstance(first, ast.Constant) and first.value > 0
                case ast.Subscript(
                    value=ast.Attribute(attr="params"), slice=ast.Constant(value=at)
                ):
                    is_list = isinstance(at, int)
                case _:
                    continue
            if is_list:
                result.append(f"{path}:{node.lineno}")
    assert result == []
