"""Handwritten digits: train a small network, convert it, run it under MicroPython."""
