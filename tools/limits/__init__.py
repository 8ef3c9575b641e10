"""What files from elsewhere may cost the host: memory, time, and what they show on a terminal."""

from tools.limits.child import End, run, watch
from tools.limits.options import add_limit_options, apply, lifted
from tools.limits.overwrite import overwritten
from tools.limits.printable import printable
from tools.limits.status import at, grow, memory_limit
