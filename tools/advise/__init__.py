"""Tell whether a model fits a board, what is in the way, and which options help by how much.

`search` decides what to try, `trial` converts and measures in a child process, `show` prints.
tools/flash.py calls `remedy` when a model is too large.
"""
