"""Call random viper functions; print for each its number, its result and the buffer afterwards.

functions.txt holds their sources, separated by form feeds, to be compiled here; with the argument
`mpy` they are those of the module `functions`. calls.json: arguments, null for the buffer.
"""

import hashlib
import json
import sys
from binascii import hexlify

import micropython  # noqa: F401 - for the functions

N_BYTES = 512


def compiled_here():
    with open("functions.txt") as f:
        sources = f.read().split("\f")
    for i in range(len(sources)):
        names = {"micropython": micropython}
        exec(sources[i], names)
        yield names[f"f{i}"]


def compiled_before():
    module = __import__("functions")
    for i in range(len(calls)):
        yield getattr(module, f"f{i}")


with open("calls.json") as f:
    calls = json.load(f)
for i, function in enumerate(compiled_before() if sys.argv[1:] == ["mpy"] else compiled_here()):
    memory = bytearray([(k * 73 + 5) & 255 for k in range(N_BYTES)])
    result = function(*[memory if x is None else x for x in calls[i]])
    print(i, result & 0xFFFFFFFF, str(hexlify(hashlib.sha256(memory).digest()), "ascii"))
