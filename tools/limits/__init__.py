"""What files from elsewhere may cost the host: memory, time, and what they show on a terminal."""

from .child import End, end_with_parent, run, watch
from .memory import usage
from .options import add_limit_options, apply, lifted, nbytes
from .overwrite import overwritten
from .printable import printable
from .report import too_long
from .status import at, grow, memory_limit, patience
