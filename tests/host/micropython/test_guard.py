"""Targets with guard pages detect stray accesses, and report no others."""

import pytest

from tools.micropython import GUARD_TARGETS

every_target = pytest.mark.parametrize("target", GUARD_TARGETS, indirect=True)

PRELUDE = """
import guard
from array import array

@micropython.viper
def get(p: ptr8, i: int) -> int:
    return p[i]

@micropython.viper
def put(p: ptr8, i: int, value: int):
    p[i] = value

def status(case, ms=0):
    pid = guard.fork()
    if pid:
        return guard.wait(pid)
    end = 99
    try:
        guard.alarm(ms)
        case()
        end = 1 if guard.check() else 0
    finally:
        guard.exit(end)
"""
SIGSEGV, SIGPROF = 11, 27


def printed(target, script):
    completed = target.run(PRELUDE + script)
    assert (completed.stderr, completed.returncode) == ("", 0)
    return completed.stdout.split()


def ended(target, script):
    """Return the printed words of a process that may report its fault on stderr."""
    completed = target.run(PRELUDE + script)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.split()


@every_target
@pytest.mark.parametrize("make", ["bytearray(64)", "array('i', range(16))", "grown()"])
def test_accesses_right_of_a_buffer_fault(target, make):
    script = f"""
def grown():
    b = bytearray(1)
    b.extend(bytes(63))
    return b
b = {make}
print(status(lambda: get(b, 63)), status(lambda: get(b, 64)), status(lambda: put(b, 64, 0)))
print(status(lambda: put(b, -1, 0)), status(lambda: get(b, -8192)))
print(status(lambda: put(b, 30000, 1)))
"""
    fault = f"-{SIGSEGV}"
    if target.name == "unix-asan":  # its own handler of SIGSEGV exits with a status
        assert [text != "0" for text in ended(target, script)] == [False] + 5 * [True]
        return
    assert printed(target, script) == ["0", fault, fault, "1", fault, fault]


@every_target
def test_accesses_left_of_a_buffer_fault(target):
    script = """
guard.align(True)
b = bytearray(60)
print(status(lambda: get(b, 0)), status(lambda: get(b, -1)) != 0, status(lambda: put(b, 60, 0)))
print(guard.address(b) % 4096)
"""
    assert ended(target, script) == ["0", "True", "1", "0"]


@every_target
def test_slack_holds_canaries(target):
    script = """
b = bytearray(61)
print(status(lambda: put(b, 61, 0)), status(lambda: put(b, 63, 0)), guard.check())
"""
    assert printed(target, script) == ["1", "1", "0"]


@every_target
def test_exit_and_alarm_end_the_process(target):
    script = """
def endless():
    while True:
        pass
print(status(lambda: guard.exit(7)), status(endless, 50))
"""
    assert printed(target, script) == ["7", f"-{SIGPROF}"]


@every_target
def test_each_allocation_can_fail(target):
    """MicroPython survives some failures by itself, such as that of a call's frame."""
    script = """
def work():
    return [bytearray(10), bytes(20), [0] * 30, array("i", [1])]
work()
before = guard.count()
work()
n = guard.count() - before
failed = []
for k in range(1, n + 20):
    guard.fail_after(k)
    try:
        work()
    except MemoryError:
        failed.append(k)
    guard.fail_after(0)
print(n > 5, n - 4 <= len(failed), max(failed) <= n + 3)
"""
    assert printed(target, script) == ["True", "True", "True"]


@every_target
def test_too_large_allocations_are_refused(target):
    script = """
def refused(n):
    try:
        bytearray(n)
    except MemoryError:
        return True
print(refused(65 << 20), refused(1 << 30), refused(1000))
"""
    assert printed(target, script) == ["True", "True", "None"]
