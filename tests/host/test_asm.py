"""The modules of loops that are assembler are what their sources in tools/asm make."""

import ast
from pathlib import Path

import pytest

from mpconnxr import forms
from tools.asm import __main__ as asm
from tools.asm.assemble import assemble
from tools.asm.compiled import compiled_sources
from tools.asm.compiler import VERSION, version
from tools.asm.entries import PATH, entries_text
from tools.asm.errors import AsmError
from tools.asm.forms import CORES, FORMS, ROOT, module_path
from tools.asm.module import functions_of, module
from tools.asm.source import read, sources
from tools.mpy.compile import compiled

ARM = CORES[0]
MARCH = {
    "thumb": "armv6m",
    "armv7m": "armv7m",
    "armv7em": "armv7em",
    "vfp": "armv7emsp",
    "rv32": "rv32imc",
    "xtensawin": "xtensawin",
}
MADE = [(source, form) for source in sources() for form in source.forms]
COMPILED = compiled_sources()


def needs(core):
    return pytest.mark.skipif(not core.is_here, reason=f"{core.gcc} not found: make loops gets it")


each = pytest.mark.parametrize(
    "source, form",
    [pytest.param(s, f, id=f"{s.name}-{f}", marks=needs(s.core)) for s, f in MADE],
)
needs_arm = needs(ARM)


@each
def test_is_up_to_date(source, form):
    if (source.compiled or source.is_c) and version(source.core) != VERSION:
        pytest.skip(f"{source.core.gcc} is {version(source.core)}: {VERSION} made the modules")
    assert module_path(source.name, form).read_text() == module(source, form)


@each
def test_compiles_to_its_code(source, form):
    """What the decorator writes at both ends of a function is what the macros write."""
    compact = compiled(module(source, form), "m.py", MARCH[form])
    push, pop, code_of_return = b"\xf2\xb5", b"\xf2\xbd", b"\x82\x80"
    ends = {"rv32": (b"", code_of_return), "xtensawin": (b"", b"")}
    before, behind = ends.get(form, (push, pop))
    for function in functions_of(source, form):
        assert before + function.code + behind in compact


@pytest.mark.parametrize(
    "made", [pytest.param(c, id=f"{c.name}-{c.form}", marks=needs(c.core)) for c in COMPILED]
)
def test_what_is_compiled_is_up_to_date(made):
    if version(made.core) != VERSION:
        pytest.skip(f"{made.core.gcc} is {version(made.core)}: {VERSION} made the modules")
    assert module_path(made.name, made.form).read_text() == made.module()


@needs(CORES[1])
@needs(CORES[2])
def test_what_begins_native_code_is_up_to_date():
    assert PATH.read_text() == entries_text()


def test_all_assembler_is_made():
    """None of it is written by hand, and no module is left of a source that went."""
    made = {module_path(source.name, form) for source, form in MADE}
    made |= {module_path(c.name, c.form) for c in COMPILED}
    modules = (ROOT / "mpconnxr").rglob("*.py")
    assert {path for path in modules if "@micropython.asm_" in path.read_text()} == made


def test_names_of_arguments():
    tree = ast.parse(module_path("qdot", "thumb").read_text())
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    assert [a.arg for a in function.args.args] == ["r0", "r1", "r2", "r3"]


def source_of(folder: Path, body: str, forms="thumb"):
    path = folder / "what.S"
    path.write_text(f'// What.\n//\n// Forms: {forms}\n\n#include "arm/core.h"\n\n{body}\n')
    return read(path, ARM)


@needs_arm
def test_python_stands_around_functions(tmp_path):
    body = "//> BEFORE = 1\nfunction f, 1\nAGAIN:\n    b AGAIN\nendfunction f\n//> g = f"
    assert module(source_of(tmp_path, body), "thumb").partition('"""\n\n')[2] == (
        "import micropython\n\nBEFORE = 1\n\n\n@micropython.asm_thumb\ndef f(r0):\n"
        "    data(2, 0xE7FE)\n\n\ng = f\n"
    )


@needs_arm
@pytest.mark.parametrize(
    "instruction", ["udiv r0, r1, r2", "smlad r0, r1, r2, r3", "vadd.f32 s0, s0, s0"]
)
def test_instructions_that_a_form_lacks(tmp_path, instruction):
    source = source_of(tmp_path, f"function f\n    {instruction}\nendfunction f")
    with pytest.raises(AsmError, match=r"what\.S as thumb:\n(.|\n)*Error: "):
        assemble(source, "thumb")


@pytest.mark.parametrize("forms", ["", "rv32", "thumb xtensa"])
def test_sources_say_their_forms(tmp_path, forms):
    with pytest.raises(AsmError, match="Forms: ...|arm has no form"):
        source_of(tmp_path, "", forms)


@needs_arm
@needs(CORES[1])
@needs(CORES[2])
def test_check(monkeypatch, tmp_path, capsys):
    assert asm.main(["--check", "planes"]) == 0
    monkeypatch.setattr(asm, "module_path", lambda name, form: tmp_path / f"{name}_{form}.py")
    assert asm.main(["--check", "planes"]) == 1
    assert "planes_rv32.py: differs" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    assert asm.main(["planes"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        f"planes_{form}.py" for form in ("thumb", "armv7m", "rv32", "xtensawin")
    }


@needs_arm
@needs(CORES[1])
@needs(CORES[2])
def test_no_such_source(capsys):
    assert asm.main(["what"]) == 1
    assert capsys.readouterr().err == "asm: no source of what\n"


def test_no_assembler(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert asm.main([]) == 1
    all_ = "arm-none-eabi-gcc and riscv64-unknown-elf-gcc and xtensa-lx106-elf-gcc"
    assert capsys.readouterr().err == f"asm: {all_} not found: `make loops` installs them\n"


def test_forms_are_those_of_the_package():
    assert set(FORMS) == set(MARCH) <= {form for form, _ in forms.FORMS}
