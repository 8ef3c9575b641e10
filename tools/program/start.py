"""Load a program on the board: functions that bundle.py links into each program's module.

They get short names there, and are released once the program is loaded.
"""


def load(source, arena, about, entries, place, shown):
    """Load a program for one core; return the model, a mpconnxr.replay.Program.

    Args:
        source: the model's file, or its contents in memory.
        arena: the caller's arena, or None.
        about: tuple from bundle._about.
        entries: makes the entries of the calls, from views and a view of the words of all blocks.
        place: `address` or `itself`.
        shown: `by_how`, or None if `advance` finds views by addresses among the words.
    """
    from mpconnxr.replay import Program, advance

    digest, nbytes, arena_nbytes, state_nbytes, first, held_nbytes, reads = about[:7]
    kinds, n_words, before, code, constants, n_calls, interface, n_inputs, golden = about[7:]
    memory, held = _checked(source, nbytes, digest, first, held_nbytes)
    callers_arena = arena
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
    model._origin = held  # the collector does not follow views made from addresses
    if callers_arena is not None:
        from mpconnxr.turns import give

        give(model, callers_arena)
    if reads:
        model._stream = source if memory is None else memory
    model.golden = golden
    tensors = [_interface_tensor(memories, each) for each in interface]
    model.inputs, model.outputs = tensors[:n_inputs], tensors[n_inputs:]
    return model


def load_pair(source, arena, about, entries, second, place, shown):
    """Load a program for two cores; return the model, a mpconnxr.cores.Program.

    Args:
        source: the model's file, or its contents in memory.
        arena: the caller's arena, or None.
        about: tuple from bundle._about.
        entries: makes the entries of the calls of both cores.
        second: tuple from bundle._of_table, for the second core.
        place: `address` or `itself`.
        shown: `by_how`, or None if `advance` finds views by addresses among the words.
    """
    from mpconnxr.cores import Program, idle, shared, turn
    from mpconnxr.replay import advance
    from mpconnxr.turns import give

    digest, nbytes, arena_nbytes, state_nbytes, first, held_nbytes, reads = about[:7]
    kinds, n_words, before, code, constants, n_calls, interface, n_inputs, golden = about[7:]
    memory, held = _checked(source, nbytes, digest, first, held_nbytes)
    callers_arena = arena
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
    model._origin = held  # the collector does not follow views made from addresses
    give(model, callers_arena, turn)
    if reads:
        model._stream = source if memory is None else memory
    model.golden = golden
    tensors = [_interface_tensor(memories, each) for each in interface]
    model.inputs, model.outputs = tensors[:n_inputs], tensors[n_inputs:]
    return model


def _lasting(memories, kinds, n_words, constants):
    """Return the views of a core's program, and the words by which `advance` moves them.

    Args:
        memories: arena, state and file.
        kinds: (memory, struct code, size) of each view.
        n_words: number of words of all blocks.
        constants: contents of a further memory.
    """
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
    """Return a buffer's address, which machine code takes fastest."""
    from uctypes import addressof

    return addressof(buffer)


def itself(buffer):
    """Return a buffer as it is, for other code."""
    return buffer


def by_how(views):
    """Return views as a form of loops/program with HOW takes them."""
    from mpconnxr.replay import HOW
    from mpconnxr.tensor import shown

    return shown(views, HOW)


def _interface_tensor(memories, description):
    from mpconnxr.turn import LightTensor

    memory, code, size, offset, fields, dtype, grid, picture = description
    scale = zero_point = None
    if grid:
        from struct import unpack

        scale, zero_point = unpack("<fi", grid)
    of = fields + (fields[0] // size, scale, zero_point)
    of += (memories[memory], offset, fields[0], dtype) + fields[2:] + picture
    return LightTensor(_view(memories[memory], offset, fields[0], code, size), of)


def _checked(source, nbytes, digest, first, held_nbytes):
    """Check that a file is the one that the program was made for.

    The bytes that calls read are hashed where the calls find them: a card could return others when
    it is read again.

    Args:
        source: the model's file, or its contents in memory.
        nbytes: size that the file must have.
        digest: SHA-256 that it must have.
        first: offset of the bytes that calls read.
        held_nbytes: number of these bytes.

    Returns:
        The contents in memory (None for a file), and the bytes that calls read.

    Raises:
        ModelError: if it is another file.
    """
    from hashlib import sha256

    hasher = sha256()
    memory = None
    try:
        memory = source if isinstance(source, memoryview) else memoryview(source)
    except TypeError:
        held = _allocated(held_nbytes)
        piece = bytearray(1024)
        source.seek(0)
        total = _read(source, hasher, piece, first)
        total += _read(source, hasher, held, held_nbytes)
        total += _read(source, hasher, piece, nbytes + 1 - total)
    else:
        held = memory[first : first + held_nbytes]
        if not _is_aligned(held):
            copy = _allocated(held_nbytes)
            if len(held) == held_nbytes:
                copy[:] = held
            held = copy
        hasher.update(memory)
        total = len(memory)
    if total != nbytes or hasher.digest() != digest:
        from mpconnxr.errors import fail

        fail("not the one that its program was made for")
    return memory, held


def _read(source, hasher, buffer, nbytes):
    """Read and hash bytes of a file; when the buffer is full, go on at its start.

    Args:
        source: the file.
        hasher: gets the bytes.
        buffer: holds them.
        nbytes: number of bytes to read.

    Returns:
        The number of bytes, which is less at the end of the file.
    """
    view = memoryview(buffer)
    total = at = 0
    n = nbytes
    while n and total < nbytes:
        if at == len(view):
            at = 0
        n = source.readinto(view[at : min(len(view), at + nbytes - total)])
        hasher.update(view[at : at + n])
        total += n
        at += n
    return total


def _is_aligned(held):
    """Return True if typed views can begin at the start of a buffer or memoryview."""
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
    at = id(thing)  # negative for 0x40000000..0x7fffffff with words of 32 bits
    return at & 0x7FFFFFFF if at < 0 else at


def _address(view):
    """Return the address of a memoryview object as an int32."""
    at = _id(view) & 0xFFFFFFFF
    return at - 0x100000000 if at >> 31 else at


def _words(view):
    """Return the words of a memoryview object: see mpconnxr.tensor."""
    import sys

    import uctypes

    word = uctypes.UINT64 if sys.maxsize > 0x7FFFFFFF else uctypes.UINT32
    return uctypes.struct(_id(view), {"w": (uctypes.ARRAY | 0, word | 3)}).w


def _whole(memory, code, size):
    """Return a view of all of a buffer, in which calls count from its start.

    If the buffer is a part of another one, the collector does not follow the view. The model keeps
    the buffer alive.
    """
    if isinstance(memory, memoryview):
        import uctypes

        memory = uctypes.bytearray_at(uctypes.addressof(memory), len(memory))
    return _view(memory, 0, len(memory), code, size)


def _view(memory, offset, nbytes, code=66, size=1):
    """Return bytes of a buffer as a view with elements of a struct code.

    The view keeps the buffer alive, also if that is a memoryview of a part of another buffer.

    Args:
        memory: the buffer.
        offset: offset of the first byte.
        nbytes: number of bytes.
        code: struct code, as a number.
        size: bytes of an element.
    """
    view = memoryview(memory)[offset : offset + nbytes]
    if code != 66:
        words = _words(view)
        words[1] = (words[1] >> 8) // size << 8 | words[1] & 128 | code
        words[2] = nbytes // size
    return view
