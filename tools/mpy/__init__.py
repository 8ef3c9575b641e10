"""Modules as .mpy files: what mpy-cross makes of them, with loops in machine code."""
