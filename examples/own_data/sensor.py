"""Run on a board: a simulated accelerometer. Put your own sensor in its place.

`mpconnxr record` and `mpconnxr monitor` take samples from the generator `samples`.
"""

import math
import random
import time

RATE = 50  # samples per second
COUNTS = 8192  # for 1 g


def samples(motion="still"):
    """Yield (x, y, z) in counts of a motion: "still", "shake", "lift", or "any" in turn."""
    due, n = time.ticks_ms(), 0
    phase = random.random() * 6
    while True:
        now = motion if motion != "any" else ("still", "shake", "lift")[n // 100 % 3]
        t = n / RATE
        x = y = noise()
        z = 1 + noise()
        if now == "shake":
            x += math.sin(6.3 * 4 * t + phase)
            y += 0.3 * math.sin(6.3 * 4 * t + phase)
        elif now == "lift":
            z += 0.7 * math.sin(6.3 * t + phase)
        yield round(COUNTS * x), round(COUNTS * y), round(COUNTS * z)
        n += 1
        due = time.ticks_add(due, 1000 // RATE)
        time.sleep_ms(max(0, time.ticks_diff(due, time.ticks_ms())))


def noise():
    """Return noise in g."""
    return 0.04 * (random.random() - 0.5)
