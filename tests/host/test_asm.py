"""The machine code of loops is what their sources assemble to, and modules consist of it."""

import base64
import re
from pathlib import Path

import pytest

from mpconnxr import forms
from tools import package, store
from tools.asm import __main__ as asm
from tools.asm import code
from tools.asm.assemble import assemble
from tools.asm.compiler import VERSION, version
from tools.asm.entries import PATH, entries_text
from tools.asm.errors import AsmError
from tools.asm.forms import CORES, FORMS
from tools.asm.module import module
from tools.asm.recipes import Assembled, recipes
from tools.asm.source import read
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
RECIPES = recipes()


def needs(core):
    return pytest.mark.skipif(
        not core.is_installed, reason=f"{core.gcc} not found: make loops gets it"
    )


each_form = pytest.mark.parametrize("form", FORMS)
each = pytest.mark.parametrize(
    ("name", "form"), [pytest.param(*key, id="-".join(key)) for key in RECIPES]
)
needs_arm = needs(ARM)


def of_form(form):
    return [recipe for (_, each), recipe in RECIPES.items() if each == form]


@pytest.mark.parametrize(
    ("name", "form"),
    [pytest.param(*k, id="-".join(k), marks=needs(r.core)) for k, r in RECIPES.items()],
)
def test_the_code_is_assembled_from_the_sources(name, form):
    recipe = RECIPES[name, form]
    is_c = not isinstance(recipe, Assembled) or recipe.source.is_c or recipe.source.compiled
    if is_c and version(recipe.core) != VERSION:
        pytest.skip(f"{recipe.core.gcc} is {version(recipe.core)}: {VERSION} made the code")
    assert code.functions_of(form)[name] == recipe.functions(form)


@each_form
def test_the_code_has_the_digest_of_its_sources(form):
    """This needs no cross compiler."""
    assert code.is_current(form, of_form(form)), "`make loops` makes it anew"


@each_form
def test_families_are_sorted(form):
    lines = code.path_of(form).read_text().splitlines()[2:]
    names = [line.partition(".")[0] for line in lines]
    assert names == sorted(names) and {*names} == {recipe.name for recipe in of_form(form)}


def test_a_line_outside_of_a_function_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(code, "FOLDER", tmp_path)
    for line in ("add.add32 4", "add 4 AAAA", "add.add32 4 A", "add.add32 four AAAA"):
        (tmp_path / "thumb.txt").write_text(f"# What.\n{line}\n")
        code.functions_of.cache_clear()
        with pytest.raises(AsmError, match=r"thumb\.txt:2: "):
            code.functions_of("thumb")
    code.functions_of.cache_clear()


@each
def test_functions_compile_to_their_code(name, form):
    """The macros write the same prologue and epilogue as the decorator."""
    compact = compiled(store.loops().path(name, form).read_text(), "m.py", MARCH[form])
    push, pop, code_of_return = b"\xf2\xb5", b"\xf2\xbd", b"\x82\x80"
    ends = {"rv32": (b"", code_of_return), "xtensawin": (b"", b"")}
    before, behind = ends.get(form, (push, pop))
    for function in code.functions_of(form)[name]:
        assert before + function.code + behind in compact


@needs(CORES[1])
@needs(CORES[2])
def test_the_prelude_of_native_code_is_up_to_date():
    assert PATH.read_text() == entries_text()


def test_all_assembler_modules_are_built():
    """None of it is written by hand."""
    loops = store.loops()
    made = {loops.path(*key) for key in RECIPES}
    modules = package.folder().rglob("*.py")
    assert {path for path in modules if "@micropython.asm_" in path.read_text()} == made


def test_functions_may_name_registers():
    text = store.loops().path("qdot", "thumb").read_text()
    assert re.search(r"^def \w+\(r0, r1, r2, r3\):$", text, re.MULTILINE)


def source_of(folder: Path, body: str, forms="thumb"):
    path = folder / "what.S"
    path.write_text(f'// What.\n//\n// Forms: {forms}\n\n#include "arm/core.h"\n\n{body}\n')
    return read(path, ARM)


@needs_arm
def test_modules_may_contain_python_around_functions(tmp_path):
    body = "//> BEFORE = 1\nfunction f, 1\nAGAIN:\n    b AGAIN\nendfunction f\n//> g = f"
    recipe = Assembled(source_of(tmp_path, body))
    text = module(recipe, "thumb", recipe.functions("thumb"))
    assert text.partition('"""\n\n')[2] == (
        "import micropython\n\nBEFORE = 1\n\n\n@micropython.asm_thumb\ndef f(r0):\n"
        "    data(2, 0xE7FE)\n\n\ng = f\n"
    )


@needs_arm
@pytest.mark.parametrize(
    "instruction", ["udiv r0, r1, r2", "smlad r0, r1, r2, r3", "vadd.f32 s0, s0, s0"]
)
def test_instructions_that_a_form_lacks_are_refused(tmp_path, instruction):
    source = source_of(tmp_path, f"function f\n    {instruction}\nendfunction f")
    with pytest.raises(AsmError, match=r"what\.S as thumb:\n(.|\n)*Error: "):
        assemble(source, "thumb")


@pytest.mark.parametrize("forms", ["", "rv32", "thumb xtensa"])
def test_sources_declare_their_forms(tmp_path, forms):
    with pytest.raises(AsmError, match="Forms: ...|arm has no form"):
        source_of(tmp_path, "", forms)


@needs_arm
@needs(CORES[1])
@needs(CORES[2])
def test_check_finds_outdated_code(monkeypatch, tmp_path, capsys):
    """Two families suffice."""
    few = {key: recipe for key, recipe in RECIPES.items() if key[0] in ("planes", "relu")}
    monkeypatch.setattr(asm, "recipes", lambda: few)
    monkeypatch.setattr(asm, "path_of", lambda form: tmp_path / f"{form}.txt")
    assert asm.main(["--check"]) == 1
    assert "rv32.txt: differs" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    assert asm.main([]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {f"{form}.txt" for form in FORMS}
    assert asm.main(["--check"]) == 0
    line = (tmp_path / "rv32.txt").read_text().splitlines()[-1].split()
    assert line[:2] == ["relu.relu32", "4"] and base64.b64decode(line[2])


def test_a_missing_assembler_is_reported(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert asm.main([]) == 1
    all_ = "arm-none-eabi-gcc and riscv64-unknown-elf-gcc and xtensa-lx106-elf-gcc"
    assert capsys.readouterr().err == f"asm: {all_} not found: `make loops` installs them\n"


def test_forms_agree_with_the_package():
    assert set(FORMS) == set(MARCH) <= {form for form, _ in forms.FORMS}
