"""Building loops: what becomes of their sources."""

import ast
import builtins
import re

import pytest

from tools import package
from tools.loops import __main__ as command
from tools.loops import numbered, python
from tools.loops.borrowed import with_borrowed
from tools.loops.errors import LoopError
from tools.loops.module import module
from tools.loops.source import Source

LOOPS = package.SOURCES / "loops"
HEAD = '''"""What."""

from .._hints import far, inline, undefined, unroll
from .._words import pairs, rows_of_pairs, signed, swap


@inline
def with_low(a, b):
    low = undefined
    if b:
        low, a = a & 15, a >> 4
    return a, low


'''


def test_a_module_names_its_source():
    for text, path in python.modules().values():
        made = f"\n\nMade from {path}: change that file, not this one.\n" in text
        assert made or _dense(numbered.loops(package.ROOT / path)) == _dense(text)


def _dense(text):
    return [line for line in text.splitlines() if line]


def test_built_modules_have_numbers_for_parameters():
    for text, path in python.modules().values():
        names = re.findall(r"\bp\[_\w*\]", text)
        assert not names, (path, names[:3])


def test_forms_use_only_defined_names():
    """Ruff cannot tell: names of parameters come from another file."""
    known = {*dir(builtins), "const", "micropython", "ptr", "ptr8", "ptr16", "ptr32", "uint"}
    for text, path in [made for (_, form), made in python.modules().items() if form != "plain"]:
        body = ast.parse(text).body
        functions = [node for node in body if isinstance(node, ast.FunctionDef)]
        outer = known.union(*(_defined(node) for node in body if node not in functions))
        outer |= {function.name for function in functions}
        for function in functions:
            names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
            assert names <= outer | _defined(function), (path, function.name)


def _defined(statement):
    """Return the names that a statement stores, imports, or takes as arguments."""
    results = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            results.add(node.id)
        elif isinstance(node, ast.alias):
            results.add(node.asname or node.name)
        elif isinstance(node, ast.arg):
            results.add(node.arg)
    return results


def test_sources_with_types_serve_both_forms():
    plain = {key[0]: m for key, m in python.modules().items() if key[1] == "plain"}
    typed = {family for family, m in plain.items() if Source(package.ROOT / m.shown).is_typed}
    assert typed == {family for family, m in plain.items() if python.is_common(m.text)}
    assert 70 < len(typed) < len(plain)


def link_helpers(folder):
    for path in LOOPS.glob("_*.py"):
        (folder / path.name).symlink_to(path)


def made_of(folder, body):
    path = folder / "viper" / "what.py"
    path.parent.mkdir()
    link_helpers(folder)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    path.write_text(f"{HEAD}def f(x: ptr32, p: ptr32):\n{lines}")
    return module(Source(path), False)


@pytest.mark.parametrize(
    "body, lines",
    [
        ("for i in range(3):\n    x[i] = 0", "i = 0\nwhile i < 3:\n    x[i] = 0\n    i += 1"),
        ("for n in range(p[0], 0, -1):\n    f()", "n = p[0]\nwhile n:\n    f()\n    n -= 1"),
        ("while far(i < 3):\n    f()", "while True:\n    if i >= 3:\n        break\n    f()"),
        (
            "for n in far(range(p[0], 0, -1)):\n    f()",
            "n = p[0]\nwhile True:\n    if n == 0:\n        break\n    f()\n    n -= 1",
        ),
        ("for i in unroll(1, 3):\n    x[2 * i] = i << n", "x[2] = 1 << n\nx[4] = 2 << n"),
        ("a = b = 0", "a = 0\nb = 0"),
        ("a, b = p[1], a", None),
        ("a, b = p[1], 0x10  # why", "a = p[1]  # why\nb = 0x10"),
        ("a, b = p[1:3]", "a = p[1]\nb = p[2]"),
        (
            "v = min(max(x[0], a), b + 1)",
            "v = x[0]\nif v < a:\n    v = a\nif v > b + 1:\n    v = b + 1",
        ),
        ("v = max(x[0], v)", "if x[0] > v:\n    v = x[0]"),
        ("v = abs(v)", "if v < 0:\n    v = 0 - v"),
        ("# Why.\na, b, c = swap(a, b)", "# Why.\nc = a\na = b\nb = c"),
        ("a, x[2], c = swap(a, x[2])  # why", "c = a  # why\na = x[2]\nx[2] = c"),
        ("v = signed(a + 1, v)", None),
        ("v = signed(v + 1, a)", "v = (v + 1)\nif a:\n    v = 0 - v"),
        ("b, c = with_low(b, i)", "if i:\n    c = b & 15\n    b = b >> 4"),
        ("b, c = with_low(b, i)\nx[c] = b", None),
        ("b, c = with_low(b, i)\nif b:\n    c = 1\nelse:\n    x[0] = c", None),
        ("b, c = with_low(b, i)\nif b:\n    c = 1\n    x[0] = c", "if i:\n    c = b & 15"),
        ("b, c = with_low(a, i)", None),
        ("b, b = with_low(b, i)", None),
        ("b, c = with_low(b)", None),
        ("a, b = swap(a, b)", None),
        ("c = v = signed(a, b)", None),
        ("v = signed(a, b, v=c)", None),
        ("v += signed(a, b)", None),
        ("for i in range(9, 0, -2):\n    f()", None),
        ("for i in range(9):\n    f()\nelse:\n    i = 2", None),
        ("swap(a, b)", None),
        ("a = 1 + signed(a, b)", None),
        ("i, j, k, a, b = pairs(i, j, k, p)", None),
        ("for i in x:\n    f()", None),
        ("for i in range(3):\n    i += 1", None),
        ("for i in range(n):\n    n = x[i]", None),
        ("for i in range(p[0]):\n    if i:\n        f(p)", None),
        ("for i in range(p[0]):\n    if i:\n        continue", None),
        ("for i in range(3):\n    f()\nx[0] = i", None),
        ("for i in range(3):\n    f()\ni += 1", None),
        ("while p[0]:\n    x[i] = 0\n    for i in range(3):\n        f()", None),
        ("for i in unroll(3):\n    f()\nx[0] = i", None),
        ("for i in range(n):\n    x[i] = 0\ni = 1\nx[i] = 2", "i = 0\nwhile i < n:\n    x[i] = 0"),
        ("for i, j, k, a, b in pairs(i, j, k, p):\n    k = 1", None),
        ("for i, j, k, a, b in pairs(i, j, k, p):\n    x[k] = 1\nx[k] = 1", None),
        ("for i, j, k, a, b in pairs(i, j, a, p):\n    x[k] = 1", None),
        ("for i, j, k, a, n in rows_of_pairs(i, j, k, n, 1, 1, p):\n    break", None),
        ("for i, j, k, a, n in rows_of_pairs(i, j, k, n, b, 1, p):\n    b = 2", None),
    ],
)
def test_source_lines_are_translated(tmp_path, body, lines):
    if lines is None:
        with pytest.raises(LoopError, match=r"what\.py:\d+: "):
            made_of(tmp_path, body)
        return
    made = made_of(tmp_path, body).partition("\n\n\n")[2].splitlines()
    assert made[:2] == ["@micropython.viper", "def f(x: ptr32, p: ptr32):"]
    results = [line.removeprefix("    ") for line in made[2:]]
    assert results[: len(lines.splitlines())] == lines.splitlines()


