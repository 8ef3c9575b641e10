"""A command in a child process: reports of exceeded limits, crashes and failures."""

import argparse
import faulthandler
import os
import signal
import sys
import time

import pytest

from tools import limits
from tools.limits import status

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux stops an allocation")


class Args:
    """Parsed arguments."""

    def __init__(self, memory=None, timeout=None):
        self.memory, self.timeout = memory, timeout


def ended(work, **limit):
    """Return how a child process ends that does some work under limits."""

    def main():
        faulthandler.disable()  # pytest's
        limits.apply(Args(**limit))
        limits.at("working", "Node n")
        return work()

    return limits.watch(main, "test")


def test_the_exit_status_of_a_child_is_returned():
    assert [limits.watch(lambda k=k: k, "test").code for k in (0, 1, 2)] == [0, 1, 2]
    assert limits.watch(lambda: sys.exit(3), "test").code == 3


def test_exceeding_the_time_is_one_line_with_the_node():
    began = time.monotonic()
    end = ended(lambda: time.sleep(60), timeout=0.2)
    assert time.monotonic() - began < 30
    message = (
        "this takes too long: stopped while working, at Node n (--timeout SECONDS allows more)"
    )
    assert (end.code, end.report) == (1, message)


def test_a_stage_may_have_less_time_unless_an_option_gives_more():
    def work():
        limits.at("folding", "Expand e", most=0.2)
        while time.process_time() < 0.8:
            pass
        return 0

    assert "while folding, at Expand e" in ended(work).report
    assert ended(work, timeout=50.0).code == 0


@on_linux
def test_a_large_allocation_fails_before_it_is_made(capfd):
    end = ended(lambda: len(bytearray(8 << 30)), memory=1 << 28)
    assert end.code == 1 and end.peak < 1 << 30
    message = "test: this needs more than 0.25 GB: stopped while working, at Node n"
    assert capfd.readouterr().err == f"{message} (--memory BYTES allows more)\n"


def test_memory_taken_bit_by_bit_is_limited():
    def work():
        status.set_most = lambda n: None  # as where the system has no limit
        limits.apply(Args(memory=200 << 20))
        limits.at("working", "Node n")
        held = []
        for _ in range(3000):
            held.append(bytearray(b"x" * (1 << 20)))
            time.sleep(0.001)
        return 0

    end = limits.watch(work, "test")
    assert end.code == 1 and "more than 0.2 GB: stopped while working, at Node n" in end.report


def test_memory_of_the_parent_does_not_count():
    held = bytearray(b"x" * (300 << 20))
    assert ended(lambda: len(bytearray(100 << 20)) and 0, memory=200 << 20).code == 0
    end = ended(lambda: len(bytearray(400 << 20)) and 0, memory=200 << 20)
    assert end.code == 1 and len(held) == 300 << 20


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
def test_a_crash_is_a_line(number):
    end = ended(lambda: os.kill(os.getpid(), number))
    what = f"a library crashed ({number.name}) while working, at Node n: the file is damaged"
    assert (end.code, end.report) == (1, what)


def test_an_abort_for_lack_of_memory_is_recognized():
    def work():
        os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
        os.abort()

    end = ended(work)
    assert end.code == 1 and end.report.startswith("this needs more than 2 GB")


def test_an_unexpected_exception_is_a_line(capfd):
    def work():
        raise KeyError("\x1b[31ma\nb")

    assert ended(work).code == 1
    printed = capfd.readouterr().err
    assert printed.startswith("test: unexpected KeyError in test_limits.py:")
    assert (
        printed.count("\n") == 1
        and "\x1b" not in printed
        and "while working, at Node n" in printed
    )


def test_output_of_libraries_is_kept_apart(capfd):
    def work():
        os.write(2, b"[W:library] a warning\n")
        print("said", file=sys.stderr)
        return 0

    ended(work)
    assert capfd.readouterr().err == "said\n"


def test_limits_grow_with_the_files_unless_an_option_gives_one():
    def limit():
        limits.grow(1 << 30)
        return limits.memory_limit() >> 30

    assert ended(limit).code == 8
    assert ended(limit, memory=3 << 30).code == 3


def test_nothing_is_limited_while_limits_are_lifted():
    def work():
        with limits.lifted():
            assert limits.memory_limit() == 0
            time.sleep(0.4)
        return limits.memory_limit() >> 30

    assert ended(work, timeout=0.2).code == 2


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("conv1/Relu:0", "conv1/Relu:0"),
        ("größe 温度 \u00a0x", "größe 温度 \u00a0x"),
        ("a\x1b[31m\n\r\0", "a\\x1b[31m\\n\\r\\x00"),
        ("\u202e\u2028\x9b\ufeff", "\\u202e\\u2028\\x9b\\ufeff"),
        ("\ud800", "\\ud800"),
    ],
)
def test_text_is_made_printable(text, shown):
    assert limits.printable(text) == shown


def test_an_output_is_never_an_input_under_another_name(tmp_path):
    model = tmp_path / "m.onnx"
    model.write_bytes(b"m")
    (tmp_path / "soft").symlink_to(model)
    (tmp_path / "hard").hardlink_to(model)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x.npy").write_bytes(b"x")
    for name in ("m.onnx", "./m.onnx", "folder/../m.onnx", "soft", "hard"):
        assert limits.overwritten([tmp_path / name], [model])
    assert limits.overwritten([tmp_path / "folder" / "x.npy"], [tmp_path / "folder"])
    assert limits.overwritten([tmp_path / "new", tmp_path / "." / "new"], [model])
    assert not limits.overwritten([tmp_path / "new", tmp_path / "other"], [model])
    assert not limits.overwritten(["/dev/null", "/dev/null"], [model, "/dev/null"])


def test_bytes_may_have_a_unit():
    results = [limits.nbytes(text) for text in ("6144", "6K", "6k", "1.5M", "2G")]
    assert results == [6144, 6144, 6144, 3 << 19, 2 << 30]
    for text in ("", "K", "6X", "six", "inf", "1e999"):
        with pytest.raises(argparse.ArgumentTypeError, match="not a number of bytes"):
            limits.nbytes(text)
