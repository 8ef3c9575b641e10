"""How a program's module loads.

This is code for boards: bundle puts these functions into each program, under short names, and they
are let go of once they are done.
"""


def load(source, arena, module):
    """The model: a mpconnxr.programs.replay.Program. module: see tools/program/bundle."""
    from array import array
    from struct import unpack

    from mpconnxr.programs.replay import Border, Program

    about = module.MODEL
    digest, nbytes, arena_nbytes, state_nbytes, resident, reads, is_plain = about[:7]
    kinds, n_words, n_calls, code, borders, n_inputs = about[7:]
    file, memory = _opened(source)
    _check(file, memory, nbytes, digest)
    if arena is None:
        arena = _allocated(arena_nbytes)
    else:
        from mpconnxr.arena import make

        arena = make(arena_nbytes, arena)
    first, n = resident
    if memory is not None:
        held = memoryview(memory)[first : first + n]
    else:
        held = _allocated(n)
        file.seek(first)
        file.readinto(held)
    memories = {"a": arena, "s": _allocated(state_nbytes), "f": held}
    views = [_view(memories[kinds[i]], 0, kinds[i + 1]) for i in range(0, len(kinds), 2)]
    words = array("i", [0] * (5 + len(views) + n_words))
    words[2] = len(views)
    i = 5
    for view in views:
        words[i] = _address(view)
        i += 1
    w = [module.advance, module.entries(views, memoryview(words)[i:])]
    accessors = [_words(view) for view in views] if is_plain else None
    if not reads:
        if memory is None:
            file.close()
        file = None
    chunks = [(at, _view(arena, place, "B", n)) for at, n, place in reads]
    found = []
    for letter, offset, nbytes, dtype, name_of, shape, name, grid, item in borders:
        of = memories[letter], offset, nbytes, dtype, shape, name
        n = 1
        for d in shape:
            n *= d
        if grid:
            grid = unpack("<fi", grid)
        found.append(Border(of, name_of, _view(memories[letter], offset, item, n), grid))
    module.MODEL = module.entries = module.load = None
    model = Program()
    model.inputs, model.outputs = found[:n_inputs], found[n_inputs:]
    model._play, model._what, model._words = module.run, (code, words, accessors, w), words
    if reads:
        model._stream, model._chunks = file or memory, chunks
    model._steps = [(n_calls, model._step)]
    model._arena, model.arena_nbytes, model._state = arena, arena_nbytes, memories["s"]
    return model


def _opened(source):
    """(file, memory): one of them is None, unless a file is in memory."""
    file = None
    if isinstance(source, str):
        try:
            source = open(source, "rb")  # noqa: SIM115  it stays open while the model is in use
        except OSError:
            from mpconnxr.slots import opened

            source = opened(source)
    if hasattr(source, "readinto"):
        file = source
    try:
        memory = memoryview(source)
    except TypeError:
        memory = None
    return file, memory


def _check(file, memory, nbytes, digest):
    """ModelError unless the file is the one that the program was made for."""
    import hashlib

    found = hashlib.sha256()
    total = 0
    if memory is not None:
        found.update(memory)
        total = len(memory)
    else:
        file.seek(0)
        piece = bytearray(1024)
        while True:
            n = file.readinto(piece)
            if not n:
                break
            total += n
            found.update(memoryview(piece)[:n])
    if total != nbytes or found.digest() != digest:
        from mpconnxr.errors import fail

        fail("not the one that its program was made for")


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


def _view(memory, offset, code, n=None):
    """n items of a buffer from a byte on; all of them if n is left out."""
    import struct

    if isinstance(memory, memoryview):  # a part of a buffer: views have places in this part
        import uctypes

        memory = uctypes.bytearray_at(uctypes.addressof(memory), len(memory))
    size = struct.calcsize(code)
    if n is None:
        n = len(memory) // size
    view = memoryview(memory)[offset : offset + n * size]
    if code != "B":
        words = _words(view)
        words[1] = offset // size << 8 | words[1] & 128 | ord(code)
        words[2] = n
    return view
