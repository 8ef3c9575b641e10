"""Host side of mpconnxr: the command `mpconnxr`, and what `import mpconnxr` adds on a computer.

In a wheel this package contains tools/, boards/ and examples/, so that site-packages gets no
packages with general names (see tools/dist/wheel.py). In a clone they lie beside it.
"""


def main() -> int:
    """Run `mpconnxr COMMAND ...` and return its exit status."""
    from tools.cli import main

    return main()
