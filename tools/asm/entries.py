"""Assemble tools/mpy/entries.txt: the machine code that begins a loop in a .mpy file."""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path

from tools.elf import Elf

from ..made import ROOT
from .assemble import LINK
from .errors import AsmError
from .forms import FORMS, SOURCES

PATH = ROOT / "tools" / "mpy" / "entries.txt"
FORMS_MADE = ("rv32", "xtensawin")
_MOST_ARGUMENTS = 4
_HEAD = """\
# What begins a loop in a .mpy file, which `make loops` writes from tools/asm/entries: the form,
# arguments, where the instruction is that loads the table of functions, and the code in base64.
"""


def entries_text() -> str:
    """Assemble the entries; return the text of the file. Raises AsmError."""
    lines = []
    for form in FORMS_MADE:
        for n in range(1, _MOST_ARGUMENTS + 1):
            table, code = _assembled(form, n)
            lines.append(f"{form} {n} {table} {base64.b64encode(code).decode()}\n")
    return _HEAD + "".join(lines)


def _assembled(form: str, arguments: int) -> tuple[int, bytes]:
    core, flags = FORMS[form].core, FORMS[form].flags
    source = SOURCES / "entries" / f"{core.name}.S"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.elf")
        done = core.run(*flags, *LINK, f"-DARGUMENTS={arguments}", "-o", out, source)
        if done.returncode:
            raise AsmError(f"{source.name} for {form}:\n{done.stderr.strip()}")
        elf = Elf(out.read_bytes())
    section = elf.sections[elf.number_of(".text")]
    code = elf.data[section.offset : section.offset + section.nbytes]
    return elf.symbols["table"].value, code
