"""Loops that build the table of a model's calls (loops/program).

put      Add a call to the code of a table, with the changes that turn the known words into its
         own; note the new words, and mark those that change. known: from word 8 on the words of
         the table; before them the number of bytes of code, and a mode. Mode 0: as above. Mode 2:
         head and p hold what is added, and nothing is noted. Mode 1: all marked words get those
         of head and p. head: entry; its first word and number of words; the words of its three
         views in ascending order, or a word that no view has; their values. p: the words of the
         block. Entry 252 adds changes without a call, or nothing if there are none.
add      Add factor * b to a, modulo 2**32. state: from word 3 on the number of elements, factor,
         the first element of a, and then, set here, 1 if any of these is not 0.
"""


def put(code: ptr8, known: ptr32, head: ptr32, p: ptr32, marks: ptr8):
    at, how, mask = known[0], known[1], 1
    mask = (mask << 31) - 1
    code[at] = head[0]
    at += 1
    reached, count, start, i, n = 8, 0, 0, 0, head[2] + 3
    while i < n:
        if i < 3:
            word, new = head[3 + i], head[6 + i]
        else:
            word, new = head[1] + i - 3, p[i - 3]
        i += 1
        value = new
        if how == 0:
            value = new - known[word]
        changes = marks[word] if how == 1 else value
        if changes:
            marks[word] = 1
            if how != 2:
                known[word] = new
            skip = word - reached
            if count == 15 or skip or count == 0:
                while skip > 15:
                    code[at] = 240
                    at += 1
                    skip -= 15
                start, count = at, 0
                code[at] = skip << 4
                at += 1
            count += 1
            code[start] = code[start] + 1
            sign = (value >> 31) & 1
            value = value & mask
            if sign:
                value = mask - value
            code[at] = how & 1 | sign << 1 | (value & 31) << 2
            value = value >> 5
            while value:
                code[at] = code[at] | 128
                at += 1
                code[at] = value & 127
                value = value >> 7
            at += 1
            reached = word + 1
    code[at] = 0
    at += 1
    if head[0] == 252 and count == 0:
        at = known[0]
    i = 0
    known[i] = at


def add(a: ptr32, b: ptr32, state: ptr32):
    mask, is_any, i, first = 1, 0, 0, state[5]
    mask = (mask << 31) - 1
    while i < state[3]:
        v = a[first + i] + state[4] * b[i]
        sign = (v >> 31) & 1
        v = v & mask
        a[first + i] = v - sign * mask - sign
        is_any = is_any | v | sign
        i += 1
    i = 6
    state[i] = is_any
