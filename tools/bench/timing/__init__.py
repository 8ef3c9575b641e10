"""Estimate the cycles of a run on an ARM core from the instructions that QEMU executed.

`blocks` counts with a plugin of QEMU how often each block of instructions runs, `thumb` decodes
the instructions, and `cores` knows how long each takes.
"""
