"""Loops in machine code: sources below arm/ and rv32/, and the modules that are made from them.

A source, in GNU assembler, is a file CORE/NAME.S, or CORE/NAME.WHAT.S where a family has several.
`python -m tools.asm` assembles it once for each of its forms and writes loops/FORM/NAME.py, in
which @micropython.asm_thumb or asm_rv32 takes the machine code word by word. Those modules are
committed: a board, mip and frozen code take them as they are, and only who changes a source needs
an assembler.

Loops that are written in viper alone are compiled, by way of C (`compiled`, `compiler`,
`translate`): a module in viper becomes the same modules, without a source of its own. A source may
take single functions from viper, too (`//+`).

What may come to this: another core (xtensa/, for firmware with asm_xtensa) is a folder beside arm/
and an entry of forms.FORMS. Firmware without inline assembler can take the same functions from
native modules (.mpy): a source assembles to whole functions that keep to the core's calling
convention, and `assemble` knows where they lie. What is missing is a writer beside `module`.
"""
