"""Watched boards report each stray access of a planted loop, and no other access.

The planted loops read or write one byte (a word) of x or out, at the byte p[0]. x and out are
views of one buffer with other tensors beside them, so that only the watch can detect that they
stray.
"""

import pytest

from tests.watch import STRAYED, watched
from tools import package
from tools.micropython import TargetTimeout

BOARDS = (
    "mps2-an385",
    "mps2-an385-v6m",
    "mps2-an386",
    "mps2-an505",
    "virt-rv32",
    "sim-de212",
    "sim-lx106",
)

N = 32  # bytes of x and of out

LOOPS = {
    "viper": """
@micropython.viper
def read(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    found = x[p[0]]

@micropython.viper
def write(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    out[p[0]] = 7

@micropython.viper
def read_word(x: ptr32, w: ptr8, out: ptr8, p: ptr32):
    found = x[p[0] // 4]

@micropython.viper
def write_word(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    out[p[0] // 4] = 7
""",
    "thumb": """
@micropython.asm_thumb
def read(r0, r1, r2, r3):
    ldr(r3, [r3, 0])
    add(r0, r0, r3)
    ldrb(r0, [r0, 0])

@micropython.asm_thumb
def write(r0, r1, r2, r3):
    ldr(r3, [r3, 0])
    add(r2, r2, r3)
    strb(r0, [r2, 0])

@micropython.asm_thumb
def read_word(r0, r1, r2, r3):
    ldr(r3, [r3, 0])
    add(r0, r0, r3)
    ldr(r0, [r0, 0])

@micropython.asm_thumb
def write_word(r0, r1, r2, r3):
    ldr(r3, [r3, 0])
    add(r2, r2, r3)
    str(r0, [r2, 0])
""",
    "rv32": """
@micropython.asm_rv32
def read(a0, a1, a2, a3):
    lw(a3, 0(a3))
    add(a0, a0, a3)
    lbu(a0, 0(a0))

@micropython.asm_rv32
def write(a0, a1, a2, a3):
    lw(a3, 0(a3))
    add(a2, a2, a3)
    sb(a0, 0(a2))

@micropython.asm_rv32
def read_word(a0, a1, a2, a3):
    lw(a3, 0(a3))
    add(a0, a0, a3)
    lw(a0, 0(a0))

@micropython.asm_rv32
def write_word(a0, a1, a2, a3):
    lw(a3, 0(a3))
    add(a2, a2, a3)
    sw(a0, 0(a2))
""",
}

# w is of no use to these loops.
CALLS = """
from array import array
import uctypes
arena = bytearray(5 * {n})
view = memoryview(arena)
x, w, out = view[{n} : 2 * {n}], view[:4], view[3 * {n} : 4 * {n}]
print(uctypes.addressof(x), uctypes.addressof(out))
for kind, at in {calls}:
    watch.Watched(eval(kind))(x, w, out, array("i", [at]))
print("the end")
"""

# (loop, the byte p[0]) of what strays: past the end, before the start, far away in the board's
# memory. FARTHER lies beyond that memory, on boards whose bus sees it.
STRAYS = [(kind, N + i) for kind in ("read", "write") for i in range(4)]
STRAYS += [(kind, at) for kind in ("read_word", "write_word") for at in (N, -4)]
STRAYS += [(kind, at) for kind in ("read", "write") for at in (-1, -4, 1 << 20)]
FARTHER = [("read", -(1 << 29)), ("write", -(1 << 29))]
# A word of which a half is in the buffer. Of viper's p[0] // 4 there is none.
STRADDLING = [("read_word", N - 2), ("write_word", N - 2)]
RIGHT = [(kind, at) for kind in ("read", "write") for at in (0, N - 1)]
RIGHT += [(kind, at) for kind in ("read_word", "write_word") for at in (0, N - 4)]


class Board:
    def __init__(self, target):
        self.target, self.printed = target, []

    @property
    def forms(self):
        assembler = {"mps2": "thumb", "virt": "rv32"}.get(self.target.name[:4])
        return ("viper", assembler) if assembler else ("viper",)

    def run(self, script, goes_on=False, files=None):
        """Return lines that name the detected accesses; self.printed gets the printed lines."""
        completed = watched(self.target, goes_on).run(script, files=files)
        self.printed = completed.stdout.splitlines()
        assert goes_on or bool(completed.stderr) == (completed.returncode == STRAYED)
        return completed.stderr.splitlines()

    def call(self, form, calls, goes_on=False):
        return self.run(LOOPS[form] + CALLS.format(n=N, calls=calls), goes_on)


