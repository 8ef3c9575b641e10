"""python -m mpconnxr_host COMMAND ...: same as the console script `mpconnxr`."""

import sys

from mpconnxr_host import main

if __name__ == "__main__":
    sys.exit(main())
