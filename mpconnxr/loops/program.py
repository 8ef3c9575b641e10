"""Interpreter of a program: calls of loops as recorded from the kernels (docs/format.md).

advance  Prepare the next call and return the number of its entry; 255 at the program's end, or
         after words[1] calls; 256 + the number of a chunk of weights that must be read from the
         file first.
run      Make these calls until advance returns 255 or more; return that. what: code, words, w.

code   bytes, from words[0] on:
           n < 240  call entry n. Then the changes before the call: bytes whose upper half is the
                    number of words to skip, the lower half the number of changes that follow;
                    0 ends them. A change has seven bits per byte, the lowest first. Its first bit:
                    replace the word (0: add to it); then its sign; then its magnitude, less 1 if
                    negative
           252      changes as after a call, without a call
           253      read a chunk: its number (two bytes)
           254      repeat: counter (0 to 4), bytes to go back (two), number of times (two)
           255      end
words  int32: position in code, calls to make, number of views, five counters, the words that
       change: for each view 256 times its first element; then the parameters of loops
views  the words of each view, as uctypes shows them
w      entries, tuples of a loop and its four arguments; advance, and its arguments: machine code
       gets code and words as addresses, which a call passes in a fifth of the time

Machine code writes to the views themselves: its words hold their addresses instead of numbers.
"""

HOW = 1  # views are passed as their words; without HOW as addresses in words; 2: as other objects
_FIRST = 8


def run(what):
    entries, advance, code, words, views = what[2]
    while True:
        k = advance(code, words, views)
        if k > 239:
            return k
        f, a, b, c, d = entries[k]
        f(a, b, c, d)


def advance(code, words, views):
    at = words[0]
    k = 255
    while words[1]:
        k = code[at]
        at += 1
        if k == 254:
            counter = 3 + code[at]
            if words[counter] == 0:
                words[counter] = 1 + (code[at + 3] | code[at + 4] << 8)
            words[counter] -= 1
            at = at - 1 - (code[at + 1] | code[at + 2] << 8) if words[counter] else at + 5
            continue
        if k == 253:
            k = 256 + (code[at] | code[at + 1] << 8)
            at += 2
        elif k < 253:
            at = _change(code, at, words, views)
            if k == 252:
                k = 255
                continue
            words[1] -= 1
        else:
            at -= 1  # so that later calls end here, too
        break
    words[0] = at
    return k


def _change(code, at, words, views):
    """Make the changes at `at`; return their end."""
    i = 0
    while True:
        n = code[at]
        at += 1
        if n == 0:
            return at
        i += n >> 4
        n &= 15
        while n:
            v = code[at]
            replaces = v & 1
            value = (v & 127) >> 1
            shift = 6
            while v & 128:
                at += 1
                v = code[at]
                value |= (v & 127) << shift
                shift += 7
            at += 1
            value = ~(value >> 1) if value & 1 else value >> 1
            if i < words[2]:
                view = views[i]
                view[1] = value + (view[1] & 255 if replaces else view[1])
            else:
                if not replaces:
                    value += words[_FIRST + i]
                words[_FIRST + i] = (value + 0x80000000 & 0xFFFFFFFF) - 0x80000000
            i += 1
            n -= 1


def of_two(a, b, loop, _):
    """Call a loop of two arguments, for an entry."""
    loop(a, b)
