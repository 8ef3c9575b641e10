"""Samples from a board's sensor: `record` saves them, `monitor` shows a model's answers to them.

A sensor is a MicroPython file with a generator function, `samples()` by default. It yields one
sample at a time (a number, or a tuple or list with a number per channel), or a block of samples
(an array or bytes, channels interleaved).
"""
