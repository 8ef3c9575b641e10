"""The modules of loops in viper are what their templates in tools/loops make."""

import pytest

from tools.loops import __main__ as loops
from tools.loops.errors import TemplateError
from tools.loops.module import module, module_path
from tools.loops.source import Source, templates
from tools.made import ROOT

TEMPLATES = templates()
HEAD = '"""What."""\n\nfrom tools.loops.snippets.words import pairs, swap\n\n\n'


@pytest.mark.parametrize("source", TEMPLATES, ids=lambda s: f"{s.path.stem}-{s.form}")
def test_is_up_to_date(source):
    assert module_path(source).read_text() == module(source)


def test_all_viper_is_made():
    """None of it is written by hand, and no module is left of a template that went."""
    made = {module_path(source) for source in TEMPLATES}
    assert len(made) == len(TEMPLATES)
    for path in (ROOT / "mpconnxr" / "loops").rglob("*.py"):
        text = path.read_text()
        assert ("\nMade from tools/loops/" in text) == (path in made), path
        # Machine code has viper around it; program unpacks tuples, which templates take apart.
        if path.parent.name != "vfp" and "\nMachine code" not in text and path.stem != "program":
            assert "@micropython.viper" not in text or path in made, path


def made_of(folder, body):
    path = folder / "viper" / "what.py"
    path.parent.mkdir()
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    path.write_text(f"{HEAD}def f(x: ptr32, p: ptr32):\n{lines}")
    return module(Source(path))


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
        ("# Why.\nswap(a, x[2], c)", "# Why.\nc = a\na = x[2]\nx[2] = c"),
        ("swap(a, b)", None),
        ("for i in x:\n    f()", None),
    ],
)
def test_what_becomes_of(tmp_path, body, lines):
    if lines is None:
        with pytest.raises(TemplateError, match=r"what\.py:7: "):
            made_of(tmp_path, body)
        return
    made = made_of(tmp_path, body).partition("\n\n\n")[2].splitlines()
    assert made[:2] == ["@micropython.viper", "def f(x: ptr32, p: ptr32):"]
    assert [line.removeprefix("    ") for line in made[2:]] == lines.splitlines()


def test_lines_inside_of_a_snippet(tmp_path):
    made = made_of(tmp_path, "with pairs(i, j, k, end, last):\n    out[k] = x[i]")
    assert "    while k < last:\n        out[k] = x[i]\n        i += p[2]\n" in made


def test_check(monkeypatch, tmp_path, capsys):
    assert loops.main(["--check"]) == 0
    source = TEMPLATES[0]
    monkeypatch.setattr(loops, "templates", lambda: [source])
    monkeypatch.setattr(loops, "module_path", lambda source: tmp_path / source.path.name)
    assert loops.main(["--check"]) == 1
    assert capsys.readouterr().out == f"{source.path.name}: differs\n"
    assert not list(tmp_path.iterdir())
    assert loops.main([]) == 0
    assert (tmp_path / source.path.name).read_text() == module(source)