@pytest.fixture
def board(request, ready_target):
    return Board(ready_target(request.param))


every_board = pytest.mark.parametrize("board", BOARDS, indirect=True)
one_of_a_kind = ("mps2-an385", "virt-rv32", "sim-de212")
some_boards = pytest.mark.parametrize("board", one_of_a_kind, indirect=True)


@every_board
def test_each_planted_stray_access_is_found(board):
    for form in board.forms:
        planted = STRAYS + (STRADDLING if form != "viper" else [])
        report = board.call(form, planted, goes_on=True)
        assert board.printed[-1] == "the end"
        x, out = map(int, board.printed[0].split())
        for line, (kind, at) in zip(report, planted, strict=True):
            name, _, word = kind.partition("_")
            address = (x if name == "read" else out) + at
            expected = f"stray {name} of {4 if word else 1} bytes at {address:#x} by "
            assert line.startswith(expected), (form, kind, at)


@every_board
def test_the_first_stray_access_ends_qemu(board):
    for form in board.forms:
        for call in STRAYS[0], STRAYS[4], *FARTHER:
            report = board.call(form, [RIGHT[0], call])
            assert len(board.printed) == 1, (form, call)
            assert report[-1].startswith((f"stray {call[0]} of 1 bytes", "fault")), (form, call)


@every_board
def test_accesses_to_the_buffers_are_allowed(board):
    for form in board.forms:
        assert not board.call(form, RIGHT)
        assert board.printed[-1] == "the end"


READ_ONLY = """
x = bytes(8)
watch.Watched(read)(x, x, bytearray(8), bytes(4))
print("read")
watch.Watched(write)(x, x, x, bytes(4))
"""


@every_board
def test_writes_to_read_only_buffers_are_found(board):
    assert board.run(LOOPS["viper"] + READ_ONLY)[-1].startswith("stray write of 1 bytes")
    assert board.printed == ["read"]


@every_board
def test_accesses_outside_of_a_watched_call_are_found(board):
    call = "x = bytes(8)\nread(x, x, x, x)\n"
    assert board.run(LOOPS["viper"] + call)[-1].endswith("outside of a call")


# An inner loop's buffers are its own, and the outer one's its own again when it ends.
NESTED = """
@micropython.viper
def outer(x: ptr8, w):
    inner = w[0]
    inner(w[1], w[1], w[1], w[2])
    found = x[int(w[3])]

from array import array
x, y = bytearray(8), bytearray(8)
inner, p = watch.Watched(read), array("i", [7])
watch.Watched(outer)(x, [inner, y, p, 7])
print("right")
p[0] = {inner}
watch.Watched(outer)(x, [inner, y, p, {outer}])
"""


@some_boards
@pytest.mark.parametrize("places", [{"inner": 8, "outer": 0}, {"inner": 0, "outer": 8}])
def test_loops_that_call_loops_are_watched(board, places):
    assert board.run(LOOPS["viper"] + NESTED.format(**places))[-1].startswith("stray read of 1 b")
    assert board.printed == ["right"]


PACKAGE = """
from array import array
from mpconnxr import forms
x, out = array("i", [1, -2, 3, 4]), array("i", [0] * 4)
relu = forms.get("relu").relu32
relu(x, x, out, array("i", [0, 4]))
print(list(out))
relu(x, x, out, array("i", [0, 5]))
"""

VIEWS = """
from mpconnxr import tensor
print(len(tensor.view(bytearray(8), 4, "i", 1)))
try:
    tensor.view(bytearray(8), 4, "i", 2)
finally:
    print("not seen")
"""


@some_boards
def test_the_loops_of_the_package_are_watched(board):
    result = board.run(PACKAGE, files={"mpconnxr": package.folder()})
    assert result[-1].startswith("stray read of 4 bytes") and "relu.relu32 + " in result[-1]
    assert board.printed == ["[1, 0, 3, 4]"]


@some_boards
def test_a_view_beyond_its_buffer_is_found(board):
    result = board.run(VIEWS, files={"mpconnxr": package.folder()})
    assert result == ["stray view beyond its buffer"] and board.printed == ["1"]


def test_a_silent_board_is_aborted(ready_target):
    board = watched(ready_target("mps2-an385"), quiet=0.5)
    with pytest.raises(TargetTimeout, match="no sign within 0.5 s") as error:
        board.run("print('before')\nwhile True:\n    pass\n", timeout=600)
    assert error.value.stdout == "before\n"
