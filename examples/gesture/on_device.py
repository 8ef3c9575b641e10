"""Classify gestures on a board, or on any other MicroPython. Needs mpconnxr/ and model.bin.

With gestures.bin beside it (windows of 64 readings, each x, y, z as little-endian int16) it
classifies those. Otherwise it reads an MPU-6050 on I2C 50 times per second. Four times per second
it classifies the last 64 readings, and gives the gesture with the best mean score of three runs.
"""

import time
from array import array

import mpconnxr
from mpconnxr.signal.smoothing import Average
from mpconnxr.signal.windows import Window

LABELS = ("still", "shake", "circle", "lift", "tap")
N, AXES = 64, 3
PERIOD_MS, HOP, RUNS = 20, 12, 3  # ms between two readings; readings between two runs; runs
SDA, SCL = 4, 5  # pins

_ADDRESS, _POWER, _RANGE, _READINGS = 0x68, 0x6B, 0x1C, 0x3B


class Recording:
    """Readings from a file, of which each window is another gesture."""

    hop, runs = N, 1

    def __init__(self, path):
        self.file = open(path, "rb")

    def samples(self):
        sample = array("h", bytes(2 * AXES))
        while self.file.readinto(sample) == 2 * AXES:
            yield sample


class Accelerometer:
    """Readings of an MPU-6050 at +-4 g, 8192 counts for 1 g."""

    hop, runs = HOP, RUNS

    def __init__(self):
        from machine import I2C, Pin

        self.bus = I2C(0, sda=Pin(SDA), scl=Pin(SCL), freq=400_000)
        self.bus.writeto_mem(_ADDRESS, _POWER, b"\0")  # wake up
        self.bus.writeto_mem(_ADDRESS, _RANGE, b"\x08")

    def samples(self):
        raw, sample = bytearray(2 * AXES), array("h", bytes(2 * AXES))
        due = time.ticks_ms()
        while True:
            self.bus.readfrom_mem_into(_ADDRESS, _READINGS, raw)
            for axis in range(AXES):  # the sensor sends the high byte first
                sample[axis] = (raw[2 * axis] << 8 ^ 0x8000 | raw[2 * axis + 1]) - 0x8000
            yield sample
            due = time.ticks_add(due, PERIOD_MS)
            time.sleep_ms(max(0, time.ticks_diff(due, time.ticks_ms())))


def source():
    try:
        return Recording("gestures.bin")
    except OSError:
        return Accelerometer()


def answers(model, source):
    """Yield the label of each window, and the microseconds that it took."""
    window = Window(model.inputs[0].data, AXES, source.hop, channels_first=True)
    average = Average(model.outputs[0], source.runs)
    for sample in source.samples():
        start = time.ticks_us()
        if window.push(sample):
            model.run()
            label = LABELS[average.update()]
            yield label, time.ticks_diff(time.ticks_us(), start)


def main():
    model = mpconnxr.load("model.bin")
    print("arena", model.arena_nbytes, "bytes")
    for label, us in answers(model, source()):
        print(label, "in", us, "us")


if __name__ == "__main__":
    main()
