"""Load 0.bin, 1.bin, ...; print "taken" or the class of the error for each."""

import gc
import sys

import mpconnxr

for i in range(int(sys.argv[1])):
    with open("{}.bin".format(i), "rb") as file:
        data = file.read()
    try:
        mpconnxr.load(data)
        print("taken")
    except mpconnxr.MpconnxrError as e:
        print(type(e).__name__, e)
    gc.collect()
