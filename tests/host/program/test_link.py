"""Functions of several modules are linked into one source."""

import pytest

from tools.program.link import Linker, LinkError


@pytest.fixture
def folder(tmp_path):
    files = {
        "pkg/a.py": "import math\n\nfrom .b import half as h, twice\nfrom . import c as other\n\n"
        "_TWO = const(2)\nPAIR = (_TWO, 3)\n\n\ndef f(x, y):\n"
        '    """Text."""\n    h = 1\n    return twice(x) + other.g(y) + _TWO + math.pi + h\n',
        "pkg/b.py": "import micropython\n\n\ndef half(x):\n    return x // 2\n\n\n"
        "@micropython.viper\ndef twice(x: int) -> int:\n    return half(x) * 4\n",
        "pkg/c.py": "def g(PAIR):\n    return PAIR\n\n\nalias = same = g\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "pkg"


def test_only_called_functions_are_linked_under_short_names(folder):
    linker = Linker(lambda path: False)
    name = linker.take(folder / "a.py", "f")
    source = linker.source()
    results = {"const": lambda x: x}
    exec(source, results)
    assert results[name](6, 5) == 12 + 5 + 2 + 3.141592653589793 + 1
    assert "PAIR" not in source.replace("(PAIR)", "").replace("return PAIR", "")
    assert "Text" not in source and "viper" not in source and "half" not in source


def test_decorators_stay_if_the_board_has_the_emitter(folder):
    linker = Linker(lambda path: True)
    linker.take(folder / "a.py", "f")
    assert linker.source().count("@micropython.viper") == 1


def test_functions_that_use_others_stay_outside(folder):
    """Nested functions would have cells, which allocate at each call."""
    linker = Linker(lambda path: True, nested=True)
    f, g = linker.take(folder / "a.py", "f"), linker.take(folder / "c.py", "g")
    half = linker.take(folder / "b.py", "half")
    other = Linker(lambda path: True, nested=True)
    alone = other.take(folder / "c.py", "g")
    assert all(f"def {name}(" in linker.outer() for name in (f, g, half))
    assert "def " not in linker.source() and "import math" in linker.outer()
    assert f"def {alone}(" in other.source() and not other.outer()


def test_constants_that_name_functions_take_them_outside(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(
        "def _one(x):\n    return x + 1\n\n\ndef _two(x):\n    return x + 2\n\n\n"
        "_APPLY = (_one, _two)\n\n\ndef f(x, k):\n    return _APPLY[k](x)\n"
    )
    linker = Linker(lambda path: True, nested=True)
    name = linker.take(path, "f")
    results = {}
    exec(linker.outer(), results)
    assert [results[name](5, k) for k in (0, 1)] == [6, 7] and not linker.source().strip()


def test_imports_within_functions_are_by_the_package_and_noted(tmp_path):
    package = tmp_path / "mpconnxr"
    (package / "loops").mkdir(parents=True)
    (package / "loops/a.py").write_text("def f(x):\n    from .. import b\n\n    b.g(x)\n")
    (package / "b.py").write_text("def g(x):\n    pass\n")
    linker = Linker(lambda path: False)
    linker.take(package / "loops/a.py", "f")
    assert "    from mpconnxr import b\n" in linker.source()
    assert linker.later == {package / "b.py"}


def test_names_are_taken_once(folder):
    linker = Linker(lambda path: False)
    assert linker.take(folder / "b.py", "half") == linker.take(folder / "b.py", "half")
    linker.take(folder / "c.py", "alias")
    results = {}
    exec(linker.source(), results)
    assert linker.source().count("def ") == 2


def test_a_missing_function_is_an_error(folder):
    with pytest.raises(LinkError, match="a.py has no nobody"):
        Linker(lambda path: False).take(folder / "a.py", "nobody")
    (folder / "d.py").write_text("class C:\n    pass\n\n\ndef f():\n    return C\n")
    linker = Linker(lambda path: False)
    with pytest.raises(LinkError, match="no C"):
        linker.take(folder / "d.py", "C")
