"""Classify shapes on a board, or on any other MicroPython. Needs mpconnxr/ and model.bin.

With frames.bin beside it (frames of 160 x 120 pixels, RGB565, low byte first) it classifies those.
Otherwise it takes frames from a camera, by the module `camera` of some firmware.
"""

import time

import mpconnxr
from mpconnxr.io.classes import top_k

LABELS = ("nothing", "disc", "square", "triangle")
WIDTH, HEIGHT = 160, 120


class Recording:
    """Frames from a file."""

    format = "rgb565"

    def __init__(self, path):
        self.file = open(path, "rb")

    def frames(self):
        frame = bytearray(2 * WIDTH * HEIGHT)
        while self.file.readinto(frame) == len(frame):
            yield frame


class Live:
    """Frames of a camera, two per second."""

    format = "rgb565be"  # what an OV2640 sends

    def __init__(self):
        from camera import Camera, FrameSize, PixelFormat

        self.camera = Camera(pixel_format=PixelFormat.RGB565, frame_size=FrameSize.QQVGA)

    def frames(self):
        while True:
            yield self.camera.capture()
            time.sleep_ms(500)


def source():
    try:
        return Recording("frames.bin")
    except OSError:
        return Live()


def classify(model, camera, frame):
    """Return the label of a frame."""
    model.inputs[0].load_image(frame, WIDTH, HEIGHT, camera.format)
    [(label, _)] = top_k(model.run()[0], 1, LABELS)
    return label


def main():
    model = mpconnxr.load("model.bin")
    print("arena", model.arena_nbytes, "bytes")
    camera = source()
    for frame in camera.frames():
        start = time.ticks_us()
        label = classify(model, camera, frame)
        print(label, "in", time.ticks_diff(time.ticks_us(), start), "us")


if __name__ == "__main__":
    main()
