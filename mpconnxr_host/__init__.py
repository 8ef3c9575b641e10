"""The host's side of mpconnxr as an installed package: the console script.

A wheel has tools/, boards/, examples/ and the device's package inside of this folder, so that
nothing of a general name lies in site-packages; in a clone they lie beside it.
"""

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
ROOT = _HERE if (_HERE / "tools").is_dir() else _HERE.parent


def main() -> int:
    """Runs `mpconnxr COMMAND ...`; returns its exit status."""
    sys.path.insert(0, str(ROOT))
    from tools.cli import main

    return main()
