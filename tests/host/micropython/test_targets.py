"""Each target has its declared properties, and all behave alike towards scripts and callers."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tools.micropython import (
    GUARD_TARGETS,
    UNIX_TARGETS,
    TargetError,
    TargetTimeout,
    get_target,
    target_names,
)

every_target = pytest.mark.parametrize("target", target_names(), indirect=True)
CPYTHON = "cpython"
WEB = "webassembly"
MICROPYTHONS = [name for name in target_names() if name != CPYTHON]
every_micropython = pytest.mark.parametrize("target", MICROPYTHONS, indirect=True)
PROCESSES = (*UNIX_TARGETS, *GUARD_TARGETS)
unix_targets = pytest.mark.parametrize("target", PROCESSES, indirect=True)
BOARDS = [name for name in MICROPYTHONS if name not in (*PROCESSES, WEB)]
board_targets = pytest.mark.parametrize("target", BOARDS, indirect=True)
# A Pico's firmware, which is taken as it is, keeps no statistics of memory; its emulator always
# counts its time. What npm has keeps none either.
PICO = "rp2040"
qemu_targets = pytest.mark.parametrize("target", [b for b in BOARDS if b != PICO], indirect=True)

VIPER = """
@micropython.viper
def double(p: ptr32, n: int) -> int:
    return p[n] + p[n]

from array import array
print(double(array("i", [0, 21]), 1))
"""


def printed(target, script, **options):
    completed = target.run(script, **options)
    assert (completed.stderr, completed.returncode) == ("", 0)
    return completed.stdout


@every_target
def test_targets_have_their_word_size(target):
    bits = printed(target, "import sys\nprint(len(bin(sys.maxsize)) - 2 + 1)")
    assert int(bits) == target.word_bits


@every_target
def test_targets_have_their_float_size(target):
    # 2**24 + 1 is the first integer that a single float cannot hold.
    exact = printed(target, "print(float(1 << 24) + 1.0 - float(1 << 24))")
    assert exact == ("1.0\n" if target.float_bits == 64 else "0.0\n")


@every_micropython
def test_targets_compile_viper_as_declared(target):
    completed = target.run(VIPER)
    if target.viper:
        assert (completed.stdout, completed.stderr) == ("42\n", "")
    else:
        assert completed.returncode != 0 and "SyntaxError" in completed.stderr


@every_micropython
def test_targets_have_the_declared_modules(target):
    script = """
import array, binascii, gc, hashlib, json, micropython, struct, sys, uctypes
from vfs import VfsRom
micropython.heap_lock(); micropython.heap_unlock()
print(binascii.hexlify(hashlib.sha256(b"abc").digest()).decode()[:8])
"""
    assert printed(target, script) == "ba7816bf\n"


@pytest.mark.parametrize(
    "target", [t for t in MICROPYTHONS if t not in (PICO, WEB)], indirect=True
)
def test_memory_statistics_are_available(target):
    script = """
import micropython
before = micropython.mem_total()
bytearray(10000)
print(micropython.mem_total() - before >= 10000, micropython.mem_peak() >= 10000)
print(micropython.mem_current() > 0)
"""
    assert printed(target, script) == "True True\nTrue\n"


@every_target
def test_scripts_find_their_files(target, tmp_path):
    package = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("from .inner.module import WORD")
    (package / "inner" / "__init__.py").touch()
    (package / "inner" / "module.py").write_text("WORD = 'imported'")
    (tmp_path / "numbers").write_bytes(bytes(range(256)))
    files = {
        "package": package,
        "model.bin": b"\x00\x04\x0d\x0a\xff",
        "data/numbers.bin": tmp_path / "numbers",
    }
    script = """
import package
print(package.WORD, open("model.bin", "rb").read())
print(sum(open("data/numbers.bin", "rb").read()))
"""
    expected = "imported b'\\x00\\x04\\r\\n\\xff'\n32640\n"
    assert printed(target, script, files=files) == expected


@board_targets
def test_files_are_read_in_place(target):
    script = "print(len(memoryview(open('model.bin', 'rb'))))"
    assert printed(target, script, files={"model.bin": bytes(3 << 20)}) == "3145728\n"


@board_targets
def test_files_too_large_for_a_target_are_refused(target):
    with pytest.raises(TargetError, match="more than the board's"):
        target.run("", files={"model.bin": bytes(17 << 20)})


@every_target
@pytest.mark.parametrize("name", ["script", "../outside", "/outside"])
def test_unsafe_file_names_are_refused(target, name):
    with pytest.raises(TargetError, match="a file named"):
        target.run("", files={name: b""})


@every_target
def test_scripts_get_their_arguments(target):
    args = ("-v", "two words", "quote\"'\\", "é")
    script = "import sys\nfor arg in sys.argv: print(arg)"
    assert printed(target, script, args=args).splitlines() == ["script", *args]


@every_target
def test_a_script_may_be_a_file(target, tmp_path):
    path = tmp_path / "hello.py"
    path.write_text("print('é', __name__)")
    assert printed(target, path) == "é __main__\n"


@every_micropython
def test_an_exception_is_reported(target):
    completed = target.run("print('before')\ndef f():\n    raise ValueError('bad')\nf()")
    assert completed.stdout == "before\n"
    assert completed.returncode == 1
    assert completed.stderr.splitlines() == [
        "Traceback (most recent call last):",
        '  File "script", line 4, in <module>',
        '  File "script", line 3, in f',
        "ValueError: bad",
    ]


@every_target
def test_a_syntax_error_is_reported(target):
    completed = target.run("print(1)\n1 +")
    assert completed.stdout == "" and completed.returncode == 1
    assert "SyntaxError" in completed.stderr


@every_micropython
@pytest.mark.parametrize(
    ("end", "status"), [("raise SystemExit", 0), ("sys.exit(3)", 3), ("sys.exit('why')", 1)]
)
def test_the_exit_status_is_returned(target, end, status):
    completed = target.run(f"import sys\nprint('last', end='')\n{end}")
    assert (completed.stdout, completed.stderr, completed.returncode) == ("last", "", status)


@every_target
def test_lines_arrive_one_by_one(target):
    times = {}
    n = 10_000 if target.name == PICO else 1_000_000
    script = f"""
