"""Classify the activity in a room, on a board or any other MicroPython.

It needs mpconnxr/ and model.bin. With readings.csv beside it (each line: CO2 in ppm, degrees C, %
humidity, % light) it classifies those. Otherwise it reads an SCD40 on I2C and a light sensor on an
ADC pin every 30 seconds.
"""

import time
from array import array

import mpconnxr

LABELS = ("empty", "occupied", "cooking", "airing")
PERIOD_S, SPAN, N = 30, 10, 4
SDA, SCL, LIGHT = 4, 5, 26  # pins

_ADDRESS, _START, _READ = 0x62, b"\x21\xb1", b"\xec\x05"  # of an SCD40


class Recording:
    """Readings from a file."""

    def __init__(self, path):
        self.file = open(path)

    def readings(self):
        for line in self.file:
            yield [float(field) for field in line.split(",")[:N]]


class Room:
    """Readings of an SCD40, which measures every 5 s, and of a photoresistor."""

    def __init__(self):
        from machine import ADC, I2C, Pin

        self.bus = I2C(0, sda=Pin(SDA), scl=Pin(SCL), freq=100_000)
        self.light = ADC(Pin(LIGHT))
        self.bus.writeto(_ADDRESS, _START)

    def readings(self):
        while True:
            time.sleep(PERIOD_S)
            self.bus.writeto(_ADDRESS, _READ)
            time.sleep_ms(2)
            words = self.bus.readfrom(_ADDRESS, 9)  # two bytes and a checksum, three times
            co2, warm, damp = [words[i] << 8 | words[i + 1] for i in (0, 3, 6)]
            light = self.light.read_u16() / 655.35
            yield [co2, -45 + 175 * warm / 65535, 100 * damp / 65535, light]


def main():
    model = mpconnxr.load("model.bin")
    print("arena", model.arena_nbytes, "bytes")
    try:
        source = Recording("readings.csv")
    except OSError:
        source = Room()
    features, label = model.inputs[0].data, model.outputs[0].data
    past = array("f", bytes(4 * N * SPAN))
    n = 0
    for now in source.readings():
        at = n % SPAN * N  # of the reading 5 minutes ago
        if n >= SPAN:
            start = time.ticks_us()
            for i in range(N):
                features[i] = now[i]
            for i in range(N - 1):
                features[N + i] = now[i] - past[at + i]
            model.run()
            us = time.ticks_diff(time.ticks_us(), start)
            print(LABELS[label[0]], "in", us, "us")
        for i in range(N):
            past[at + i] = now[i]
        n += 1


if __name__ == "__main__":
    main()
