"""Tell watch.c, from the board, which memory the loops of mpconnxr may read and write.

forms.get returns loops: watch_package() makes it return a Watched for each, which tells the plugin
the extents of the call's buffers, to the byte, and calls the loop. Any other access of loaded code
ends QEMU.

So does a view of a tensor that goes beyond its buffer, for its extent is made by hand
(tensor.view).
"""

from array import array

import machine
import micropython
import uctypes

ELEMENT_NBYTES = {1: 1, 98: 1, 66: 1, 104: 2, 72: 2, 113: 8, 81: 8, 100: 8}  # others have 4
MOST_WORDS = 256
LOCK, KEEP, ENTER, LEAVE, VIEW, NAME = 0, 1, 2, 3, 4, 5
WRITABLE = 0x80  # of a memoryview's type code

_words = array("I", [0] * MOST_WORDS)
_box = 0
_fun_table = 0
_known = set()  # contexts of modules that the plugin was told, and their tables of constants


@micropython.viper
def _speak(words: ptr32, n: int, box: ptr8, command: int):
    i = 0
    while i < n:
        v = words[i]
        heard = box[v & 4095]
        heard = box[4096 + ((v >> 12) & 4095)]
        heard = box[8192 + ((v >> 24) & 255)]
        i += 1
    heard = box[12288 + command]  # noqa: F841


def _tell(command, n=0):
    _speak(_words, n, _box, command)


def start(box, fun_table):
    """Start watching loaded code; see watch.c, also for the addresses."""
    global _box, _fun_table
    _box, _fun_table = box, fun_table
    _words[0] = _words[1] = 0
    _tell(KEEP, 2)
    _tell(ENTER)
    _tell(LEAVE)
    _tell(LOCK)


def watch_package():
    """Watch each loop that mpconnxr gets, and check that each view that it makes is in bounds."""
    import mpconnxr
    from mpconnxr import forms, tensor

    mpconnxr._GARBAGE = 1 << 18  # of this heap: collecting it for each 8 KB takes most of the time
    forms.get = _getter(forms.get)
    tensor.view = _checked(tensor.view)


def address_of(element):
    """Return the address of an object itself; id() makes a negative number of some addresses."""
    address = id(element)
    return address if address >= 0 else address & 0x7FFFFFFF


def word(address):
    """Return the word at an address."""
    return machine.mem32[address] & 0xFFFFFFFF


def extent(buffer):
    """Return (address, bytes, 1 if writable else 0) of a buffer; None for anything else."""
    if isinstance(buffer, bytes):
        return uctypes.addressof(buffer), len(buffer), 0
    if not isinstance(buffer, (bytearray, array, memoryview)):
        return None
    code = word(address_of(buffer) + 4) & 255
    nbytes = len(buffer) * ELEMENT_NBYTES.get(code & 127, 4)
    fixed = isinstance(buffer, memoryview) and not code & WRITABLE
    return uctypes.addressof(buffer), nbytes, 0 if fixed else 1


def keep(address, nbytes):
    """Allow reads of a memory range at any time."""
    _words[0] = address
    _words[1] = nbytes << 1
    _tell(KEEP, 2)


def introduce(loop, name):
    """Tell the plugin the name of a native function, and the memory that it may read."""
    kind = type(loop)
    if kind is _plain or kind.__name__ != "function":
        return
    address = address_of(loop)
    # words of a viper function: type, module's context, functions inside, code; of an assembler
    # function: type, number of arguments, code
    _name(word(address + (12 if kind is _viper else 8)) & ~1, name)
    if kind is _viper:
        keep(address, 16)
        context = word(address + 4)
        table = word(context + 12)  # of constants
        if (context, table) not in _known:  # of a module that was let go of, too
            _known.add((context, table))
            keep(context, 16)
            keep(table, 4 * (_index_of_table(table) + 1))


_viper, _plain, _Module = type(_speak), type(_tell), type(machine)


