"""python -m tools.cli COMMAND ...: the console script `mpconnxr`, from a clone."""

import sys

from tools.cli import main

if __name__ == "__main__":
    sys.exit(main())
