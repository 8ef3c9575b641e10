"""Run on MicroPython, imported by the other scripts: read the target's counter, fill inputs."""

import micropython

COUNTER = COUNTER  # noqa: F821 - the host writes an address here; 0: use time.ticks_cpu()

if COUNTER:

    @micropython.viper
    def ticks(address: int) -> int:
        """Return the counter at this address."""
        counter = ptr32(address)
        i = 0
        return int(counter[i])

    @micropython.viper
    def low_ticks(address: int) -> int:
        """Return the counter's lower 30 bits, an int that MicroPython does not allocate."""
        counter = ptr32(address)
        i = 0
        return int(counter[i]) & 0x3FFFFFFF

    LIMIT = 0xFFFFFFFF

else:
    import time

    def ticks(address):
        """Return the clock of a target without a counter."""
        return time.ticks_cpu()

    low_ticks = ticks
    LIMIT = 0x3FFFFFFF


def fill(inputs):
    """Fill the inputs from the files x0, x1, ..."""
    for i, t in enumerate(inputs):
        with open(f"x{i}", "rb") as f:
            f.readinto(t.view("B"))
