"""Does a model fit a board, what is in the way, and which options help by how much.

`search` says what to try, `trial` converts and measures in a child process, `show` prints.
"""
