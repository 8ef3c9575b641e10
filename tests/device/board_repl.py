"""A board's REPL for MicroPython's unix port, whose own has no raw mode in 1.25.

Speaks the protocol of MicroPython's raw REPL, with raw paste, on stdin and stdout. A soft reset
forgets names and modules, as a board does; files are those of the current folder.

    micropython board_repl.py [cut=N] [full=N] [journal=FILE] [swap=N] [fat]

cut: the file operation, counted from 1, at which the power fails: a write is done by half, any
other operation is not done. full: the write, counted from 1, that finds the file system full, as
do all later ones until a file is removed. journal: a file that gets one line for each operation.
swap: the reset, counted from 1, after which another board answers. fat: no file is renamed onto
another.
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
    """Return the source that arrives in raw paste."""
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
    """Execute a command: send its output as it is printed, then its traceback."""
    trace = io.StringIO()
    try:
        exec(compile(source.decode(), "<stdin>", "exec"), names)
    except BaseException as e:
        if power.left == 0 and type(e) is SystemExit:
            raise
        sys.print_exception(e, trace)
    send(CTRL_D + trace.getvalue().encode() + CTRL_D + b">")


class Power:
    """A power supply that counts changes of files and ends the process at the `cut`th one."""

    def __init__(self, cut=0, full=0, journal="", swap=0):
        self.swap, self.resets = int(swap), -1  # the process starts with one that is none
        self.left, self._room, self._full = int(cut), int(full), False
        self._journal = open(journal, "w") if journal else None

    def used(self, *operation, half=None):
        self.left -= 1
        if self.left == 0:
            if half:
                half()
            raise SystemExit
        if self._journal:
            self._journal.write(repr(operation) + "\n")
            self._journal.flush()

    def room(self):
        """Raise OSError if the file system is full."""
        self._room -= 1
        self._full = self._full or self._room == 0
        if self._full:
            raise OSError(28)  # ENOSPC, which errno has not here

    def doing(self, name, operation):
        def done(*args):
            operation(*args, before=lambda: self.used(name, *args))
            if name in ("remove", "rmdir"):
                self._full = False

        return done

    def open(self, path, mode="r"):
        if "w" not in mode:
            return open(path, mode)
        self.used("open", path)
        return Written(self, path, open(path, mode))


class Written:
    """A file that is being written: each write is one operation of the Power."""

    def __init__(self, power, path, file):
        self._power, self._path, self._file = power, path, file

    def write(self, data):
        def half():
            self._file.write(data[: len(data) // 2])

        self._power.room()
        self._power.used("write", self._path, bytes(data), half=half)
        return self._file.write(data)

    def close(self):
        self._power.used("close", self._path)
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Files:
    """The module os, whose changes of files are operations of a Power."""

    def __init__(self, power):
        for name in dir(os):
            setattr(self, name, getattr(os, name))
        self.rename = power.doing("rename", rename_on_fat if "fat" in sys.argv else rename)
        self.remove = power.doing("remove", remove)
        self.rmdir = power.doing("rmdir", rmdir)
        self.mkdir = power.doing("mkdir", mkdir)


class Machine:
    """The module machine."""

    def __init__(self, power):
        this = b"other" if power.swap and power.resets >= power.swap else b"this"
        self.unique_id = lambda: this  # `from machine import` takes no method
        power.resets += 1


# What cannot be done is refused before it counts: it changes no file.


def rename(old, new, before):
    os.stat(old)
    before()
    os.rename(old, new)


def rename_on_fat(old, new, before):
    if is_there(new):
        raise OSError(errno.EEXIST)
    rename(old, new, before)


def remove(path, before):
    if os.stat(path)[0] & 0x4000:
        raise OSError(errno.EISDIR)
    before()
    os.remove(path)


def rmdir(path, before):
    if len(list(os.ilistdir(path))) > 2:  # . and ..
        raise OSError(errno.EEXIST)
    before()
    os.rmdir(path)


def mkdir(path, before):
    if is_there(path):
        raise OSError(errno.EEXIST)
    before()
    os.mkdir(path)


def is_there(path):
    try:
        os.stat(path)
        return True
    except OSError:
        return False


power = Power(**dict([a.split("=", 1) for a in sys.argv[1:] if "=" in a]))
files = Files(power)


def fresh():
    """Reset the state: only built-in modules, a board's path; return empty globals."""
    for name in list(sys.modules):
        del sys.modules[name]
    sys.path[:] = ["", ".frozen", os.getcwd() + "/lib"]
    sys.modules["os"] = files
    sys.modules["machine"] = Machine(power)
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
