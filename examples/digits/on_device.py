"""Classify digits on a board, or any other MicroPython. Needs mpconnxr/, model.bin and images.bin.

images.bin: for each digit 64 bytes of pixels (8 rows, from 0 black to 16 white), then its label.
"""

import time

import mpconnxr

PIXELS = 64
WHITE = 16


def index_of_largest(values):
    best = 0
    for i in range(1, len(values)):
        if values[i] > values[best]:
            best = i
    return best


def main():
    model = mpconnxr.load("model.bin")
    print("arena", model.arena_nbytes, "bytes")
    image, logits = model.inputs[0].data, model.outputs[0].data
    record = bytearray(PIXELS + 1)
    n = right = 0
    with open("images.bin", "rb") as f:
        while f.readinto(record) == len(record):
            for i in range(PIXELS):
                image[i] = record[i] / WHITE
            start = time.ticks_us()
            model.run()
            us = time.ticks_diff(time.ticks_us(), start)
            label, predicted = record[PIXELS], index_of_largest(logits)
            print("digit", label, "read as", predicted, "in", us, "us")
            n += 1
            right += label == predicted
    print(right, "of", n, "right")


main()
