"""A model of fixed shapes as a program: the calls of loops that its runs make, and nothing else.

A kernel is written once. Its prepare runs here, under CPython, over memory of which only places
are known (memory), and emits each call of a loop (emitted): so no call depends on data. What is
left is a table of calls (table) that a board runs without kernels.

    call     what is known of a call
    memory   views of tensors without contents
    emitted  what kernels emit calls to
    record   the calls of a run, step by step
    changes  which words of its block a call writes to
    bounds   proof that calls stay within their buffers
    table    the calls as bytes, with what they take
"""
