"""Loops in machine code: sources below arm/, rv32/ and xtensa/, and the code made from them.

A source, in GNU assembler, is a file CORE/NAME.S, or CORE/NAME.WHAT.S where a family has several.
It may be C instead, CORE/NAME.c, with assembler where it matters: for Xtensa, whose calling
convention leaves few registers to functions that call others. Loops that are written in viper
alone are compiled, by way of C (`recipes`, `compiler`, `translate`), without a source of their
own. A source may take single functions from viper, too (`//+`).

`python -m tools.asm` assembles and compiles all of them, once for each of their forms, and writes
code/FORM.txt (`code`). From that the build of the package (tools.package) composes modules in
which @micropython.asm_thumb or asm_rv32 takes the code word by word (`module`). So only who
changes a source needs an assembler.

Firmware without the inline assembler takes the same functions as native code from .mpy files:
tools/mpy/native.py puts what begins them there (`entries`) before each. No firmware has
@micropython.asm_xtensawin, so modules of that form run from .mpy files alone.

What may come to this: another core is a folder beside arm/ and an entry of forms.FORMS.
"""
