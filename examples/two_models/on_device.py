"""Look at the camera when tapped: two models in one arena, on a board or any other MicroPython.

Needs mpconnxr/, gesture.bin and shapes.bin, and as gesture.py and shapes.py the programs
examples/gesture/on_device.py and examples/shapes/on_device.py, whose recordings or sensors it
uses.
"""

import time

import gesture
import shapes

from mpconnxr.sharing import load_all


def main():
    feeling, seeing = load_all(("gesture.bin", "shapes.bin"))
    needs = feeling.arena_nbytes, seeing.arena_nbytes
    print("arena", max(needs), "bytes")
    print("apart they need", sum(needs), "bytes")
    camera = shapes.source()
    frames = iter(camera.frames())
    for label, _ in gesture.answers(feeling, gesture.source()):
        if label == "tap":
            start = time.ticks_us()
            label = shapes.classify(seeing, camera, next(frames))
            print(label, "in", time.ticks_diff(time.ticks_us(), start), "us, after a tap")


if __name__ == "__main__":
    main()
