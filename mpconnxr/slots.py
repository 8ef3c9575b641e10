"""A model that tools/flash.py deployed: two slots and a pointer to the active one.

"model.bin" stands for "model.a.bin" or "model.b.bin", as the first character of "model.active"
says. A slot is written whole before the pointer names it. Where the pointer is missing (a board
lost its power while its file system, FAT, replaced it) any slot is one that was whole.

Imported only where there is no file of the name itself: one that was copied by hand wins.
"""


def opened(path):
    """The active slot's file. Raises OSError if there is none."""
    stem, ext = _split(path)
    slots = "ba" if _active(stem) == "b" else "ab"
    try:
        return open(stem + "." + slots[0] + ext, "rb")
    except OSError:
        return open(stem + "." + slots[1] + ext, "rb")


def _active(stem):
    try:
        with open(stem + ".active") as f:
            return f.read(1)
    except OSError:
        return ""


def _split(path):
    """("dir/model", ".bin")"""
    at = path.rfind(".")
    return (path[:at], path[at:]) if at > path.rfind("/") else (path, "")
