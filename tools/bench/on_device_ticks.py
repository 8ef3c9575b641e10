"""Runs on MicroPython, beside the other scripts: the counter of time, and a model's inputs."""

import micropython

COUNTER = COUNTER  # noqa: F821 - an address, written here by the host; 0: time.ticks_cpu() counts

if COUNTER:

    @micropython.viper
    def ticks(address: int) -> int:
        """Return the counter at an address."""
        counter = ptr32(address)
        i = 0
        return int(counter[i])

    @micropython.viper
    def low_ticks(address: int) -> int:
        """Without the bits that make an object of it: that would be allocated within a count."""
        counter = ptr32(address)
        i = 0
        return int(counter[i]) & 0x3FFFFFFF

    LIMIT = 0xFFFFFFFF

else:
    import time

    def ticks(address):
        """Return the clock, where no counter can be read."""
        return time.ticks_cpu()

    low_ticks = ticks
    LIMIT = 0x3FFFFFFF


def fill(inputs):
    """Fill the inputs from the files x0, x1, ..."""
    for i, t in enumerate(inputs):
        with open(f"x{i}", "rb") as f:
            f.readinto(t.view("B"))
