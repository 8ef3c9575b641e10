"""A board's REPL for MicroPython's unix port, whose own has no raw mode in 1.25.

Speaks the protocol of MicroPython's raw REPL, with raw paste, on stdin and stdout. A soft reset
forgets names and modules, as a board does; files are those of the current folder.

    micropython board_repl.py [CUT [fat]]

CUT is the file operation, counted from 1, at which the power fails: what is written then is
written by half, and every other one is not done. With `fat` no file is renamed onto another.
"""

import errno
import gc
import io
import os
import sys

CTRL_A, CTRL_B, CTRL_C, CTRL_D, CTRL_E = b"\x01", b"\x02", b"\x03", b"\x04", b"\x05"
RAW_BANNER = b"raw REPL; CTRL-B to exit\r\n>"
FRIENDLY_BANNER = b"\r\nMicroPython\r\n>>> "
WINDOW = 128  # bytes that may be on their way in raw paste


def send(data):
    sys.stdout.buffer.write(data)


def receive():
    data = sys.stdin.buffer.read(1)
    if not data:
        raise SystemExit
    return data


def pasted():
    """Source that comes in raw paste."""
    send(b"R\x01" + bytes([WINDOW, 0]) + CTRL_A)
    source, n = bytearray(), 0
    while True:
        c = receive()
        if c == CTRL_D:
            send(CTRL_D)
            return source
        source += c
        n += 1
        if n % WINDOW == 0:
            send(CTRL_A)


def run(source, names):
    """Executes a command: its output goes out as it comes, then its traceback."""
    trace = io.StringIO()
    try:
        exec(compile(source.decode(), "<stdin>", "exec"), names)
    except BaseException as e:
        if power.left == 0 and type(e) is SystemExit:
            raise
        sys.print_exception(e, trace)
    send(CTRL_D + trace.getvalue().encode() + CTRL_D + b">")


class Power:
    """Counts what changes files, and ends the process at the given count."""

    def __init__(self, cut):
        self.left = cut

    def used(self, half=None):
        self.left -= 1
        if self.left == 0:
            if half:
                half()
            raise SystemExit

    def doing(self, operation):
        def done(*args):
            self.used()
            operation(*args)

        return done

    def open(self, path, mode="r"):
        if "w" not in mode:
            return open(path, mode)
        self.used()
        return Written(self, open(path, mode))


class Written:
    """A file that is being written."""

    def __init__(self, power, file):
        self._power, self._file = power, file

    def write(self, data):
        self._power.used(lambda: self._file.write(data[: len(data) // 2]))
        return self._file.write(data)

    def close(self):
        self._power.used()
        self._file.close()


class Files:
    """The module os on that power."""

    def __init__(self, power):
        for name in dir(os):
            setattr(self, name, getattr(os, name))
        self.rename = power.doing(rename_on_fat if "fat" in sys.argv else os.rename)
        self.remove = power.doing(os.remove)


def rename_on_fat(old, new):
    try:
        os.stat(new)
    except OSError:
        return os.rename(old, new)
    raise OSError(errno.EEXIST)


power = Power(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
files = Files(power)


def fresh():
    """The state after a reset: no module but the built-in ones, a board's path, no names."""
    for name in list(sys.modules):
        del sys.modules[name]
    sys.path[:] = ["", ".frozen", "/lib"]
    sys.modules["os"] = files
    gc.collect()
    return {"__name__": "__main__", "open": power.open}


def main():
    names, raw, line = fresh(), False, bytearray()
    send(FRIENDLY_BANNER)
    while True:
        c = receive()
        if c == CTRL_A:
            if raw and bytes(line) == CTRL_E + b"A":
                run(pasted(), names)
            else:
                raw = True
                send(RAW_BANNER)
        elif c == CTRL_B:
            raw = False
            send(FRIENDLY_BANNER)
        elif c == CTRL_D and raw and not line.strip():
            names = fresh()
            send(b"OK\r\nMPY: soft reboot\r\n" + RAW_BANNER)
        elif c == CTRL_D and raw:
            send(b"OK")
            run(line, names)
        elif c != CTRL_C:
            line += c
            continue
        line = bytearray()


main()
