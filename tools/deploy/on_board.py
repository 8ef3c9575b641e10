"""Code that runs on the board, sent over the REPL by device.py: identify it, copy files safely.

Incomplete files never have a name that is imported or loaded: a file is written under its name
plus ".new", checked there by size and digest, and renamed.
"""

import binascii
import errno
import gc
import hashlib
import os
import sys

NEW = ".new"


def describe():
    """Print the properties of the board, as the text of a dict."""
    gc.collect()
    it = sys.implementation
    about = {
        "name": it.name,
        "version": tuple(it.version[:3]),
        "machine": getattr(it, "_machine", ""),
        "build": getattr(it, "_build", ""),
        "mpy": getattr(it, "_mpy", 0),
        "platform": sys.platform,
        "folder": os.getcwd(),
        "free_heap_bytes": gc.mem_free(),
    }
    about["largest_bytes"] = largest()
    about["assemblers"] = [name for name in ("thumb", "rv32") if has_assembler(name)]
    about["native"] = takes_native()
    print(about)


def largest():
    """Return the largest contiguous free block of the heap [bytes], within 1 KB."""
    low, high = 0, gc.mem_free()
    while high - low > 1024:
        n = (low + high) // 2
        try:
            bytearray(n)
            low = n
        except MemoryError:
            high = n
        gc.collect()
    return low


def has_assembler(name):
    """Return True if the compiler has this inline assembler."""
    try:
        exec(f"import micropython\n@micropython.asm_{name}\ndef f():\n data(4, 0)")
        return True
    except SyntaxError:
        return False


def takes_native():
    """Return False if memory for native code, of viper and of .mpy files, cannot be allocated."""
    try:
        exec("import micropython\n@micropython.viper\ndef f():\n pass\nf()")
    except SyntaxError:  # no emitter; .mpy files do not need one
        pass
    except (MemoryError, OSError, ValueError):
        return False
    return True


def space(path):
    """Print the free bytes and the allocation unit of a folder's file system."""
    s = os.statvfs(path)
    print((s[0] * s[3], s[0]))


def sizes(folders):
    """Print (path, size) of all files in these folders; skip folders that don't exist."""
    for folder in folders:
        try:
            entries = list(os.ilistdir(folder))
        except OSError:
            continue
        for e in entries:
            if not e[1] & 0x4000:
                path = folder.rstrip("/") + "/" + e[0]
                print((path, e[3] if len(e) > 3 else os.stat(path)[6]))


def tree(folders):
    """Print (path, size) of all files in these folders and below; skip missing folders."""
    while folders:
        sizes(folders)
        folders = [path for folder in folders for path in folders_in(folder)]


def folders_in(folder):
    """Return the paths of the folders in a folder; none if it does not exist."""
    try:
        return [folder.rstrip("/") + "/" + e[0] for e in os.ilistdir(folder) if is_folder(e)]
    except OSError:
        return []


def is_folder(entry):
    """Return True if an entry of ilistdir is a folder."""
    return entry[1] & 0x4000 and entry[0] not in (".", "..")


def kind(path):
    """Return 0 for a path that does not exist, 1 for a file, 2 for a folder."""
    try:
        return 2 if os.stat(path)[0] & 0x4000 else 1
    except OSError:
        return 0


def kinds(paths):
    """Print the kind of each path."""
    print([kind(path) for path in paths])


def is_elsewhere(folder):
    """Print True if mpconnxr can be imported from outside a folder."""
    paths = [os.getcwd() if path == "" else path for path in sys.path]
    folders = [path for path in paths if path.strip("/") != folder.strip("/") and has_code(path)]
    print(bool(folders) or is_frozen())


def has_code(folder):
    """Return True if a folder has mpconnxr."""
    path = folder.rstrip("/") + "/mpconnxr"
    return kind(path) == 2 or kind(path + ".py") == 1 or kind(path + ".mpy") == 1


def is_frozen():
    """Return True if the firmware contains mpconnxr, which can be imported without harm."""
    paths = sys.path[:]
    sys.path[:] = [".frozen"]
    try:
        __import__("mpconnxr")
        return True
    except ImportError:
        return False
    finally:
        sys.path[:] = paths


def is_same_folder(folder, other):
    """Print True if two paths lead to the same folder.

    FAT, cut while it renames, gives a folder two names.
    """
    probe = "/probe" + NEW
    open(folder + probe, "wb").close()
    is_same = kind(other + probe) == 1
    os.remove(folder + probe)
    print(is_same)


def clear(folder):
    """Remove a folder with all its contents, if it exists."""
    if kind(folder) != 2:
        return
    for e in list(os.ilistdir(folder)):
        if is_folder(e):
            clear(folder + "/" + e[0])
        elif not e[1] & 0x4000:
            os.remove(folder + "/" + e[0])
    os.rmdir(folder)


def prune(folder):
    """Remove a folder, and those in it, if they hold no files."""
    for path in folders_in(folder):
        prune(path)
    if kind(folder) == 2 and not [e for e in os.ilistdir(folder) if e[0] not in (".", "..")]:
        os.rmdir(folder)


def move(old, new):
    """Rename a file or folder; create the folders above the new path."""
    above(new)
    os.rename(old, new)


def digest(path):
    """Return (size, SHA-256 in hex) of a file; None if it does not exist."""
    buffer = memoryview(bytearray(512))
    sha, size = hashlib.sha256(), 0
    try:
        with open(path, "rb") as f:
            while True:
                n = f.readinto(buffer)
                if not n:
                    break
                sha.update(buffer[:n])
                size += n
    except OSError:
        return None
    return size, str(binascii.hexlify(sha.digest()), "ascii")


def digests(paths):
    """Print the digest of each file."""
    for path in paths:
        print(digest(path))


def begin(path):
    """Open the temporary file that will become `path`; create the folders above it."""
    global out
    above(path)
    out = open(path + NEW, "wb")  # noqa: SIM115 (finish or abandon closes it)


def above(path):
    """Create the folders above a path."""
    at = path.find("/", 1)
    while at > 0:
        try:
            os.mkdir(path[:at])
        except OSError as e:
            if e.errno != errno.EEXIST:
                raise
        at = path.find("/", at + 1)


def duplicate(source, path, expected):
    """Copy a file of the board to the temporary file that will become `path`, and check it."""
    begin(path)
    buffer = memoryview(bytearray(2048))
    with open(source, "rb") as f:
        n = f.readinto(buffer)
        while n:
            out.write(buffer[:n])
            n = f.readinto(buffer)
    finish(path, expected)


def more(text):
    """Append bytes, given in base64, to the temporary file."""
    out.write(binascii.a2b_base64(text))


def finish(path, expected):
    """Close the temporary file; keep it only if its size and digest are as expected."""
    out.close()
    actual = digest(path + NEW)
    if actual != expected:
        os.remove(path + NEW)
        raise OSError(f"{path}: {actual} was written instead of {expected}")


def abandon(path):
    """Remove a temporary file that will not be completed."""
    out.close()
    remove(path + NEW)


def put(path, stale):
    """Rename a temporary file to its final name, then remove the stale files."""
    try:
        os.rename(path + NEW, path)
    except OSError:  # FAT does not rename onto a file that exists
        os.remove(path)
        os.rename(path + NEW, path)
    for old in stale:
        remove(old)


def remove(path):
    """Remove a file if it exists."""
    if kind(path) == 1:
        os.remove(path)


def read(path):
    """Print the text of a small file, '' if it does not exist."""
    try:
        with open(path) as f:
            print(repr(f.read()))
    except OSError:
        print("''")
