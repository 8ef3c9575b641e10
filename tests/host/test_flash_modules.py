"""Each model gets the files of mpconnxr/ that it needs."""

import ast
from pathlib import PurePosixPath

import pytest

from examples.digits.demo import HERE
from tools import package
from tools.converter.convert import Options, convert
from tools.deploy.code import code_for
from tools.deploy.errors import DeployError
from tools.deploy.model_file import parse_model
from tools.deploy.modules import Package
from tools.machine import Machine

PACKAGE = package.folder()


def names(package, kernels):
    return {p.relative_to(package.folder).as_posix() for p in package.files_for(kernels)}


@pytest.fixture
def package(tmp_path):
    sources = {
        "__init__.py": "def load():\n    from .model import Model\n",
        "model.py": "import sys\nfrom . import forms\n",
        "forms.py": "",
        "ops/__init__.py": "",
        "ops/a.py": "from .. import forms\nfrom ..model import Model\nforms.get('x')\n"
        "def prepare(node):\n    pass\n",
        "ops/b.py": "from ._shared import prepare\n",
        "ops/_shared.py": "calls.fpu('x_u8', 'x')\n",
        "ops/c.py": "from . import a\nprepare = a.prepare\n",
        "loops/x.py": "",
        "loops/viper/x.py": "from ..common import g\n",
        "loops/x_u8.py": "",
        "loops/thumb/x_u8.py": "",
        "loops/common.py": "",
    }
    for name, text in sources.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Package(tmp_path)


CORE = {"__init__.py", "model.py", "forms.py", "ops/__init__.py"}
X = {"ops/a.py", "loops/x.py", "loops/viper/x.py", "loops/common.py"}


@pytest.mark.parametrize(
    ("kernels", "expected"),
    [
        ([], set()),
        (["a"], X),
        (["b"], {"ops/b.py", "ops/_shared.py", "loops/x_u8.py", "loops/thumb/x_u8.py"}),
        (["c"], X | {"ops/c.py"}),
    ],
)
def test_imports_and_named_loops_are_followed(package, kernels, expected):
    assert names(package, kernels) == CORE | expected


@pytest.mark.parametrize(
    ("options", "taken"),
    [
        (Options(), {"block_dot"}),
        (Options(weights="int8"), {"block_dot", "block_narrow"}),
        (Options(float="fast16"), {"block_dot", "short_dot"}),
    ],
)
def test_a_model_gets_the_products_of_its_weights(options, taken):
    model = parse_model("model.bin", convert(HERE / "digits.onnx", options).data)
    files = code_for(model, Package(), Machine("xtensawin"))
    loaded = [PurePosixPath(file.path) for file in files if file.loaded]
    native = {path.stem for path in loaded if path.parent.name == "xtensawin"}
    assert native & {"block_dot", "block_narrow", "short_dot"} == taken


def test_an_unknown_kernel_is_refused(package):
    with pytest.raises(DeployError, match="no kernel z: --ops FOLDER brings kernels of your own"):
        package.files_for(["a", "z"])


def test_kernels_are_read_from_a_converted_model():
    data = convert(HERE / "digits.onnx").data
    assert set(parse_model("digits.bin", data).kernels) >= {"block_gemm", "conv_max_pool"}


def test_loops_are_requested_by_literal_names():
    """The search for needed loops finds no others."""
    takes = [f"forms.{name}" for name in ("get", "find")] + ["calls.fpu", "calls.later"]
    paths = {*PACKAGE.glob("*.py"), *(PACKAGE / "ops").glob("*.py")}
    for path in paths - {PACKAGE / "forms.py"}:
        calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
        for call in calls:
            if path.parent.name == "ops" and getattr(call.func, "attr", "") in ("fpu", "later"):
                assert ast.unparse(call.func) in takes, path
            if ast.unparse(call.func) in takes:
                name = call.args[0].value
                assert [*(PACKAGE / "loops").rglob(f"{name}.py")], (path, name)


def test_every_kernel_has_the_loops_that_it_names():
    package = Package()
    core = set(package.files_for([]))
    kernels = [p.stem for p in (PACKAGE / "ops").glob("*.py") if package.has_kernel(p.stem)]
    assert len(kernels) > 50
    for kernel in kernels:
        results = {*package.files_for([kernel])} - core
        if any("forms.get(" in path.read_text() for path in results):
            assert any(PACKAGE / "loops" in path.parents for path in results), kernel
