"""Machine code of loops: sources below arm/, rv32/ and xtensa/, and the code made from them.

A source is a file CORE/NAME.S in GNU assembler, or CORE/NAME.WHAT.S if a family has several. It
may be C instead, CORE/NAME.c, with assembler for the critical parts: on Xtensa, whose calling
convention leaves few registers to functions that call others. Loops written only in viper are
compiled by way of C (`recipes`, `compiler`, `translate`). A source may also take single functions
from viper (`//+`).

`python -m tools.asm` assembles and compiles everything once for each form and writes code/FORM.txt
(`code`). From that the build of the package (tools.package) composes modules in which
@micropython.asm_thumb or asm_rv32 receives the code word by word (`module`). So only someone who
changes a source needs an assembler.

Firmware without the inline assembler receives the same functions as native code in .mpy files:
tools/mpy/native.py puts an entry (`entries`) before each. No firmware has
@micropython.asm_xtensawin, so that modules of that form run only from .mpy files.

To add a core, add a folder beside arm/ and an entry in forms.FORMS.
"""