def test_helpers_are_inlined(tmp_path):
    made = made_of(tmp_path, "for i, j, k, end, last in pairs(i, j, k, p):\n    out[k] = x[i]")
    assert "    while k < last:\n        out[k] = x[i]\n        i += p[2]\n" in made


@pytest.mark.parametrize(
    "helper, call, what",
    [
        ("def g(a):\n    b = a\n    return a", "a = g(a)", "g assigns b, but does not return it"),
        ("def g(a):\n    return a, b", "a, b = g(a)", "g returns b, but does not assign it"),
        ("def g(a):\n    a += k\n    return a", "a = g(a)", "k is no parameter of g"),
        (
            "def g(a):\n    if a:\n        return a\n    return a",
            "a = g(a)",
            "returns before its last",
        ),
        (
            "def g(a):\n    while a:\n        return a\n    a = 1",
            "a = g(a)",
            "returns before its last",
        ),
        ("def g(a):\n    return a + 1", "a = g(a)", "nothing but names"),
        (
            "def g(a):\n    b = 1\n    b += a\n    return b",
            "a = g(a)",
            "assigns b before it reads a",
        ),
        (
            "def g(a):\n    a += 1\n    return a",
            "b = g(a)",
            "g changes a, which is not where a goes",
        ),
    ],
)
def test_helpers_that_cannot_be_inlined_are_refused(tmp_path, helper, call, what):
    path = tmp_path / "common" / "what.py"
    path.parent.mkdir()
    function = f"def f(x: ptr32, p: ptr32):\n    a = x[0]\n    {call}\n    x[0] = a\n"
    path.write_text(f'"""What."""\n\n\n@inline\n{helper}\n\n\n{function}')
    with pytest.raises(LoopError, match=rf"what\.py:\d+: .*{what}"):
        module(Source(path), False)


def test_a_helper_that_is_the_whole_body_keeps_its_names(tmp_path):
    path = tmp_path / "common" / "what.py"
    path.parent.mkdir()
    helper = "@inline\ndef g(x):\n    a = x[0]\n    x[a] = 1\n"
    path.write_text(f'"""What."""\n\n\n{helper}\n\ndef f(x: ptr32):\n    """F."""\n    g(x)\n')
    assert module(Source(path), False).endswith('    """F."""\n    a = x[0]\n    x[a] = 1\n')
    path.write_text(path.read_text() + "    a = 2\n")
    with pytest.raises(LoopError, match="g assigns a, but does not return it"):
        module(Source(path), False)


def test_the_command_prints_the_built_module(capsys):
    assert command.main(["relu"]) == 0
    assert "\nCOMMON = True\n\n\n@micropython.viper\n" in capsys.readouterr().out
    assert command.main(["qdot", "viper"]) == 0
    assert capsys.readouterr().out == python.modules()["qdot", "viper"].text
    for args, what in ((["relu", "viper"], "it has plain"), (["none"], "no such family")):
        with pytest.raises(SystemExit) as stop:
            command.main(args)
        assert stop.value.code == 2 and what in capsys.readouterr().err


def test_machine_code_modules_contain_functions_of_another_form():
    """Functions that use names of their module are still imported."""
    text = '"""F."""\n\nfrom ..viper.f import run  # Python\n\n\ndef g():\n    pass\n'
    function = "@micropython.viper\ndef run(p) -> int:\n    return 1\n"
    other = f"import micropython\n\nN = 1\n\n\n{function}"
    made = with_borrowed(text, {("f", "viper"): other})
    assert "import" not in made and made.endswith(function)
    assert with_borrowed(text, {("f", "viper"): other.replace("return 1", "return N")}) == text
