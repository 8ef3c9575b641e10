"""Cycles of a run on an ARM core, estimated from the instructions that QEMU ran.

A plugin counts the runs of each block of instructions (blocks), thumb says what the instructions
are, and cores what each takes.
"""
