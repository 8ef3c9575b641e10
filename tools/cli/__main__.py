"""python -m tools.cli COMMAND ...: what the console script `mpconnxr` does, in a clone."""

import sys

from tools.cli import main

if __name__ == "__main__":
    sys.exit(main())
