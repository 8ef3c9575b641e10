"""Find a model that `mpconnxr flash` deployed: two slots and a pointer to the active one.

"model.bin" stands for "model.a.bin" or "model.b.bin", as the first character of "model.active"
says. A slot is written whole before the pointer names it. If the pointer is missing (a board
lost its power while its file system, FAT, replaced it) any slot is whole.

An update of the code and the model has one more pointer for a while, "model.active_a" or
"model.active_b". It counts for the code in that place alone: both change in the same instant.

A slot's file may also be 16 bytes that say where in the flash the model lies, outside of the file
system: see xip. Where there are no slots, the model may be in the firmware's ROMFS.

Imported only where no file has the name itself: a file that was copied by hand wins.
"""

import struct

_REFERENCE = "<8sII"  # magic, offset in the flash, bytes
_MAGIC = b"XIPFLASH"
_ROM = "/rom/"
# The place of this code: `mpconnxr flash` keeps two, and writes the one that is not in use.
_PLACE = "_b" if "mpconnxr_b/" in __file__ else "_a"


def opened(path):
    """Return the active slot's file, or a view of the memory that it names. Raises OSError."""
    stem, ext = _split(path)
    slots = "ba" if _active(stem) == "b" else "ab"
    for place in (stem + "." + slots[0] + ext, stem + "." + slots[1] + ext):
        try:
            return slot_file(place)
        except OSError:
            pass
    try:
        return open(_ROM + path, "rb")
    except OSError as e:
        raise OSError(e.errno, path)


def slot_file(path):
    """Return the model of a slot's file: the file itself, or bytes in the flash."""
    file = open(path, "rb")
    reference = file.read(16)
    if not reference.startswith(_MAGIC):
        file.seek(0)
        return file
    file.close()
    from . import xip

    return xip.view(*struct.unpack(_REFERENCE, reference)[1:])


def _active(stem):
    for place in (_PLACE, ""):
        try:
            with open(stem + ".active" + place) as f:
                return f.read(1)
        except OSError:
            pass
    return ""


def _split(path):
    """Return ("dir/model", ".bin") of a path."""
    at = path.rfind(".")
    return (path[:at], path[at:]) if at > path.rfind("/") else (path, "")
