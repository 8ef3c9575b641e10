"""A model of fixed shapes as a program: the calls of loops that its runs make, and nothing else.

A kernel is written once. Its prepare and its step run here, under CPython, over memory that has
no contents (memory): so what they do cannot depend on data, and each call of a loop that they make
is known (record). What is left is a table of calls (encode) that a board runs without kernels.

    memory   tensors without contents, blocks of parameters
    package  a copy of the device's package that works on them
    record   the calls of a run, step by step
    layout   which calls share their places in the board's memory
    encode   calls as bytes
"""
