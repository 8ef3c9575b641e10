"""How a program's module loads.

This is code for boards: bundle puts these functions into each program, under short names, and they
are let go of once they are done.
"""


def load(source, arena, about, entries, place, shown):
    """The model: a mpconnxr.replay.Program.

    source: a file, or what is in memory of it; about: see tools/program/bundle; entries: makes the
    entries of the calls, of views and a view of the words of blocks; place: address or itself;
    shown: by_how, or None where advance finds views by addresses among the words.
    """
    from mpconnxr.replay import Program, advance

    digest, nbytes, arena_nbytes, state_nbytes, first, held_nbytes, reads = about[:7]
    kinds, n_words, before, code, constants, n_calls, borders, n_inputs, golden = about[7:]
    memory, held = _checked(source, nbytes, digest, first, held_nbytes)
    given = arena
    if arena is None:
        arena = _allocated(arena_nbytes)
    else:
        from mpconnxr.arena import make

        arena = make(arena_nbytes, arena, memory)
    memories = arena, _allocated(state_nbytes), held
    views, words = _lasting(memories, kinds, n_words, constants)
    w = entries(views, words[8 + len(views) :]), advance
    if shown:
        shown = shown(views)
    w += place(code), place(words), shown
    advance(place(before), w[3], shown)
    chunks = [(at, _view(arena, first, n)) for at, n, first in reads]
    model = Program((code, words, w), n_calls, chunks)
    model._arena, model.arena_nbytes, model._state = arena, arena_nbytes, memories[1]
    model._origin = held  # which the collector does not find by views of addresses
    if given is not None:
        from mpconnxr.turns import give

        give(model, given)
    if reads:
        model._stream = source if memory is None else memory
    model.golden = golden
    found = [_border(memories, border) for border in borders]
    model.inputs, model.outputs = found[:n_inputs], found[n_inputs:]
    return model


def load_pair(source, arena, about, entries, second, place, shown):
    """The same of a program for two cores: a mpconnxr.cores.Program.

    source: a file, or what is in memory of it; about: see tools/program/bundle; entries: makes the
    entries of the calls, of views and a view of the words of blocks. second: views, number
    of words, what sets them, code and constants of the second core; place, shown: as for load.
    """
    from mpconnxr.cores import Program, idle, shared, turn
    from mpconnxr.replay import advance
    from mpconnxr.turns import give

    digest, nbytes, arena_nbytes, state_nbytes, first, held_nbytes, reads = about[:7]
    kinds, n_words, before, code, constants, n_calls, borders, n_inputs, golden = about[7:]
    memory, held = _checked(source, nbytes, digest, first, held_nbytes)
    given = arena
    if arena is None:
        arena = _allocated(arena_nbytes)
    else:
        from mpconnxr.arena import make

        arena = make(arena_nbytes, arena, memory)
    memories = arena, _allocated(state_nbytes), held
    views, words = _lasting(memories, kinds, n_words, constants)
    made = views, words[8 + len(views) :]
    kinds, n_words, other_before, other, constants = second
    v, w = _lasting(memories, kinds, n_words, constants)
    made += place(words), v, w[8 + len(v) :], place(w)
    made, others = entries(*made, place(shared), idle)
    made = made, advance, place(code), place(words), shown and shown(views)
    others = others, advance, place(other), place(w), shown and shown(v)
    advance(place(before), *made[3:])
    advance(place(other_before), *others[3:])
    both = (code, words, made), (other, w, others)
    chunks = [(at, _view(arena, first, n)) for at, n, first in reads]
    model = Program(both, n_calls, chunks)
    model._arena, model.arena_nbytes, model._state = arena, arena_nbytes, memories[1]
    model._origin = held  # which the collector does not find by views of addresses
    give(model, given, turn)
    if reads:
        model._stream = source if memory is None else memory
    model.golden = golden
    found = [_border(memories, border) for border in borders]
    model.inputs, model.outputs = found[:n_inputs], found[n_inputs:]
    return model


def _lasting(memories, kinds, n_words, constants):
    """Return the views of a core's program, and its words, for advance to set them."""
    memories += (bytearray(constants),)  # a copy, which is aligned
    views = [_whole(memories[m], code, size) for m, code, size in kinds]
    n = len(views)
    nbytes = 32 + 4 * (n + n_words)
    words = _view(bytearray(nbytes), 0, nbytes, 105, 4)
    words[1] = 1
    words[2] = n
    for i in range(n):
        words[8 + i] = _address(views[i])
    return views, words


