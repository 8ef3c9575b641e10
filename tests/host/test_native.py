"""Assembler loops work as native code of .mpy files, on boards without that assembler."""

import pytest

from tools.deploy.errors import DeployError
from tools.machine import Machine
from tools.mpy import native
from tools.mpy.compile import CompileError, compiled

# sum gives x[0] + w[0] - p; second gives w + 1, the address of a buffer or a number.
RV32 = """
@micropython.asm_rv32
def sum(a0, a1, a2, a3):
    data(2, 0x2503, 0x0005, 0xA583, 0x0005, 0x0533, 0x00B5, 0x0533, 0x40D5)

@micropython.asm_rv32
def second(a0, a1):
    data(2, 0x8513, 0x0015)
"""
XTENSAWIN = """
@micropython.asm_xtensawin
def sum(a2, a3, a4, a5):
    data(2, 0x4136, 0x2800, 0x3802, 0x3A03, 0x5022, 0xC022, 0xF01D, 0x0000)

@micropython.asm_xtensawin
def second(a2, a3):
    data(2, 0x4136, 0x1B00, 0x1D23, 0x00F0)
"""
AROUND = """
table = (1.5, "two", b"three", 4 << 40)

@micropython.viper
def viper(x: ptr32) -> int:
    return x[0] * 3

def made():
{}
    return second, lambda: [table[i] for i in range(2)]

inner, listed = made()
"""
CALLS = """
from array import array
from m import inner, listed, sum, second, viper, table
x, w = array("i", [7]), array("i", [-11])
print(sum(x, w, x, 0), sum(x, w, x, 5), viper(x), second(x, -3), inner(x, 41))
print(sum(array("i", [0x3FFFFFFF]), array("i", [2]), x, 0), table, listed())
for arguments in ((), (x, w), (x, w, x, 0, 0), (x, w, "abc", None)):
    try:
        print(sum(*arguments))
    except TypeError as e:
        print("refused")
"""
EXPECTED = """\
-4 -9 21 -2 42
1073741825 (1.5, 'two', b'three', 4398046511104) [1.5, 'two']
refused
refused
refused
refused
"""
MODULES = {"rv32imc": RV32, "xtensawin": XTENSAWIN}


def module(arch):
    functions = MODULES[arch]
    return functions + AROUND.format(functions.replace("\n", "\n    "))


@pytest.mark.parametrize("target", ["virt-rv32", "sim-de212"], indirect=True)
def test_code_is_called_as_viper_is(target):
    mpy = compiled(module(target.arch), "m.py", target.arch)
    completed = target.run(CALLS, files={"m.mpy": mpy})
    assert (completed.stdout, completed.stderr) == (EXPECTED, "")


@pytest.mark.parametrize("target", ["virt-rv32", "sim-de212"], indirect=True)
def test_a_module_may_have_only_native_code(target):
    mpy = compiled(MODULES[target.arch], "m.py", target.arch)
    script = "from m import second\nprint(second(0, 1))"
    assert target.run(script, files={"m.mpy": mpy}).stdout == "2\n"


@pytest.mark.parametrize("arch", MODULES)
def test_no_code_of_inline_assembler_is_left(arch):
    """Firmware without the assembler would run it as bytecode."""
    mpy = compiled(module(arch), "m.py", arch)
    assert native.with_code(mpy, arch, []) == mpy


@pytest.mark.parametrize("arch", ["", "armv7m", "x64", "rv32imc"])
def test_native_code_is_refused_on_another_architecture(arch):
    with pytest.raises((CompileError, DeployError)):
        compiled(XTENSAWIN, "m.py", arch)


def test_machines_run_native_code_of_their_architecture():
    rv32, xtensa = Machine("rv32imc"), Machine("xtensawin")
    assert rv32.runs(RV32) and xtensa.runs(XTENSAWIN)
    assert not rv32.runs(XTENSAWIN) and not xtensa.runs(RV32) and not Machine("").runs(RV32)
    assert not Machine("rv32imc", mpy=(6, 4)).runs(RV32)  # another table of functions


@pytest.mark.parametrize("target", ["sim-de212"], indirect=True)
def test_source_files_of_native_modules_are_refused(target):
    """If all sources are copied, the viper form is used."""
    script = "import m"
    completed = target.run(script, files={"m.py": ("import micropython\n" + XTENSAWIN).encode()})
    assert "SyntaxError: invalid micropython decorator" in completed.stderr
