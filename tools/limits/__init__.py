"""Limit the memory and time that files from elsewhere may cost, and sanitize text from them."""

from .child import End, end_with_parent, run, watch
from .memory import usage
from .options import add_limit_options, apply, lifted, nbytes
from .overwrite import overwritten
from .printable import printable
from .report import too_long
from .status import at, grow, memory_limit, patience
