"""Compile a model of fixed shapes to a program: a table of calls of loops, without kernels.

A kernel is written once. Its `prepare` runs here, under CPython, over memory of which only the
addresses are known (memory), and emits calls of loops (emitted): so no call depends on data. The
result is a table of calls (table) that a board runs without kernels.

    call     description of a call
    memory   views of tensors without contents
    emitted  receives the calls that kernels emit
    record   the calls of a run, step by step
    changes  words of its parameter block that a call writes
    bounds   proof that calls stay within their buffers
    table    the calls as bytes, with their arguments
"""
