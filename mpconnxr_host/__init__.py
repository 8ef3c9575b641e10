"""Host side of mpconnxr as an installed package: the console script `mpconnxr`.

In a wheel this folder contains tools/, boards/, examples/ and the device package, so that
site-packages gets no packages with general names. In a clone they lie beside it.
"""

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
ROOT = _HERE if (_HERE / "tools").is_dir() else _HERE.parent


def main() -> int:
    """Run `mpconnxr COMMAND ...` and return its exit status."""
    sys.path.insert(0, str(ROOT))
    from tools.cli import main

    return main()
