"""Monitor a motor on a board, or on any other MicroPython. Needs mpconnxr/ and model.bin.

With vibration.bin beside it (clips of 2,048 samples, little-endian int16) it classifies those.
Otherwise it samples an analogue accelerometer or piezo disc on an ADC pin at 4 kHz, half a second
at a time.
"""

import time
from array import array

import mpconnxr
from mpconnxr.io.audio import LogMel

RATE, N, SIZE, BANDS, LOW = 4000, 2048, 512, 20, 15
PIN = 26


class Recording:
    """Clips from a file."""

    def __init__(self, path):
        self.readinto = open(path, "rb").readinto


class Sensor:
    """Clips from an ADC, whose resting voltage is about half of its range."""

    def __init__(self):
        from machine import ADC, Pin

        self.adc = ADC(Pin(PIN))

    def readinto(self, clip):
        read, ticks, diff = self.adc.read_u16, time.ticks_us, time.ticks_diff
        period, due = 1000000 // RATE, ticks()
        for i in range(0, 2 * N, 2):
            while diff(due, ticks()) > 0:
                pass
            v = read() ^ 0x8000  # 0 at half of the range, as two's complement
            clip[i] = v & 255
            clip[i + 1] = v >> 8
            due = time.ticks_add(due, period)
        return len(clip)


class Watch:
    """Scores clips: above 1 the motor vibrates differently from any healthy one."""

    def __init__(self, model):
        self.model = model
        self.mel = LogMel(RATE, SIZE, BANDS, LOW)
        self.bands = array("i", bytes(4 * BANDS))
        self.sums = array("i", bytes(4 * BANDS))

    def score(self, clip):
        frames = N // SIZE
        for b in range(BANDS):
            self.sums[b] = 0
        for k in range(frames):
            self.mel.frame(clip, 2 * SIZE * k, self.bands)
            for b in range(BANDS):
                self.sums[b] += self.bands[b]
        spectrum = self.model.inputs[0].data
        for b in range(BANDS):
            spectrum[b] = self.sums[b] / frames
        return self.model.run()[0].data[0]


def main():
    model = mpconnxr.load("model.bin")
    print("arena", model.arena_nbytes, "bytes")
    watch = Watch(model)
    try:
        source = Recording("vibration.bin")
    except OSError:
        source = Sensor()
    clip = bytearray(2 * N)
    while source.readinto(clip) == len(clip):
        start = time.ticks_us()
        score = watch.score(clip)
        us = time.ticks_diff(time.ticks_us(), start)
        print("ill" if score > 1 else "well", "in", us, "us, score", score)


if __name__ == "__main__":
    main()
