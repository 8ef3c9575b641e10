"""Classify gestures on a board, or on any other MicroPython. Needs mpconnxr/ and model.bin.

With gestures.bin beside it (windows of 64 readings, each x, y, z as little-endian int16) it
classifies those. Otherwise it reads an MPU-6050 on I2C 50 times per second, and classifies the
last 64 readings four times per second.
"""

import time

import mpconnxr
from mpconnxr.io.classes import top_k

LABELS = ("still", "shake", "circle", "lift", "tap")
N, AXES = 64, 3
PERIOD_MS, HOP = 20, 12  # ms between two readings; readings between two answers
SDA, SCL = 4, 5  # pins

_ADDRESS, _POWER, _RANGE, _READINGS = 0x68, 0x6B, 0x1C, 0x3B


class Recording:
    """Windows from a file."""

    def __init__(self, path):
        self.file = open(path, "rb")

    def windows(self):
        window = bytearray(2 * AXES * N)
        while self.file.readinto(window) == len(window):
            yield window


class Accelerometer:
    """Windows from an MPU-6050 at +-4 g, 8192 counts for 1 g."""

    def __init__(self):
        from machine import I2C, Pin

        self.bus = I2C(0, sda=Pin(SDA), scl=Pin(SCL), freq=400_000)
        self.bus.writeto_mem(_ADDRESS, _POWER, b"\0")  # wake up
        self.bus.writeto_mem(_ADDRESS, _RANGE, b"\x08")
        self.reading = bytearray(2 * AXES)

    def windows(self):
        window = bytearray(2 * AXES * N)
        n = 0
        due = time.ticks_ms()
        while True:
            self.bus.readfrom_mem_into(_ADDRESS, _READINGS, self.reading)
            window[: -2 * AXES] = window[2 * AXES :]
            for i in range(2 * AXES):  # the sensor sends the high byte first
                window[i - 2 * AXES] = self.reading[i ^ 1]
            n += 1
            if n >= N and (n - N) % HOP == 0:
                yield window
            due = time.ticks_add(due, PERIOD_MS)
            time.sleep_ms(max(0, time.ticks_diff(due, time.ticks_ms())))


def source():
    try:
        return Recording("gestures.bin")
    except OSError:
        return Accelerometer()


def fill(counts, window):
    """Convert interleaved x, y, z to a row for each axis."""
    for axis in range(AXES):
        at = 2 * axis
        for i in range(axis * N, axis * N + N):
            counts[i] = (window[at] | window[at + 1] << 8 ^ 0x8000) - 0x8000
            at += 2 * AXES


def classify(model, window):
    """Return the label of a window."""
    fill(model.inputs[0].data, window)
    [(label, _)] = top_k(model.run()[0], 1, LABELS)
    return label


def main():
    model = mpconnxr.load("model.bin")
    print("arena", model.arena_nbytes, "bytes")
    for window in source().windows():
        start = time.ticks_us()
        label = classify(model, window)
        print(label, "in", time.ticks_diff(time.ticks_us(), start), "us")


if __name__ == "__main__":
    main()
