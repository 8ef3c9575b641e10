"""Samples from a board's sensor: `record` keeps them, `monitor` shows what a model says of them.

A sensor is a MicroPython file with a generator function, `samples()` by default, that yields a
sample at a time: a number, or a tuple, list of numbers, one a channel; or a block of samples at
once, an array or bytes with the channels in turn.
"""
