"""A fuzzer: damages what the project reads; nothing worse than an error may result.

    python -m tests.fuzz model --cases 20000 --target unix-guard

See docs/targets.md for the targets that detect stray accesses.
"""
