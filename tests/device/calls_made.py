"""Makes tables of the calls in trees.json, and prints the digests of their code and first words.

A tree is a list of [n, tree], a repeat, and of [loop, words, steps, places], a call: of each
buffer and word in the first round, and by how much it grows in each repeat around it. A buffer
is its kind, the place and the steps of that, or 0.
"""

import hashlib
import json
from array import array

from mpconnxr.build import calls as api


def _loop(k):
    return lambda x, w, out, p: k


LOOPS = [_loop(k) for k in range(4)]


def grown(first, steps, rounds):
    return first + sum([n * step for n, step in zip(rounds, steps)])


def emit(tree, calls, rounds):
    """Emit the calls of a tree. rounds: of the repeats around it."""
    for item in tree:
        if len(item) == 2:
            for i in calls.repeat(item[0]):
                emit(item[1], calls, rounds + [i])
            continue
        loop, words, steps, buffers = item
        p = array("i", [grown(v, steps[i], rounds) for i, v in enumerate(words)])
        places = [b and (b[0], grown(b[1], b[2], rounds)) or None for b in buffers]
        calls.call(LOOPS[loop], places[0], places[1], places[2], p)


def made(trees, calls):
    """Return [(n, step)] of some trees, and make their table."""
    found = []
    for tree in trees:
        emit(tree, calls, [])
        found.append(calls.step())
    calls.settle()
    return found


def memories():
    """Return two of them, which the buffers lie in."""
    found = api.Memories(None, None, None)
    found.found = [(0, bytearray(64), False, 0), (1, bytearray(64), False, 0)]
    return found


def digests(trees):
    """Return those of a table's code, and of the words of its blocks as they are at first."""
    calls = api.Calls(memories())
    made(trees, calls)
    digest, first = hashlib.sha256(b""), array("i", list(calls.first)[calls.entries[0].word :])
    for code in calls._codes:
        digest.update(code)
    return [bytes(each.digest()) for each in (digest, hashlib.sha256(bytes(first)))]


if __name__ == "__main__":
    with open("trees.json") as file:
        for trees in json.loads(file.read()):
            print(digests(trees))
