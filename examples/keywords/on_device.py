"""Recognize words on a board, or on any other MicroPython. Needs mpconnxr/ and model.bin.

With words.wav beside it (8 kHz, 16 bits, mono) it recognizes the word in each second of that.
Otherwise it listens to a microphone on I2S, such as an INMP441.
"""

import struct
import time
from array import array

import mpconnxr
from mpconnxr.io.audio import LogMel
from mpconnxr.io.classes import top_k

LABELS = ("quiet", "other", "yes", "no", "stop")
RATE, SIZE, HOP, BANDS, FRAMES = 8000, 256, 160, 20, 49
SCK, WS, SD = 16, 17, 18  # pins


class Recording:
    """A WAV file.

    Attributes:
        every: hops from one answer to the next, here one second.
    """

    every = RATE // HOP

    def __init__(self, path):
        self.file = open(path, "rb")
        riff, _, wave = struct.unpack("<4sI4s", self.file.read(12))
        if riff != b"RIFF" or wave != b"WAVE":
            raise ValueError(path + ": no WAV file")
        while True:
            name, nbytes = struct.unpack("<4sI", self.file.read(8))
            if name == b"data":
                break
            chunk = self.file.read(nbytes)
            if name == b"fmt " and struct.unpack_from("<HHI", chunk) != (1, 1, RATE):
                raise ValueError(path + ": mono PCM at 8 kHz is needed")

    def readinto(self, hop):
        return self.file.readinto(hop)


class Microphone:
    """An I2S microphone, with an answer every half second, since words may begin between two."""

    every = RATE // HOP // 2

    def __init__(self):
        from machine import I2S, Pin

        pins = {"sck": Pin(SCK), "ws": Pin(WS), "sd": Pin(SD)}
        how = {"mode": I2S.RX, "bits": 16, "format": I2S.MONO, "rate": RATE, "ibuf": 2 * RATE}
        self.readinto = I2S(0, **pins, **how).readinto


class Listener:
    """Log-mel spectra of the last second."""

    def __init__(self, model):
        self.model = model
        self.mel = LogMel(RATE, SIZE, BANDS)
        self.sound = bytearray(2 * 2 * HOP)  # the last two hops; a frame fits into them
        self.hop = memoryview(self.sound)[2 * HOP :]
        self.rows = array("h", bytes(2 * FRAMES * BANDS))
        self.n = 0  # frames so far
        self.us = 0

    def hear(self):
        """Add the hop that was read: its frame starts with the previous hop."""
        start = time.ticks_us()
        self.mel.frame(self.sound, 0, self.rows, self.n % FRAMES * BANDS)
        self.sound[: 2 * HOP] = self.hop
        self.n += 1
        self.us += time.ticks_diff(time.ticks_us(), start)

    def word(self):
        """Return the label of the last second, from its oldest frame to its newest."""
        x, first = self.model.inputs[0].data, self.n % FRAMES * BANDS
        for i in range(FRAMES * BANDS):
            x[i] = self.rows[(first + i) % (FRAMES * BANDS)]
        [(label, _)] = top_k(self.model.run()[0], 1, LABELS)
        return label


def main():
    model = mpconnxr.load("model.bin")
    print("arena", model.arena_nbytes, "bytes")
    listener = Listener(model)
    try:
        source = Recording("words.wav")
    except OSError:
        source = Microphone()
    hops = 0
    while source.readinto(listener.hop) == len(listener.hop):
        if hops:
            listener.hear()
        else:
            listener.sound[: 2 * HOP] = listener.hop
        hops += 1
        if hops % source.every == 0:
            start = time.ticks_us()
            label = listener.word()
            us = time.ticks_diff(time.ticks_us(), start)
            print(label, "in", us, "us, spectra", listener.us // listener.n, "us a frame")


if __name__ == "__main__":
    main()
