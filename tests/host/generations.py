"""Versions of the package and of its file format, as releases would bring them to a board.

Modules of different generations do not work together: a mixture raises an exception.
"""

import functools
import re
import struct

from mpconnxr.build import reader
from tools import flash, package
from tools.deploy import modules
from tools.format import layout

_CHECK = """

from mpconnxr import GENERATION as _generation

if _generation != {}:
    raise RuntimeError("modules of two versions")
"""


def package_of(folder, n, version=layout.VERSION):
    """Return the package's sources as generation n, which reads this version of the format."""
    for path in package.folder().rglob("*.py"):
        text = path.read_text()
        if path == package.folder() / "__init__.py":
            text = text.replace("\nimport sys\n", f"\nimport sys\n\nGENERATION = {n}\n", 1)
            assert "GENERATION" in text
        text = re.sub(r"^VERSION = \d+$", f"VERSION = {version}", text, flags=re.MULTILINE)
        place = folder / path.relative_to(package.folder().parent)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text + _CHECK.format(n))
    return folder / package.folder().name


def in_format(data, version):
    """Return a model file as that version of the format."""
    magic, _, *others = struct.unpack_from(layout.HEADER, data)
    header = struct.pack(layout.HEADER, magic, version, *others)
    tables_nbytes = others[3]
    tables = header + data[layout.HEADER_NBYTES : tables_nbytes]
    return layout.signed(tables) + data[tables_nbytes:]


def be(monkeypatch, package, version):
    """Replace the package and format that the tools bring."""
    monkeypatch.setattr(
        flash,
        "Package",
        lambda own=None: modules.Package(package, own) if own else _read_once(package),
    )
    for module in (layout, reader):
        monkeypatch.setattr(module, "VERSION", version)


@functools.cache
def _read_once(folder):
    """Return the Package of a folder of package_of, which no test changes afterwards."""
    return modules.Package(folder)
