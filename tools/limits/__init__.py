"""What files from elsewhere may cost the host: memory, time, and what they show on a terminal."""

from .child import End, run, watch
from .options import add_limit_options, apply, lifted, nbytes
from .overwrite import overwritten
from .printable import printable
from .status import at, grow, memory_limit
