"""Damages what the project reads, and sees to it that nothing worse than an error comes of it.

    python -m tests.fuzz model --cases 20000 --target unix-guard

See docs/targets.md for the targets that see a stray access.
"""
