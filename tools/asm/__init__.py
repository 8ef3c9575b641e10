"""Loops in machine code: sources below arm/, rv32/ and xtensa/, and the modules made from them.

A source, in GNU assembler, is a file CORE/NAME.S, or CORE/NAME.WHAT.S where a family has several.
`python -m tools.asm` assembles it once for each of its forms and writes loops/FORM/NAME.py, in
which @micropython.asm_thumb or asm_rv32 takes the machine code word by word. Those modules are
committed: a board, mip and frozen code take them as they are, and only who changes a source needs
an assembler. A source may be C instead, CORE/NAME.c, with assembler where it matters: for Xtensa,
whose calling convention leaves few registers to functions that call others.

Loops that are written in viper alone are compiled, by way of C (`compiled`, `compiler`,
`translate`): a module in viper becomes the same modules, without a source of its own. A source may
take single functions from viper, too (`//+`).

Firmware without the inline assembler takes the same functions as native code from .mpy files:
tools/mpy/native.py puts what begins them there (`entries`) before each. No firmware has
@micropython.asm_xtensawin, so modules of that form run from .mpy files alone.

What may come to this: another core is a folder beside arm/ and an entry of forms.FORMS.
"""
