"""Make tables of the calls in trees.json; print the digests of their code and initial words.

A tree is a list of repeats, [n, tree], and calls, [loop, words, steps, buffers]. `words` and
`buffers` are those of the first round, `steps` their growth in each repeat around the call. A
buffer is [its memory, its offset, the growth of that], or 0.
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
    """Emit the calls of a tree inside of repeats whose current rounds are `rounds`."""
    for element in tree:
        if len(element) == 2:
            for i in calls.repeat(element[0]):
                emit(element[1], calls, rounds + [i])
            continue
        loop, words, steps, buffers = element
        p = array("i", [grown(v, steps[i], rounds) for i, v in enumerate(words)])
        places = [b and (b[0], grown(b[1], b[2], rounds)) or None for b in buffers]
        calls.call(LOOPS[loop], places[0], places[1], places[2], p)


def made(trees, calls):
    """Build one table for trees of calls; return (n, step) of each tree."""
    results = []
    for tree in trees:
        emit(tree, calls, [])
        results.append(calls.step())
    calls.settle()
    return results


def memories():
    """Return Memories with the two memories that hold the buffers."""
    result = api.Memories(None, None, None)
    result.spans = [(0, bytearray(64), False, 0), (1, bytearray(64), False, 0)]
    return result


def digests(trees):
    """Return two digests of the trees' table: its code, and the initial words of its blocks."""
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