def address(buffer):
    """What machine code takes the quickest."""
    from uctypes import addressof

    return addressof(buffer)


def itself(buffer):
    """What other code takes."""
    return buffer


def by_how(views):
    """What a form of loops/program that has HOW takes of views."""
    from mpconnxr.replay import HOW
    from mpconnxr.tensor import shown

    return shown(views, HOW)


def _border(memories, border):
    from mpconnxr.turn import LightTensor

    memory, code, size, offset, fields, dtype, grid, picture = border
    scale = zero_point = None
    if grid:
        from struct import unpack

        scale, zero_point = unpack("<fi", grid)
    of = fields + (fields[0] // size, scale, zero_point)
    of += (memories[memory], offset, fields[0], dtype) + fields[2:] + picture
    return LightTensor(_view(memories[memory], offset, fields[0], code, size), of)


def _checked(source, nbytes, digest, first, held_nbytes):
    """Return what is in memory of the file, None for a file, and the bytes that calls read.

    These are hashed where the calls find them: a card could give others when it is read again.
    Raises ModelError unless the file is the one that the program was made for.
    """
    from hashlib import sha256

    found = sha256()
    memory = None
    try:
        memory = source if isinstance(source, memoryview) else memoryview(source)
    except TypeError:
        held = _allocated(held_nbytes)
        piece = bytearray(1024)
        source.seek(0)
        total = _read(source, found, piece, first)
        total += _read(source, found, held, held_nbytes)
        total += _read(source, found, piece, nbytes + 1 - total)
    else:
        held = memory[first : first + held_nbytes]
        if not _is_aligned(held):
            copy = _allocated(held_nbytes)
            if len(held) == held_nbytes:
                copy[:] = held
            held = copy
        found.update(memory)
        total = len(memory)
    if total != nbytes or found.digest() != digest:
        from mpconnxr.errors import fail

        fail("not the one that its program was made for")
    return memory, held


def _read(source, found, buffer, nbytes):
    """Read and hash bytes of a file, from the start of the buffer again wherever it is full.

    Returns their number, less at the end of the file.
    """
    view = memoryview(buffer)
    total = at = 0
    n = nbytes
    while n and total < nbytes:
        if at == len(view):
            at = 0
        n = source.readinto(view[at : min(len(view), at + nbytes - total)])
        found.update(view[at : at + n])
        total += n
        at += n
    return total


def _is_aligned(held):
    """Whether typed views can begin there; a memoryview also has an offset of its own."""
    try:
        from uctypes import addressof
    except ImportError:
        return True
    return not len(held) or addressof(held) % 8 == (_words(held)[1] >> 8) % 8 == 0


def _allocated(nbytes):
    try:
        return bytearray(nbytes)
    except MemoryError:
        from mpconnxr.arena import make

        return make(nbytes)


def _id(thing):
    at = id(thing)  # of 0x40000000..0x7fffffff it comes out negative on 32-bit words
    return at & 0x7FFFFFFF if at < 0 else at


def _address(view):
    """Of a memoryview itself, as an int32."""
    at = _id(view) & 0xFFFFFFFF
    return at - 0x100000000 if at >> 31 else at


def _words(view):
    """The words of a memoryview itself: see mpconnxr.tensor."""
    import sys

    import uctypes

    word = uctypes.UINT64 if sys.maxsize > 0x7FFFFFFF else uctypes.UINT32
    return uctypes.struct(_id(view), {"w": (uctypes.ARRAY | 0, word | 3)}).w


def _whole(memory, code, size):
    """A view of all of a buffer, in which calls count from its start: if it is a part of another
    buffer, the collector does not follow the view. The model keeps the buffer.
    """
    if isinstance(memory, memoryview):
        import uctypes

        memory = uctypes.bytearray_at(uctypes.addressof(memory), len(memory))
    return _view(memory, 0, len(memory), code, size)


def _view(memory, offset, nbytes, code=66, size=1):
    """A view of bytes of a buffer as items of a struct code (as its number) and size.

    It keeps the buffer alive, also if that is a memoryview of a part of another one.
    """
    view = memoryview(memory)[offset : offset + nbytes]
    if code != 66:
        words = _words(view)
        words[1] = (words[1] >> 8) // size << 8 | words[1] & 128 | code
        words[2] = nbytes // size
    return view