def _name(code, name):
    text = name.encode()
    text = text + bytes(4 - len(text) % 4)
    _words[0] = code
    for i in range(min(len(text) // 4, MOST_WORDS - 2)):
        _words[1 + i] = int.from_bytes(text[4 * i : 4 * i + 4], "little")
    _tell(NAME, 1 + min(len(text) // 4, MOST_WORDS - 2))


def _index_of_table(table):
    """Return the index, among a module's constants, of the table of functions for native code."""
    for i in range(256):
        if word(table + 4 * i) == _fun_table:
            return i
    raise ValueError("no table of functions")


def _call4(loop, x, w, out, p):
    # So small a frame lies on the stack; a larger one, and a loop's arguments in it, in the heap.
    return loop(x, w, out, p)


def _call2(loop, p, w):
    return loop(p, w)


def _call3(loop, a, b, state):
    return loop(a, b, state)


def _call5(loop, code, known, head, p, marks):
    global _five
    _five = loop, code, known, head, p, marks
    return _call_five()


def _call_five():  # as locals, six of them would have their frame in the heap
    return _five[0](_five[1], _five[2], _five[3], _five[4], _five[5])


_CALLS = (None, None, _call2, _call3, _call4, _call5)


def _add(at, buffer):
    """Add a buffer's extent to the words, if it is a buffer and not empty; return their number."""
    result = extent(buffer)
    if not result or not result[1]:
        return at
    _words[at] = result[0]
    _words[at + 1] = result[1] << 1 | result[2]
    return at + 2


class Watched:
    """A loop whose calls are watched."""

    def __init__(self, loop, name="a loop"):
        self.loop = loop
        introduce(loop, name)

    def __call__(self, *buffers):
        """Call the loop with its buffers, each access watched."""
        at = 0
        for buffer in buffers:
            if isinstance(buffer, list):  # what a loop that calls others needs
                for inner in buffer:
                    at = _add(at, inner)
            else:
                at = _add(at, buffer)
        call = _CALLS[len(buffers)]
        if isinstance(buffers[0], int):  # the pointers of a loop that calls this one: those it has
            return call(self.loop, *buffers)
        _speak(_words, at, _box, ENTER)
        try:
            return call(self.loop, *buffers)
        finally:
            _tell(LEAVE)


def _introduce_others(name):
    """Introduce the loops of a family that are written once.

    Loops of the family's other forms import them in rare cases, during a call.
    """
    parts = name.split(".")
    if len(parts) == 4:  # mpconnxr.loops.FORM.FAMILY
        module = __import__("mpconnxr.loops." + parts[3], None, None, ("*",))
        for inner in dir(module):
            introduce(getattr(module, inner), parts[3] + "." + inner)


class _Loops:
    """A family of loops, each of them watched."""

    def __init__(self, module):
        family = getattr(module, "__name__", "plain").split(".")[-1]
        _introduce_others(getattr(module, "__name__", ""))
        for name in dir(module):
            loop, about = getattr(module, name), family + "." + name
            if name.startswith("_"):
                introduce(loop, about)
            elif isinstance(loop, _Module):  # whose loops those of this form hand calls on to
                for inner in dir(loop):
                    introduce(getattr(loop, inner), name + "." + inner)
            else:
                if callable(loop) and not isinstance(loop, (type, Watched)):
                    loop = Watched(loop, about)
                if isinstance(loop, Watched) and type(loop.loop) not in (_plain, _viper):
                    setattr(module, name, loop)  # a viper loop beside it may call the assembler
                setattr(self, name, loop)


class _Runner:
    """loops/program for models with kernels. Its advance gets addresses, not buffers."""

    def __init__(self, module):
        self.advance = module.advance
        introduce(module.advance, "program.advance")
        if hasattr(module, "HOW"):
            self.HOW = module.HOW

    def run(self, what):
        """Run a program as loops/program does; advance may touch the table and views' words."""
        entries, advance, code, words, views = what[2]
        extents = array("I", [0] * MOST_WORDS)
        at = 0
        for buffer in (what[0], what[1]):
            address, nbytes, is_writable = extent(buffer)
            extents[at], extents[at + 1] = address, nbytes << 1 | is_writable
            at += 2
        known = set()
        for entry in entries:
            for view in _flat(entry[1:4]):
                if isinstance(view, memoryview) and address_of(view) not in known:
                    known.add(address_of(view))
                    extents[at], extents[at + 1] = address_of(view), 16 << 1 | 1
                    at += 2
        while True:
            _speak(extents, at, _box, ENTER)
            try:
                k = _call3(advance, code, words, views)
            finally:
                _tell(LEAVE)
            if k > 239:
                return k
            f, a, b, c, d = entries[k]
            f(a, b, c, d)


def _flat(things):
    """Return all elements of a list, also the elements of lists in it."""
    results = []
    for thing in things:
        results += _flat(thing) if isinstance(thing, list) else [thing]
    return results


def _getter(get):
    families = {}

    def watched(name, form=None):
        module = get(name, form)
        if id(module) not in families:
            is_runner = name == "program" and form is None  # else a test of these very loops
            result = _Runner(module) if is_runner else _Loops(module)
            families[id(module)] = module, result  # no other one gets its address
        return families[id(module)][1]

    return watched


def _checked(view):
    def checked(buffer, offset, code, n):
        nbytes = n * {"b": 1, "B": 1, "h": 2, "H": 2, "q": 8, "Q": 8, "d": 8}.get(code, 4)
        if offset < 0 or n < 0 or offset + nbytes > extent(buffer)[1]:
            _tell(VIEW)
        return view(buffer, offset, code, n)

    return checked