print("first\\nsecond")
for i in range({n}): pass
print("third", end="")
"""

    def note(line):
        times[line] = time.monotonic()

    assert printed(target, script, on_line=note) == "first\nsecond\nthird"
    assert list(times) == ["first", "second", "third"]
    assert times["third"] - times["second"] > 0.005


@pytest.mark.slow
@every_target
def test_a_timeout_kills_the_process(target):
    target.build()
    before = children()
    start, timeout = time.monotonic(), 10 if target.name == PICO else 1
    with pytest.raises(TargetTimeout) as caught:
        target.run("print('alive')\nwhile True: pass", timeout=timeout)
    assert time.monotonic() - start < timeout + 4
    assert caught.value.stdout == "alive\n"
    assert children() == before


def children():
    """Return the numbers of this process's children, among them perhaps onnxruntime's."""
    path = f"/proc/self/task/{os.getpid()}/children"
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


@every_target
def test_several_scripts_run_at_once(target):
    script = "import sys\nprint(sys.argv[1], open('own').read())"

    def run(i):
        return printed(target, script, args=[str(i)], files={"own": str(i).encode()})

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(8))) == [f"{i} {i}\n" for i in range(8)]


@unix_targets
def test_the_heap_has_the_requested_size(target):
    script = "import gc\ngc.collect()\nprint(gc.mem_free())"
    assert 900_000 < int(printed(target, script, heap=1_000_000)) < 1_000_000
    assert int(printed(target, script)) > 7_000_000


@pytest.mark.parametrize("target", [*BOARDS, CPYTHON, WEB], indirect=True)
def test_a_heap_size_is_refused_where_it_is_fixed(target):
    with pytest.raises(TargetError, match="heap"):
        target.run("", heap=1_000_000)


@qemu_targets
def test_counted_instructions_repeat(target):
    # A free-running counter: what it says depends on the script alone.
    address, _ = target.counter
    ticks = f"machine.mem32[{address}]" if address else "__import__('time').ticks_cpu()"
    script = f"""
import machine
def ticks(): return {ticks}
start = ticks()
for i in range(10000): pass
print(ticks() - start)
"""
    counts = [int(printed(target, script, icount=True)) for _ in range(3)]
    # A tick is not a whole number of instructions: where the script begins in it may differ.
    assert max(counts) - min(counts) <= 1 and min(counts) > 100000


@pytest.mark.parametrize("target", [*PROCESSES, PICO, CPYTHON, WEB], indirect=True)
def test_counting_is_refused_where_it_is_impossible(target):
    with pytest.raises(TargetError, match="icount"):
        target.run("", icount=True)


def test_an_unknown_target_is_refused():
    with pytest.raises(TargetError, match="unix32"):
        get_target("no-such-target")


def test_the_command_line_runs_scripts(target, tmp_path):
    (tmp_path / "hello.py").write_text("import sys\nprint('hello', *sys.argv[1:])\nsys.exit(5)")
    command = [sys.executable, "-m", "tools.micropython", "run", target.name]
    completed = subprocess.run(
        [*command, tmp_path / "hello.py", "you"], capture_output=True, text=True
    )
    assert (completed.stdout, completed.returncode) == ("hello you\n", 5)


def test_the_command_line_reports_errors():
    command = [sys.executable, "-m", "tools.micropython", "path", "no-such-target"]
    completed = subprocess.run(command, capture_output=True, text=True)
    assert completed.returncode == 1
    assert completed.stderr.startswith("micropython: unknown target 'no-such-target'")
    assert completed.stderr.count("\n") == 1
    with pytest.raises(TargetError, match="^unknown target 'pico': rp2040 is the emulated Pico$"):
        get_target("pico")
