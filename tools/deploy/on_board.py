"""Runs on the board, sent over the REPL by device.py: what it is, safe copying, verification.

Nothing half-written ever has a name that is imported or loaded: a file is made under its name and
".new", checked there by length and digest, and renamed.
"""

import binascii
import errno
import gc
import hashlib
import os
import sys

NEW = ".new"


def describe():
    """Prints what the board is, as a dict's text."""
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
    """Bytes of the largest piece that the heap has, within 1 KB."""
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
    """Whether the compiler knows this inline assembler."""
    try:
        exec(f"import micropython\n@micropython.asm_{name}\ndef f():\n data(4, 0)")
        return True
    except SyntaxError:
        return False


def takes_native():
    """False where the memory for native code, of viper and of .mpy files, cannot be had."""
    try:
        exec("import micropython\n@micropython.viper\ndef f():\n pass\nf()")
    except SyntaxError:  # no emitter, which .mpy files do not need
        pass
    except (MemoryError, OSError, ValueError):
        return False
    return True


def space(path):
    """Prints the free bytes of the file system that a folder is in, and its unit of allocation."""
    s = os.statvfs(path)
    print((s[0] * s[3], s[0]))


def sizes(folders):
    """Prints (path, size) of all files in the folders that exist."""
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
    """Prints (path, size) of all files in the folders and below, of those that exist."""
    while folders:
        sizes(folders)
        folders = [path for folder in folders for path in folders_in(folder)]


def folders_in(folder):
    """Paths of the folders in a folder, none if that does not exist."""
    try:
        return [folder.rstrip("/") + "/" + e[0] for e in os.ilistdir(folder) if is_folder(e)]
    except OSError:
        return []


def is_folder(entry):
    """Whether an entry of ilistdir is a folder."""
    return entry[1] & 0x4000 and entry[0] not in (".", "..")


def kind(path):
    """0 where there is nothing, 1 for a file, 2 for a folder."""
    try:
        return 2 if os.stat(path)[0] & 0x4000 else 1
    except OSError:
        return 0


def kinds(paths):
    """Prints the kind of each."""
    print([kind(path) for path in paths])


def is_elsewhere(folder):
    """Prints whether mpconnxr can be imported from another place than a folder."""
    usual = [os.getcwd() if path == "" else path for path in sys.path]
    found = [path for path in usual if path.strip("/") != folder.strip("/") and has_code(path)]
    print(bool(found) or is_frozen())


def has_code(folder):
    """Whether a folder has mpconnxr."""
    path = folder.rstrip("/") + "/mpconnxr"
    return kind(path) == 2 or kind(path + ".py") == 1 or kind(path + ".mpy") == 1


def is_frozen():
    """Whether the firmware has mpconnxr: such code can be imported without harm."""
    usual = sys.path[:]
    sys.path[:] = [".frozen"]
    try:
        __import__("mpconnxr")
        return True
    except ImportError:
        return False
    finally:
        sys.path[:] = usual


def is_one(folder, other):
    """Prints whether two folders are one: FAT, cut while it renames, gives a folder two names."""
    probe = "/probe" + NEW
    open(folder + probe, "wb").close()
    found = kind(other + probe) == 1
    os.remove(folder + probe)
    print(found)


def clear(folder):
    """Removes a folder with all that is in it, if it is there."""
    if kind(folder) != 2:
        return
    for e in list(os.ilistdir(folder)):
        if is_folder(e):
            clear(folder + "/" + e[0])
        elif not e[1] & 0x4000:
            os.remove(folder + "/" + e[0])
    os.rmdir(folder)


def prune(folder):
    """Removes a folder, and those in it, where they hold nothing."""
    for path in folders_in(folder):
        prune(path)
    if kind(folder) == 2 and not [e for e in os.ilistdir(folder) if e[0] not in (".", "..")]:
        os.rmdir(folder)


def move(old, new):
    """Renames a folder; makes those above its new place."""
    above(new)
    os.rename(old, new)


def digest(path):
    """(size, SHA-256 in hex) of a file, or None where there is none."""
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
    """Prints the digest of each file."""
    for path in paths:
        print(digest(path))


def begin(path):
    """Opens the temporary file from which `path` will be made, and makes the folders above it."""
    global out
    above(path)
    out = open(path + NEW, "wb")  # noqa: SIM115 (finish or abandon closes it)


def above(path):
    """Makes the folders above a path."""
    at = path.find("/", 1)
    while at > 0:
        try:
            os.mkdir(path[:at])
        except OSError as e:
            if e.errno != errno.EEXIST:
                raise
        at = path.find("/", at + 1)


def duplicate(source, path, wanted):
    """Makes the temporary file from which `path` will be made as a copy of a file here."""
    begin(path)
    buffer = memoryview(bytearray(2048))
    with open(source, "rb") as f:
        n = f.readinto(buffer)
        while n:
            out.write(buffer[:n])
            n = f.readinto(buffer)
    finish(path, wanted)


def more(text):
    """Appends bytes given in base64."""
    out.write(binascii.a2b_base64(text))


def finish(path, wanted):
    """Keeps the temporary file if its size and digest are the wanted ones."""
    out.close()
    found = digest(path + NEW)
    if found != wanted:
        os.remove(path + NEW)
        raise OSError(f"{path}: {found} was written instead of {wanted}")


def abandon(path):
    """Removes a temporary file that will not be finished."""
    out.close()
    remove(path + NEW)


def put(path, stale):
    """Puts a temporary file in place; what it replaces goes only then."""
    try:
        os.rename(path + NEW, path)
    except OSError:  # FAT does not rename onto a file that exists
        os.remove(path)
        os.rename(path + NEW, path)
    for old in stale:
        remove(old)


def remove(path):
    """Removes a file if it is there."""
    if kind(path) == 1:
        os.remove(path)


def read(path):
    """Prints the text of a small file, '' where there is none."""
    try:
        with open(path) as f:
            print(repr(f.read()))
    except OSError:
        print("''")
