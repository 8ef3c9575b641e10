"""Load models and print digests of each table of calls: of its code, and of its initial words.

models: one file name a line.
"""

import hashlib

import mpconnxr
from mpconnxr.build import calls
from mpconnxr.build.loader import Loader
from mpconnxr.build.reader import Reader

result = []


class Calls(calls.Calls):
    def _bind(self, code, words):
        result.append((code, bytes(memoryview(words)[8:])))
        super()._bind(code, words)


calls.Calls = Calls


def tables(data):
    """Return (code, initial words) of each table of a model file."""
    result.clear()
    Loader(Reader(data, False))
    return list(result)


def digest(data):
    return "".join(["{:02x}".format(b) for b in hashlib.sha256(data).digest()[:8]])


if __name__ == "__main__":
    with open("models") as file:
        for name in file.read().split():
            with open(name, "rb") as model:
                data = bytearray(model.read())
            try:
                print(name, *[digest(part) for table in tables(data) for part in table])
            except mpconnxr.MpconnxrError:
                print(name, "refused")
